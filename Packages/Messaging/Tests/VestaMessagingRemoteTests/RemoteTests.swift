import Testing
import VestaBytes
import VestaConcurrency
import VestaInstallationsBackend
import VestaMessagingBackend
import VestaMessagingBackendContracts
import VestaMessagingEndpoints
import VestaMessagingService
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaMessagingRemote

/// The remote backend, its endpoints and an engine as one service, on a network in memory.
@Suite(.timeLimit(.minutes(5))) struct RemoteTests {
  @Test(arguments: MessagingContracts.all)
  func `an engine behind its endpoints keeps the contract`(contract: Contract<MessagingSubject>) async throws {
    let served = try Served.onFakeNetwork()
    try await contract.verify(served.subject)
    try await served.engine.close()
  }

  @Test func `a registration keeps what its client has said of itself`() async throws {
    let served = try Served.onFakeNetwork()
    let request = RegisterRequest(installationID: "ada", senderID: "9", platform: "linux", appID: "ignored")
    let token = try await served.remote.register(request, context: CallContext())
    let info = try await served.engine.registration(token: token, context: .owner)
    // The app is that of the installation.
    #expect(info.installationID == "ada" && info.platform == "linux" && info.appID == "app")
    let usual = try await served.register()
    #expect(usual != token)
    #expect(try await served.engine.registration(token: token, context: .owner) == info)
    try await served.engine.close()
  }

  @Test func `an installation whose token was refused is asked for another one, once`() async throws {
    let served = try Served.onFakeNetwork(installations: KnownInstallations(from: 1))
    #expect(try await served.register().hasPrefix("ada:"))
    let stubborn = try Served.onFakeNetwork(installations: KnownInstallations(from: 2))
    let error = await #expect(throws: MessagingServiceError.self) { try await stubborn.register() }
    #expect(error?.code == .unauthenticated)
  }

  @Test func `Firebase registers addresses of devices, and says that it delivers to no program`() async throws {
    let seen = Log<HTTPRequest>()
    let network = FakeNetwork()
    let handler = HTTPClosureHandler { request in
      seen.add(request)
      return .response(.json(Array(#"{"name":"projects/demo/registrations/ada"}"#.utf8)))
    }
    try network.serve(handler, at: .internet(host: "localhost", port: 80))
    let remote = MessagingRemote(
      project: "demo", on: try RESTService(network, at: "http://localhost"), options: .firebase
    ) { id in FakeSource(id) }
    var request = RegisterRequest(installationID: "ada", platform: "linux", appID: "app")
    let refused = await #expect(throws: MessagingServiceError.self) {
      try await remote.register(request, context: CallContext())
    }
    #expect(refused?.code == .unimplemented && seen.entries.isEmpty)
    let ends = EventLog<ServiceCode?>(patience: .seconds(60))
    let connection = remote.connect(token: "ada", context: CallContext(), onEnd: { ends.record($0?.code) }) { _ in }
    try await ends.wait(for: "the end") { $0 == [.unimplemented] }
    connection.cancel()

    request.platform = "ios"
    request.pushAddress = PushAddress.apns(APNsAddress(token: "00ff", isSandbox: true, bundleID: "b"))
    let token = try await remote.register(request, context: CallContext())
    try await remote.subscribe(token: token, toTopic: "news", context: CallContext())
    try await remote.unregister(token: token, context: CallContext())
    #expect(token == "ada")
    #expect(
      seen.entries.map { "\($0.method) \($0.target)" } == [
        "POST /v1/projects/demo/registrations",
        "POST /v1/projects/demo/registrations/ada/topicSubscriptions?topic_name=news",
        "DELETE /v1/projects/demo/registrations/ada",
      ])
    #expect(seen.entries.allSatisfy { $0.fields["x-goog-firebase-installations-auth"] == "fis-ada" })
    let body = try JSONObject(json: try await seen.entries[0].body.collect(upTo: 1_000))
    #expect(body == ["ios": ["apns_token": "00ff", "apns_environment": "SANDBOX", "bundle_id": "b"]])
    #expect(try await seen.entries[2].body.collect(upTo: 1_000) == [])
  }

  @Test func `tokens are not sent in clear text to other machines`() async throws {
    let network = FakeNetwork()
    let handler = HTTPClosureHandler { _ in .response(HTTPResponse(500)) }
    try network.serve(handler, at: .internet(host: "example.com", port: 80))
    let service = try RESTService(network, at: "http://example.com")
    let remote = MessagingRemote(project: "p", on: service) { FakeSource($0) }
    let calls: [@Sendable () async throws -> Void] = [
      {
        let request = RegisterRequest(installationID: "ada", platform: "linux", appID: "a")
        _ = try await remote.register(request, context: CallContext())
      },
      { try await remote.unregister(token: "ada:x", context: CallContext()) },
      { try await remote.subscribe(token: "ada:x", toTopic: "t", context: CallContext()) },
      { try await remote.acknowledge(token: "ada:x", messageIDs: ["1"], context: CallContext()) },
    ]
    for call in calls {
      let error = await #expect(throws: MessagingServiceError.self) { try await call() }
      #expect(error?.code == .failedPrecondition)
    }
  }

  @Test func `a silent connection counts as lost, and a server gives signs of life`() async throws {
    let (clock, network) = (ManualClock(), FakeNetwork())
    var options = MessagingRemoteOptions()
    options.tuning.silence = .seconds(10)
    var tuning = MessagingEndpointsTuning()
    tuning.keepAlive = .seconds(4)
    let served = try Served.onFakeNetwork(network, options: options, tuning: tuning, clock: clock.service)
    let token = try await served.register()
    let ends = EventLog<ServiceCode?>(patience: .seconds(60)), texts = EventLog<String>(patience: .seconds(60))
    let connection = served.remote.connect(
      token: token, context: CallContext(), onEnd: { ends.record($0?.code) }
    ) { texts.record($0.message.data["text"] ?? "") }
    try await served.send("a", to: .token(token))
    try await texts.wait(for: "a message") { $0 == ["a"] }
    for _ in 0..<20 {
      clock.advance(by: .seconds(4))
      // The reader has the sign of life when its timer has begun again.
      while ends.events.isEmpty, !clock.deadlines.contains(clock.now + 10_000_000) { await Task.yield() }
    }
    #expect(ends.events.isEmpty)
    try await served.send("b", to: .token(token))
    try await texts.wait(for: "a message after much silence") { $0 == ["a", "b"] }
    connection.cancel()
    try await served.engine.close()
  }

  @Test func `a receiver that never returns ends its connection, and costs a bounded number of messages`() async throws
  {
    let (network, gate) = (FakeNetwork(), Gate())
    var options = MessagingRemoteOptions()
    options.tuning.maximumUnread = 3
    let served = try Served.onFakeNetwork(network, options: options)
    let token = try await served.register()
    let ends = EventLog<ServiceCode?>(patience: .seconds(60)), texts = EventLog<String>(patience: .seconds(60))
    let connection = served.remote.connect(
      token: token, context: CallContext(), onEnd: { ends.record($0?.code) }
    ) {
      texts.record($0.message.data["text"] ?? "")
      _ = gate.passes()
    }
    try await served.send("0", to: .token(token))
    try await texts.wait(for: "the call that blocks") { $0 == ["0"] }
    for number in 1...10 { try await served.send("\(number)", to: .token(token)) }
    while network.exchangeCount > 0 { await Task.yield() }
    gate.open()
    try await ends.wait(for: "the end") { $0 == [.resourceExhausted] }
    // Messages that were read are received; the rest arrives at the next connection.
    #expect(texts.events.count < 11)
    connection.cancel()
    try await served.engine.close()
  }

  @Test func `as many messages may wait for their receiver as the tuning says`() async throws {
    let (clock, network, gate) = (ManualClock(), FakeNetwork(), Gate())
    var options = MessagingRemoteOptions()
    (options.tuning.maximumUnread, options.tuning.silence) = (3, .seconds(10))
    let served = try Served.onFakeNetwork(network, options: options, clock: clock.service)
    let token = try await served.register()
    let ends = EventLog<ServiceCode?>(patience: .seconds(60)), texts = EventLog<String>(patience: .seconds(60))
    let connection = served.remote.connect(
      token: token, context: CallContext(), onEnd: { ends.record($0?.code) }
    ) {
      texts.record($0.message.data["text"] ?? "")
      _ = gate.passes()
    }
    for number in 0...3 {
      clock.advance(by: .seconds(1))
      try await served.send("\(number)", to: .token(token))
      if number == 0 { try await texts.wait(for: "the call that blocks") { $0 == ["0"] } }
      // The message has been read and counted when the timer of the silence has begun again.
      while network.exchangeCount > 0, !clock.deadlines.contains(clock.now + 10_000_000) { await Task.yield() }
    }
    #expect(network.exchangeCount == 1)
    gate.open()
    try await texts.wait(for: "all messages") { $0 == ["0", "1", "2", "3"] }
    #expect(ends.events.isEmpty)
    connection.cancel()
    try await served.engine.close()
  }

  @Test func `a connection that has ended keeps nothing of its receiver`() async throws {
    let remote = MessagingRemote(
      project: "p", on: try RESTService(FakeNetwork(), at: "http://localhost"), options: .firebase
    ) { FakeSource($0) }
    let ends = EventLog<String>(patience: .seconds(60))
    let connection = {
      let held = Held { ends.record("released") }
      return remote.connect(token: "ada", context: CallContext(), onEnd: { _ in ends.record("end") }) { _ in
        withExtendedLifetime(held) {}
      }
    }()
    try await ends.wait(for: "the end, and the release") { $0 == ["end", "released"] }
    connection.cancel()
  }

  @Test func `events are read as they are written, and unknown ones are passed over`() throws {
    #expect(try DeliveryEvent(ServerSentEvent("{}", name: "end")) == .end(nil))
    #expect(try DeliveryEvent(ServerSentEvent("", name: "end")) == .end(nil))
    #expect(try DeliveryEvent(ServerSentEvent("{}", name: "news")) == nil)
    #expect(throws: MessagingServiceError.self) { try DeliveryEvent(ServerSentEvent("{}", name: "delivery")) }
    let text = #"{"error":{"code":404,"message":"gone","status":"NOT_FOUND"}}"#
    guard case .end(let error?) = try DeliveryEvent(ServerSentEvent(text, name: "end")) else {
      return #expect(Bool(false), "no error")
    }
    #expect(error.code == .notFound && error.reason == .unregistered)
    guard case .end(let other?) = try DeliveryEvent(ServerSentEvent(#"{"error":{}}"#, name: "end")) else {
      return #expect(Bool(false), "no error")
    }
    // An error that names nothing is a failure of the server.
    #expect(other.code == .internal)
  }
}

/// Notes its release.
private final class Held: Sendable {
  private let note: @Sendable () -> Void
  init(_ note: @escaping @Sendable () -> Void) { self.note = note }
  deinit { note() }
}

/// An installation whose token never changes.
private struct FakeSource: InstallationSource {
  let id: String
  init(_ id: String) { self.id = id }
  func credential() async throws(InstallationsServiceError) -> InstallationCredential {
    InstallationCredential(id: id, token: "fis-\(id)")
  }
  func tokenWasRefused(_ token: String) {}
}
