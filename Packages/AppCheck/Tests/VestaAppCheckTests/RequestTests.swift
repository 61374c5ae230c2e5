import Testing
import VestaAppCheckBackend
import VestaAppCheckRemote
import VestaAppCheckTokens
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// The requests of the remote backend, as Firebase's SDKs and Admin SDKs send them.
@Suite(.timeLimit(.minutes(10))) struct RequestTests {
  private let network = FakeNetwork()
  private let seen = Log<HTTPRequest>()

  private func remote(
    _ host: String = "localhost", _ options: AppCheckRemoteOptions = .firebase, answer: String = "{}",
    status: Int = 200, crypto: (any CryptoProvider)? = nil
  ) throws -> AppCheckRemote {
    let handler = HTTPClosureHandler { [seen] request in
      seen.add(request)
      return .response(.json(Array(answer.utf8), status: HTTPStatus(status)))
    }
    try network.serve(handler, at: .internet(host: host, port: 80))
    let services = RemoteServices(network, app: ClientIdentity(userAgent: "u/1", apiKey: "key", bundleID: "b.c"))
    let service = try services.service(at: "http://\(host)", isEmulator: true, sending: [.apiKey, .bundleID])
    return AppCheckRemote(project: "p", number: "7", on: service, crypto: crypto, options: options)
  }

  @Test func `exchanges are sent as the API's reference has them`() async throws {
    let remote = try remote(answer: #"{"token":"t","ttl":"3600s"}"#)
    let token = try await remote.exchange(.debug("s"), appID: "1:7:ios:3", context: CallContext())
    #expect(token == AppCheckToken(text: "t", lifetime: .seconds(3_600)))
    _ = try await remote.exchange(.custom("c"), appID: "1:7:ios:3", context: CallContext())
    #expect(
      seen.entries.map(\.target) == [
        "/v1/projects/p/apps/1%3A7%3Aios%3A3:exchangeDebugToken",
        "/v1/projects/p/apps/1%3A7%3Aios%3A3:exchangeCustomToken",
      ])
    var bodies: [String] = []
    for request in seen.entries {
      #expect(request.method == .post && request.fields["x-goog-api-key"] == "key")
      #expect(request.fields["x-ios-bundle-identifier"] == "b.c" && request.fields[.userAgent] == "u/1")
      bodies.append(String(decoding: try await request.body.collect(upTo: 1_000), as: UTF8.self))
    }
    #expect(bodies == [#"{"debugToken":"s"}"#, #"{"customToken":"c"}"#])
  }

  @Test func `proofs are not sent in clear text to other machines`() async throws {
    let remote = try remote("example.com")
    let error = await #expect(throws: AppCheckServiceError.self) {
      try await remote.exchange(.debug("s"), appID: "1:7:ios:3", context: CallContext())
    }
    #expect(error?.code == .failedPrecondition && seen.entries.isEmpty)
  }

  @Test func `an exchange whose connection was lost can be made again`() async throws {
    let remote = AppCheckRemote(
      project: "p", number: "7", on: try RESTService(CutClient(), at: "http://localhost"))
    let error = await #expect(throws: AppCheckServiceError.self) {
      try await remote.exchange(.debug("s"), appID: "1:7:ios:3", context: CallContext())
    }
    #expect(error?.code == .unavailable)
  }

  @Test func `secrets for development are not sent in clear text either`() async throws {
    let remote = try remote("example.com", AppCheckRemoteOptions())
    let added = await #expect(throws: AppCheckServiceError.self) {
      try await remote.addDebugSecret("s", appID: "1:7:ios:3", context: CallContext())
    }
    let removed = await #expect(throws: AppCheckServiceError.self) {
      try await remote.removeDebugSecret("s", appID: "1:7:ios:3", context: CallContext())
    }
    #expect(added?.code == .failedPrecondition && removed?.code == .failedPrecondition && seen.entries.isEmpty)
  }

  /// A token that a key has signed, and the answer that publishes the key.
  private func token(_ crypto: FakeCrypto) async throws -> (text: String, keys: String) {
    let key = try await crypto.generateSigningKey(.rs256, keyID: "k")
    let rules = AppCheckTokenRules(projectID: "p", projectNumber: "7")
    let claims = rules.claims(appID: "1:7:ios:3", tokenID: "t", now: ServiceClock.system.now())
    let keys = try JSONWebKeySet(keys: [key.verificationKey.jsonWebKey()]).publicJSON()
    return (try JWT.sign(claims, with: key), String(decoding: keys, as: UTF8.self))
  }

  @Test func `a token that is to be consumed is not sent in clear text to other machines`() async throws {
    let crypto = FakeCrypto()
    let (token, keys) = try await token(crypto)
    let remote = try remote("example.com", answer: keys, crypto: crypto)
    // The keys are no secret.
    #expect(try await remote.verify(token: token, consumes: false, context: CallContext()).appID == "1:7:ios:3")
    let error = await #expect(throws: AppCheckServiceError.self) {
      try await remote.verify(token: token, consumes: true, context: CallContext())
    }
    #expect(error?.code == .failedPrecondition)
    #expect(seen.entries.map(\.method) == [.get, .get])
  }

  @Test func `a consumption whose connection was lost is not to be made again`() async throws {
    let crypto = FakeCrypto()
    let (token, keys) = try await token(crypto)
    let client = HalfCutClient(keys: HTTPResponse.json(Array(keys.utf8)))
    let remote = AppCheckRemote(
      project: "p", number: "7", on: try RESTService(client, at: "http://localhost"), crypto: crypto)
    let error = await #expect(throws: AppCheckServiceError.self) {
      try await remote.verify(token: token, consumes: true, context: CallContext())
    }
    #expect(error?.code == .deadlineExceeded)
  }

  @Test func `what Firebase cannot do and what a crypto provider is needed for is said`() async throws {
    let remote = try remote(answer: #"{"keys":[]}"#)
    let removal = await #expect(throws: AppCheckServiceError.self) {
      try await remote.removeDebugSecret("s", appID: "1:7:ios:3", context: .owner)
    }
    #expect(removal?.code == .unimplemented)
    let verification = await #expect(throws: AppCheckServiceError.self) {
      try await remote.verify(token: "a.b.c", consumes: true, context: CallContext())
    }
    #expect(verification?.code == .failedPrecondition)
    #expect(seen.entries.map(\.target) == ["/v1/jwks"])
  }

  @Test(arguments: [(403, ServiceCode.permissionDenied), (404, .notFound), (503, .unavailable)])
  func `a refusal keeps its code`(status: Int, code: ServiceCode) async throws {
    let remote = try remote(status: status)
    let error = await #expect(throws: AppCheckServiceError.self) {
      try await remote.exchange(.debug("s"), appID: "1:7:ios:3", context: CallContext())
    }
    #expect(error?.code == code)
  }
}

/// A client that reads keys, and loses its connection in all other requests.
private struct HalfCutClient: HTTPClient {
  let keys: HTTPResponse
  private let cut = CutClient()

  init(keys: HTTPResponse) { self.keys = keys }

  func send(_ request: HTTPRequest, timeout: Duration?) async throws -> HTTPResponse {
    request.method == .get ? keys : try await cut.send(request, timeout: timeout)
  }

  func openWebSocket(_ request: HTTPRequest, subprotocols: [String], timeout: Duration?) async throws -> WebSocket {
    try await cut.openWebSocket(request, subprotocols: subprotocols, timeout: timeout)
  }

  func close() async {}
}
