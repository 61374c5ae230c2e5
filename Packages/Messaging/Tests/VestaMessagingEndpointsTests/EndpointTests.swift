import Testing
import VestaBytes
import VestaConcurrency
import VestaInstallationsBackend
import VestaMessagingBackend
import VestaMessagingEndpoints
import VestaMessagingService
import VestaMessagingWire
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// Knows the tokens `fis-ID` alone.
private struct KnownInstallations: InstallationsVerifier {
  func verify(token: String, context: CallContext) async throws(InstallationsServiceError) -> VerifiedInstallation {
    guard token.hasPrefix("fis-") else { throw InstallationsServiceError(.unauthenticated, "no token") }
    return VerifiedInstallation(id: String(token.dropFirst(4)), appID: "1:2:web:3")
  }
}

/// Requests as Firebase's SDKs and Vesta's clients send them.
@Suite(.timeLimit(.minutes(10))) struct EndpointTests {
  private let engine: MessagingEngine
  private let host: FakeEndpointHost
  private let network = FakeNetwork()
  private let base = "/v1/projects/demo"

  init() async throws { try await self.init(isDevelopment: true) }

  private init(isDevelopment: Bool) async throws {
    let verifier = FakeCallerVerifier()
    verifier.accept(.full, token: "owner")
    engine = MessagingEngine(projectID: "demo", senderID: "1", callers: CallerCheck(callers: verifier)) { ModelStore() }
    host = FakeEndpointHost(project: "demo", isDevelopment: isDevelopment)
    host.add((any MessagingBackend).self, engine)
    host.add((any MessagingAdminBackend).self, engine)
    host.add((any InstallationsVerifier).self, KnownInstallations())
    let handler = MessagingEndpoints().handler(in: host)
    _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
  }

  private func send(
    _ method: HTTPMethod, _ target: String, _ body: String = "", installation: String? = nil, isOwner: Bool = false
  ) async throws -> HTTPResponse {
    var fields: HTTPFields = [.contentType: "application/json"]
    if let installation { fields.append("x-goog-firebase-installations-auth", installation) }
    if isOwner { fields.append(.authorization, "Bearer owner") }
    return try await network.send(
      HTTPRequest(method, target, authority: "localhost", fields: fields, body: .text(body)), timeout: nil)
  }

  private func answer(
    _ method: HTTPMethod, _ target: String, _ body: String = "", installation: String? = nil, isOwner: Bool = false
  ) async throws -> (status: Int, object: JSONObject) {
    let response = try await send(method, target, body, installation: installation, isOwner: isOwner)
    return (response.status.code, try JSONObject(json: try await response.body.collect(upTo: 100_000)))
  }

  private func register(_ id: String) async throws -> String {
    let body = #"{"ios":{"apns_token":"00ff","apns_environment":"SANDBOX","bundle_id":"b"}}"#
    let (status, made) = try await answer(.post, "\(base)/registrations", body, installation: "FIS fis-\(id)")
    #expect(status == 200 && made["name"] == .string("projects/demo/registrations/\(id)"))
    return try #require(made["token"]?.string)
  }

  @Test func `an installation is registered, and keeps its token`() async throws {
    let token = try await register("ada")
    #expect(try await register("ada") == token)
    let info = try await answer(.get, "/iid/info/\(token)?details=true", isOwner: true)
    #expect(info.status == 200 && info.object["platform"] == "IOS" && info.object["application"] == "1:2:web:3")
    for field in [nil, "", "Bearer x", "FIS x"] {
      let refused = try await answer(.post, "\(base)/registrations", #"{"web":{}}"#, installation: field)
      #expect(refused.status == 401)
    }
    #expect(try await answer(.delete, "\(base)/registrations/\(token)").status == 200)
    #expect(try await answer(.get, "/iid/info/\(token)", isOwner: true).status == 404)
  }

  @Test func `a registration is named by its installation for itself and the owner alone`() async throws {
    let token = try await register("ada")
    _ = try await register("bob")
    let topics = "\(base)/registrations/ada/topicSubscriptions"
    #expect(try await answer(.post, "\(topics)/news:subscribe", installation: "fis-ada").status == 200)
    #expect(try await answer(.post, "\(topics)/other:subscribe", installation: "fis-bob").status == 403)
    #expect(try await answer(.post, "\(topics)/other:subscribe").status == 403)
    #expect(try await answer(.post, "\(topics)?topic_name=sport", "{}", isOwner: true).status == 200)
    let info = try await answer(.get, "/iid/info/\(token)", isOwner: true)
    #expect(info.object["rel"]?.object?["topics"]?.object?.names == ["news", "sport"])
    #expect(try await answer(.delete, "\(topics)/news?allow_missing=true", isOwner: true).status == 200)
    #expect(
      try await answer(.patch, "\(base)/registrations/ada", #"{"web":{}}"#, installation: "fis-bob").status == 400)
    let web = #"{"web":{"endpoint":"https://p.example","auth":"a","p256dh":"k"}}"#
    #expect(try await answer(.patch, "\(base)/registrations/ada", web, installation: "fis-bob").status == 403)
    // The SDK for the web names a registration by its token.
    #expect(try await answer(.patch, "\(base)/registrations/\(token)", web, installation: "fis-bob").status == 403)
    #expect(try await answer(.patch, "\(base)/registrations/\(token)", web, installation: "fis-ada").status == 200)
    #expect(try await answer(.delete, "\(base)/registrations/ada", installation: "fis-ada").status == 200)
    #expect(try await answer(.delete, "\(base)/registrations/ada", installation: "fis-ada").status == 404)
  }

  @Test func `the owner sends, and reads what was sent`() async throws {
    let token = try await register("ada")
    let body = #"{"message":{"token":"\#(token)","data":{"a":"b"}}}"#
    let sent = try await answer(.post, "\(base)/messages:send", body, isOwner: true)
    #expect(sent.status == 200 && sent.object["name"]?.string?.hasPrefix("projects/demo/messages/") == true)
    let checked = #"{"validate_only":true,"message":{"topic":"news"}}"#
    #expect(try await answer(.post, "\(base)/messages:send", checked, isOwner: true).status == 200)
    let seen = try await answer(.get, "/emulator/v1/projects/demo/messages")
    let list = seen.object["messages"]?.array ?? []
    #expect(list.count == 1 && list.first?.object?["name"] == sent.object["name"])
    #expect(list.first?.object?["message"]?.object?["data"] == ["a": "b"])
    for (wrong, status, word) in [
      (#"{"message":{"token":"x"}}"#, 400, "INVALID_ARGUMENT"),
      (#"{"message":{"fid":"nobody"}}"#, 404, "UNREGISTERED"),
      (#"{"message":{"topic":"a","android":{"ttl":"9"}}}"#, 400, "INVALID_ARGUMENT"), ("{}", 400, "INVALID_ARGUMENT"),
    ] {
      let refused = try await answer(.post, "\(base)/messages:send", wrong, isOwner: true)
      let details = refused.object["error"]?.object?["details"]?.array ?? []
      #expect(refused.status == status && details.contains { $0.object?["errorCode"] == .string(word) }, "\(wrong)")
    }
    #expect(try await answer(.post, "\(base)/messages:send", body).status == 403)
  }

  @Test func `outside of development what was sent is for the owner`() async throws {
    let other = try await EndpointTests(isDevelopment: false)
    #expect(try await other.answer(.get, "/emulator/v1/projects/demo/messages").status == 403)
    #expect(try await other.answer(.get, "/emulator/v1/projects/demo/messages", isOwner: true).status == 200)
  }

  @Test func `the owner subscribes many, and gets the ones that do not exist`() async throws {
    let token = try await register("ada")
    let missing = "bob:\(String(repeating: "x", count: 140))"
    let body = #"{"to":"/topics/news","registration_tokens":["\#(token)","\#(missing)","x"]}"#
    let added = try await answer(.post, "/iid/v1:batchAdd", body, isOwner: true)
    #expect(added.object == ["results": [[:], ["error": "NOT_FOUND"], ["error": "INVALID_ARGUMENT"]]])
    let refused = try await answer(.post, "/iid/v1:batchRemove", body)
    #expect(refused.status == 403 && refused.object == ["error": "PERMISSION_DENIED"])
    func topics() async throws -> [String]? {
      try await answer(.get, "/iid/info/\(token)", isOwner: true).object["rel"]?.object?["topics"]?.object?.names
    }
    #expect(try await topics() == ["news"])
    let removed = try await answer(.post, "/iid/v1:batchRemove", body, isOwner: true)
    #expect(removed.status == 200 && removed.object["results"]?.array?.first == [:])
    #expect(try await topics() ?? [] == [])
  }

  @Test func `a client of Vesta's own receives, acknowledges, and is told how its connection ended`() async throws {
    let token = try await register("ada")
    let events = Log<ServerSentEvent>()
    let response = try await send(.post, "\(base)/registrations:connect", #"{"token":"\#(token)"}"#)
    let reading = Task {
      var reader = ServerSentEventReader()
      while let bytes = try await response.body.stream.next() {
        for event in try reader.read(bytes) { events.add(event) }
      }
    }
    _ = try await engine.send(
      PushMessage(to: .token(token), data: ["text": "a"]), isValidateOnly: false, context: .owner)
    await events.wait(for: 1)
    let delivery = try DeliveryWire.delivery(Array(events.entries[0].data.utf8))
    #expect(events.entries[0].name == "delivery" && delivery.message.data == ["text": "a"])
    let body = String(
      decoding: DeliveryWire.body(of: .init(token: token, messageIDs: [delivery.messageID])), as: UTF8.self)
    #expect(try await answer(.post, "\(base)/registrations:acknowledge", body).status == 200)
    #expect(try await engine.statistics(context: .owner).acknowledged == 1)
    #expect(try await answer(.delete, "\(base)/registrations/\(token)").status == 200)
    try await reading.value
    #expect(events.entries.last?.name == "end" && events.entries.last?.data.contains("NOT_FOUND") == true)
  }

  @Test func `a connection that is left is closed, and a server that shuts down ends the others in order`() async throws
  {
    let token = try await register("ada")
    let connect = { try await send(.post, "\(base)/registrations:connect", #"{"token":"\#(token)"}"#) }
    try await connect().body.stream.cancel()
    while network.exchangeCount > 0 { await Task.yield() }
    let second = try await connect()
    host.shutDown()
    let text = String(decoding: try await second.body.collect(upTo: 10_000), as: UTF8.self)
    #expect(text == "event: end\ndata: {}\n\n")
    #expect(try await connect().status == .serviceUnavailable)
  }

  @Test func `routes of the service and the questions before them are served`() {
    let endpoints = MessagingEndpoints()
    func serves(_ method: HTTPMethod, _ target: String, _ fields: HTTPFields = [:]) -> Bool {
      endpoints.serves(HTTPRequestHead(method: method, target: target, fields: fields))
    }
    #expect(serves(.post, "/v1/projects/p/messages:send") && serves(.post, "/iid/v1:batchAdd"))
    #expect(serves(.options, "/v1/projects/p/registrations", ["access-control-request-method": "POST"]))
    // The error of a target that cannot be read is Messaging's.
    #expect(serves(.post, "/v1/projects/p/registrations/a/topicSubscriptions"))
    #expect(!serves(.put, "/v1/projects/p/remoteConfig") && !serves(.post, "/v1/projects/p/installations"))
  }
}
