import Testing
import VestaConcurrency
import VestaInstallationsBackend
import VestaInstallationsBackendFakes
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendContracts
import VestaRemoteConfigEndpoints
import VestaRemoteConfigRemote
import VestaRemoteConfigService
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// The remote backend, its endpoints and an engine as one service, on a network in memory.
@Suite(.timeLimit(.minutes(5))) struct RemoteTests {
  @Test(arguments: RemoteConfigContracts.all)
  func `an engine behind its endpoints keeps the contract`(contract: Contract<RemoteConfigSubject>) async throws {
    let served = try await Served.onFakeNetwork()
    try await contract.verify(RemoteConfigSubject(served.remote, patience: .seconds(120)))
    try await served.engine.close()
  }

  @Test(arguments: RemoteConfigContracts.all)
  func `the contract is kept with small figures`(contract: Contract<RemoteConfigSubject>) async throws {
    var tuning = RemoteConfigEndpointsTuning()
    tuning.messageSpacing = .milliseconds(Int.random(in: 0...3))
    tuning.messageRepetition = .milliseconds(Int.random(in: 1...20))
    tuning.streamBacklog = Int.random(in: 50...500)
    let served = try await Served.onFakeNetwork(tuning: tuning)
    do {
      try await contract.verify(RemoteConfigSubject(served.remote, patience: .seconds(120)))
    } catch {
      Issue.record("\(tuning): \(error)")
    }
    try await served.engine.close()
  }

  @Test func `versions are compared, and defaults are read as files`() async throws {
    let served = try await Served.onFakeNetwork()
    try await served.remote.publish("a")
    try await served.remote.publish("b")
    for admin in [served.remote, served.engine] as [any RemoteConfigAdminBackend] {
      let difference = try await admin.difference(namespace: "firebase", from: 1, to: nil, context: .owner)
      #expect(difference.parameters.keys.sorted() == ["key"])
    }
    for format in DefaultsFormat.allCases {
      let remote = try await served.remote.downloadDefaults(namespace: "firebase", format: format, context: .owner)
      let local = try await served.engine.downloadDefaults(namespace: "firebase", format: format, context: .owner)
      #expect(remote == local)
    }
  }

  @Test func `templates of servers have a separate namespace`() async throws {
    let served = try await Served.onFakeNetwork()
    let template = ConfigTemplate(parameters: ["key": ConfigParameter(defaultValue: "server")])
    let request = PublishRequest(namespace: "firebase-server", template: template, precondition: .any)
    let stored = try await served.remote.publish(request, context: .owner)
    let read = try await served.remote.template(namespace: "firebase-server", version: nil, context: .owner)
    #expect(read.template.parameters == template.parameters && read.etag == stored.etag)
    #expect(try await served.remote.fetch().state == .noTemplate)
    // The values are not for clients.
    var fetch = FetchConfigRequest(namespace: "firebase-server", instance: ConfigInstance())
    fetch.instance.installationID = "id"
    let refused = await #expect(throws: RemoteConfigServiceError.self) {
      try await served.remote.fetch(fetch, context: CallContext())
    }
    #expect(refused?.code == .permissionDenied)
    #expect(try await served.engine.fetch(fetch, context: .owner).entries == ["key": "server"])
  }

  @Test func `a project that the server does not have is not found`() async throws {
    let served = try await Served.onFakeNetwork()
    let network = FakeNetwork()
    _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: served.handler)
    let other = RemoteConfigRemote(project: "other", on: try RESTService(network, at: "http://localhost"))
    let error = await #expect(throws: RemoteConfigServiceError.self) { try await other.fetch() }
    #expect(error?.code == .notFound)
  }

  @Test func `the token of an installation is not sent in clear text to other machines`() async throws {
    var options = RemoteConfigRemoteOptions()
    options.installation = FakeInstallationSource { _ in "secret" }
    let seen = Log<HTTPRequest>()
    let network = FakeNetwork()
    let handler = HTTPClosureHandler { request in
      seen.add(request)
      return .response(HTTPResponse(503))
    }
    for host in ["example.com", "localhost"] {
      _ = try await network.listen(at: .internet(host: host, port: 80), handler: handler)
    }
    let far = RemoteConfigRemote(project: "p", on: try RESTService(network, at: "http://example.com"), options: options)
    let error = await #expect(throws: RemoteConfigServiceError.self) { try await far.fetch() }
    #expect(error?.code == .failedPrecondition)
    let ends = EventLog<ServiceCode?>(patience: .seconds(60))
    let connection = far.listenForInvalidations(
      InvalidationsRequest(namespace: "firebase", lastKnownVersion: 0), context: CallContext(),
      onEnd: { ends.record($0?.code) }
    ) { _ in }
    try await ends.wait(for: "the end") { $0 == [.failedPrecondition] }
    connection.cancel()
    #expect(seen.entries.isEmpty)
    let near = RemoteConfigRemote(project: "p", on: try RESTService(network, at: "http://localhost"), options: options)
    await #expect(throws: RemoteConfigServiceError.self) { try await near.fetch() }
    #expect(seen.entries.map { $0.fields["x-goog-firebase-installations-auth"] } == ["secret"])
  }

  @Test func `a connection of a caller that is not valid has no head of success`() async throws {
    let served = try await Served.onFakeNetwork()
    let forged: HTTPFields = [.authorization: "Bearer a.b.c"]
    let target = "/v1/projects/demo/namespaces/firebase:streamFetchInvalidations"
    let request = HTTPRequest(.post, target, authority: "localhost", fields: forged, body: .text("{}"))
    guard case .task(let work) = served.handler.reply(to: request) else { throw NoTask() }
    let response = try await work()
    #expect(response.status.code == 401)
  }

  @Test func `a server that shuts down ends its connections in order`() async throws {
    let served = try await Served.onFakeNetwork()
    let ends = EventLog<ServiceCode?>(patience: .seconds(60))
    let versions = EventLog<Int64>(patience: .seconds(60))
    let connection = served.remote.listenForInvalidations(
      InvalidationsRequest(namespace: "firebase", lastKnownVersion: 0), context: CallContext(),
      onEnd: { ends.record($0?.code) }
    ) { versions.record($0.latestVersion) }
    try await served.engine.publish("a")
    try await versions.wait(for: "the message") { $0 == [1] }
    served.host.shutDown()
    try await ends.wait(for: "the end") { $0 == [nil] }
    connection.cancel()
  }

  @Test func `a connection that outlasts its limit ends with an error, once`() async throws {
    let clock = ManualClock()
    let network = FakeNetwork()
    let served = try await Served.onFakeNetwork(network)
    let service = try RESTService(network, at: "http://localhost", clock: clock.service)
    let remote = RemoteConfigRemote(project: "demo", on: service)
    let ends = EventLog<ServiceCode?>(patience: .seconds(60))
    let connection = remote.listenForInvalidations(
      InvalidationsRequest(namespace: "firebase", lastKnownVersion: 0), context: CallContext(),
      onEnd: { ends.record($0?.code) }
    ) { _ in }
    await clock.waitForTimers()
    clock.advance(by: .seconds(330))
    try await ends.wait(for: "the end") { $0 == [.deadlineExceeded] }
    connection.cancel()
    try await served.engine.close()
  }

  @Test func `a client that leaves its connection takes its listener away`() async throws {
    let network = FakeNetwork()
    let served = try await Served.onFakeNetwork(network)
    let versions = EventLog<Int64>(patience: .seconds(60))
    let connection = served.remote.listenForInvalidations(
      InvalidationsRequest(namespace: "firebase", lastKnownVersion: 0), context: CallContext(), onEnd: { _ in }
    ) { versions.record($0.latestVersion) }
    try await served.engine.publish("a")
    try await versions.wait(for: "the message") { $0 == [1] }
    connection.cancel()
    while network.exchangeCount > 0 {
      try await served.engine.publish("b")
      // Publishing does not suspend here: without this no other task runs where there is one thread.
      await Task.yield()
    }
    #expect(versions.events.last.map { $0 >= 1 } == true)
  }

  private struct NoTask: Error {}
}
