import Testing
import VestaConcurrency
import VestaMessagingBackend
import VestaMessagingRemote
import VestaMessagingService
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// The owner's calls over the wire; the contract's are in `RemoteTests` and `LossTests`.
@Suite(.timeLimit(.minutes(5))) struct AdminTests {
  @Test func `what the owner reads over the wire is what the engine says`() async throws {
    let served = try Served.onFakeNetwork()
    let token = try await served.register()
    try await served.remote.subscribe(token: token, toTopic: "news", context: CallContext())
    for number in 0..<5 { try await served.send("\(number)", to: number == 2 ? .topic("news") : .token(token)) }

    let (admin, engine) = (served.admin, served.engine)
    let info = try await admin.registration(token: token, context: .owner)
    #expect(try await engine.registration(token: token, context: .owner) == info && info.topics == ["news"])
    #expect(try await admin.token(ofInstallation: "ada", context: .owner) == token)
    let page = try await admin.outbox(pageSize: 3, pageToken: nil, context: .owner)
    #expect(try await engine.outbox(pageSize: 3, pageToken: nil, context: .owner) == page && page.messages.count == 3)
    let rest = try await admin.outbox(pageSize: 3, pageToken: page.nextPageToken, context: .owner)
    #expect(rest.messages.count == 2 && rest.nextPageToken == nil)
    let statistics = try await admin.statistics(context: .owner)
    #expect(try await engine.statistics(context: .owner) == statistics && statistics.accepted == 5)
    let gone = "gone:\(String(repeating: "a", count: 30))"
    let outcomes = try await admin.unsubscribe(tokens: [token, gone], fromTopic: "news", context: .owner)
    #expect(outcomes.map { $0?.reason } == [nil, .unregistered])
    #expect(try await engine.registration(token: token, context: .owner).topics == [])
    try await engine.close()
  }

  @Test func `many messages are accepted once each, whatever is refused between them`() async throws {
    let served = try Served.onFakeNetwork()
    let token = try await served.register()
    let messages = (0..<500).map { number in
      PushMessage(to: .token(number % 7 == 3 ? "wrong" : token), data: ["text": "\(number)"])
    }
    let outcomes = try await served.admin.sendEach(messages, isValidateOnly: false, context: .owner)
    let names = outcomes.compactMap { try? $0.get() }
    let refused = outcomes.indices.filter { if case .failure = outcomes[$0] { true } else { false } }
    #expect(outcomes.count == 500 && refused == (0..<500).filter { $0 % 7 == 3 } && Set(names).count == names.count)
    #expect(try await served.engine.statistics(context: .owner).accepted == Int64(names.count))
    for count in [0, 501] {
      let error = await #expect(throws: MessagingServiceError.self) {
        try await served.admin.sendEach(
          [PushMessage](repeating: messages[0], count: count), isValidateOnly: false, context: .owner)
      }
      #expect(error?.code == .invalidArgument)
    }
    try await served.engine.close()
  }

  @Test func `the owner of one project does not reach another one by the calls without a project`() async throws {
    let served = try Served.onFakeNetwork()
    let callers = FakeCallerVerifier()
    callers.accept(.full, token: "owner")
    let other = MessagingEngine(projectID: "other", senderID: "2", callers: CallerCheck(callers: callers)) {
      ModelStore()
    }
    served.host.add((any MessagingAdminBackend).self, other, project: "other")
    let request = RegisterRequest(installationID: "bob", platform: "linux", appID: "app")
    let token = try await other.register(request, context: CallContext())
    let admin = MessagingAdminRemote(project: "other", on: served.rest)
    #expect(try await admin.subscribe(tokens: [token], toTopic: "news", context: .owner) == [nil])
    #expect(try await other.registration(token: token, context: .owner).topics == ["news"])
    #expect(try await admin.registration(token: token, context: .owner).installationID == "bob")
    try await served.engine.close()
    try await other.close()
  }

  @Test func `a message whose answer is lost has an unknown outcome, and is sent once`() async throws {
    let count = Locked(0)
    let network = FakeNetwork()
    let handler = HTTPClosureHandler { _ in
      count.withLock { $0 += 1 }
      let body = ByteStream()
      body.fail(TransportError(.connectionLost, "cut"))
      return .response(HTTPResponse(.ok, body: .stream(body)))
    }
    try network.serve(handler, at: .internet(host: "localhost", port: 80))
    let options = RESTOptions(ownerToken: { "owner" })
    let service = try RESTService(network, at: "http://localhost", options: options)
    let admin = MessagingAdminRemote(project: "p", on: service)
    let message = PushMessage(to: .token("a:b"), data: ["text": "x"])
    let lost = await #expect(throws: MessagingServiceError.self) {
      try await admin.send(message, isValidateOnly: false, context: .owner)
    }
    #expect(lost?.code == .deadlineExceeded && count.withLock { $0 } == 1)
    let checked = await #expect(throws: MessagingServiceError.self) {
      try await admin.send(message, isValidateOnly: true, context: .owner)
    }
    #expect(checked?.code == .unavailable)
    // A question may be asked again.
    let read = await #expect(throws: MessagingServiceError.self) { try await admin.statistics(context: .owner) }
    #expect(read?.code == .unavailable)
  }

  @Test func `messages of one call are sent concurrently up to a number`() async throws {
    let (network, gate) = (FakeNetwork(), Gate())
    let arrived = EventLog<String>(patience: .seconds(60))
    let handler = HTTPClosureHandler { request in
      .task {
        arrived.record(request.target)
        await gate.wait()
        return .json(Array(#"{"name":"n"}"#.utf8))
      }
    }
    try network.serve(handler, at: .internet(host: "localhost", port: 80))
    var options = MessagingRemoteOptions()
    options.tuning.parallelSends = 3
    let service = try RESTService(network, at: "http://localhost", options: RESTOptions(ownerToken: { "owner" }))
    let admin = MessagingAdminRemote(project: "p", on: service, options: options)
    let messages = (0..<7).map { PushMessage(to: .token("a:b"), data: ["text": "\($0)"]) }
    async let outcomes = admin.sendEach(messages, isValidateOnly: false, context: .owner)
    try await arrived.wait(for: "as many as may be on their way") { $0.count == 3 }
    // One more would arrive by now.
    for _ in 0..<1_000 { await Task.yield() }
    #expect(arrived.events.count == 3)
    gate.open()
    #expect(try await outcomes.count == 7 && arrived.events.count == 7)
  }

  @Test func `tokens of registrations are not sent in clear text to another machine`() async throws {
    let (network, seen) = (FakeNetwork(), Log<String>())
    let handler = HTTPClosureHandler { request in
      seen.add(request.target)
      return .response(HTTPResponse(500))
    }
    try network.serve(handler, at: .internet(host: "example.com", port: 80))
    // The word of an emulator is no secret.
    let service = try RESTService(network, at: "http://example.com", options: RESTOptions(ownerToken: { "owner" }))
    let admin = MessagingAdminRemote(project: "p", on: service)
    let calls: [@Sendable () async throws -> Void] = [
      { _ = try await admin.send(PushMessage(to: .token("a:b")), isValidateOnly: true, context: .owner) },
      { _ = try await admin.subscribe(tokens: ["a:b"], toTopic: "news", context: .owner) },
      { _ = try await admin.registration(token: "a:b", context: .owner) },
    ]
    for call in calls {
      let error = await #expect(throws: MessagingServiceError.self) { try await call() }
      #expect(error?.code == .failedPrecondition)
    }
    #expect(seen.entries == [])
  }

  @Test func `at Firebase messages and topics have separate hosts, and calls that it lacks are not sent`() async throws
  {
    let seen = Log<String>()
    let network = FakeNetwork()
    let handler = HTTPClosureHandler { request in
      let mark = request.fields["access_token_auth"] ?? "-"
      seen.add("\(request.method) \(request.authority)\(request.target) \(mark)")
      let text = request.target.hasPrefix("/iid") ? #"{"results":[{},{"error":"TOO_MANY_TOPICS"}]}"# : #"{"name":"n"}"#
      return .response(.json(Array(text.utf8)))
    }
    for host in ["fcm.googleapis.com", "iid.googleapis.com"] {
      try network.serve(handler, at: .internet(host: host, port: 443))
    }
    let rest = RESTOptions(ownerToken: { "ya29.secret" })
    let service = try RESTService(network, at: "https://fcmregistrations.googleapis.com", options: rest)
    let admin = MessagingAdminRemote(project: "demo", on: service, options: .firebase)
    let message = PushMessage(to: .topic("news"), data: ["text": "x"])
    #expect(try await admin.send(message, isValidateOnly: false, context: .owner) == "n")
    let outcomes = try await admin.subscribe(tokens: ["a", "b"], toTopic: "news", context: .owner)
    #expect(outcomes.map { $0?.code } == [nil, .resourceExhausted])
    #expect(
      seen.entries == [
        "POST fcm.googleapis.com/v1/projects/demo/messages:send -", "POST iid.googleapis.com/iid/v1:batchAdd true",
      ])
    let calls: [@Sendable () async throws -> Void] = [
      { _ = try await admin.token(ofInstallation: "ada", context: .owner) },
      { _ = try await admin.outbox(pageSize: 1, pageToken: nil, context: .owner) },
      { _ = try await admin.statistics(context: .owner) },
    ]
    for call in calls {
      let error = await #expect(throws: MessagingServiceError.self) { try await call() }
      #expect(error?.code == .unimplemented)
    }
    #expect(seen.entries.count == 2)
  }

  @Test func `a credential of the owner is not sent in clear text to another machine`() async throws {
    let network = FakeNetwork()
    let count = Locked(0)
    let handler = HTTPClosureHandler { _ in
      count.withLock { $0 += 1 }
      return .response(HTTPResponse(500))
    }
    try network.serve(handler, at: .internet(host: "127.0.0.1.example.com", port: 80))
    let options = RESTOptions(ownerToken: { "ya29.secret" })
    let service = try RESTService(network, at: "http://127.0.0.1.example.com", options: options)
    let admin = MessagingAdminRemote(project: "p", on: service)
    let error = await #expect(throws: MessagingServiceError.self) {
      try await admin.send(PushMessage(to: .topic("a")), isValidateOnly: true, context: .owner)
    }
    #expect(error?.code == .failedPrecondition && count.withLock { $0 } == 0)
  }
}
