import Testing
import VestaAuthBackend
import VestaBytes
import VestaConcurrency
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaAuthRemote

/// The tokens of a service account, and what becomes of them when clocks and networks are wrong.
@Suite(.timeLimit(.minutes(10))) struct ServiceAccountTests {
  private let network = FakeNetwork()
  private let clock = ManualClock()
  private let account = ServiceAccount(
    clientEmail: "admin@demo.example", privateKeyID: "k1", privateKey: "FAKE secret",
    tokenURI: "http://localhost/token")

  /// The claims of the assertions that an exchange has received; it answers by their number.
  private func exchange(
    _ respond: @escaping @Sendable (Int, JSONObject) -> HTTPResponse
  ) async throws -> (ServiceAccountTokens, Log<JSONObject>) {
    let seen = Log<JSONObject>()
    let handler = HTTPClosureHandler { request in
      .task {
        let form = try FormFields(utf8: try await request.body.collect(upTo: 10_000))
        let claims = try JWT(unverified: form["assertion"] ?? "").claims
        seen.add(claims)
        return respond(seen.entries.count, claims)
      }
    }
    try network.serve(handler, at: .internet(host: "localhost", port: 80))
    let tokens = try ServiceAccountTokens(account, over: network, crypto: FakeCrypto(), clock: clock.service)
    return (tokens, seen)
  }

  private static func answer(_ number: Int, lifetime: Int = 3_600) -> HTTPResponse {
    .json(Array(#"{"access_token":"t\#(number)","expires_in":\#(lifetime),"token_type":"Bearer"}"#.utf8))
  }

  private func failure(_ tokens: ServiceAccountTokens) async -> ServiceStatus? {
    do {
      _ = try await tokens.token()
      return nil
    } catch { return error }
  }

  @Test func `a token is kept until shortly before it expires, and callers share an exchange`() async throws {
    let (tokens, seen) = try await exchange { number, _ in Self.answer(number) }
    let texts = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<32 { group.addTask { try await tokens.token() } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(texts == ["t1"] && seen.entries.count == 1)
    let claims = try #require(seen.entries.first)
    #expect(claims["iss"] == "admin@demo.example" && claims["aud"] == "http://localhost/token")
    #expect(claims["exp"]?.integer == claims["iat"]?.integer.map { $0 + 3_600 })
    clock.advance(by: .seconds(3_299))
    #expect(try await tokens.token() == "t1")
    clock.advance(by: .seconds(1))
    #expect(try await tokens.token() == "t2")
  }

  @Test func `a token is not kept beyond a clock that was set back`() async throws {
    let time = Locked(Int64(1_800_000_000_000_000))
    let service = ServiceClock(now: { time.withLock { $0 } }, schedule: { _, _ in ListenerRegistration {} })
    let count = Locked(0)
    let handler = HTTPClosureHandler { _ in
      .response(
        Self.answer(
          count.withLock {
            $0 += 1; return $0
          }))
    }
    try network.serve(handler, at: .internet(host: "localhost", port: 80))
    let tokens = try ServiceAccountTokens(account, over: network, crypto: FakeCrypto(), clock: service)
    #expect(try await tokens.token() == "t1")
    time.withLock { $0 -= 7_200_000_000 }
    #expect(try await tokens.token() == "t2")
  }

  @Test func `an assertion of a wrong clock is signed again by the time of the answer`() async throws {
    // 2026-11-24T01:30:37Z; the clock of the test is years before.
    let (tokens, seen) = try await exchange { number, claims in
      if claims["iat"]?.integer == 1_795_483_837 { return Self.answer(number) }
      return .json(
        Array(#"{"error":"invalid_grant","error_description":"Invalid JWT: iat"}"#.utf8), status: 400,
        fields: ["date": "Tue, 24 Nov 2026 01:30:37 GMT"])
    }
    #expect(try await tokens.token() == "t2" && seen.entries.count == 2)
  }

  @Test(arguments: [(-31, 2), (-30, 1), (0, 1), (30, 1), (31, 2)])
  func `an assertion is signed again where the clocks differ by more than 30 seconds`(
    _ difference: Int64, _ count: Int
  ) async throws {
    // 2026-11-24T01:30:37Z.
    clock.jump(to: (1_795_483_837 + difference) * 1_000_000)
    let (tokens, seen) = try await exchange { _, _ in
      .json(Array(#"{"error":"invalid_grant"}"#.utf8), status: 400, fields: ["date": "Tue, 24 Nov 2026 01:30:37 GMT"])
    }
    #expect(await failure(tokens)?.code == .unauthenticated)
    let times = [1_795_483_837 + difference, 1_795_483_837].prefix(count)
    #expect(seen.entries.compactMap { $0["iat"]?.integer } == Array(times))
    #expect(seen.entries.allSatisfy { $0["exp"]?.integer == $0["iat"]?.integer.map { $0 + 3_600 } })
  }

  @Test(arguments: [
    (400, ServiceCode.unauthenticated), (401, .unauthenticated), (428, .unauthenticated), (429, .unavailable),
    (430, .unauthenticated), (499, .unauthenticated), (500, .unavailable), (503, .unavailable),
  ])
  func `a failure of the exchange passes, and a refusal of the account does not`(
    _ status: Int, _ code: ServiceCode
  ) async throws {
    let (tokens, _) = try await exchange { _, _ in
      .json(Array(#"{"error":"internal_failure"}"#.utf8), status: HTTPStatus(status))
    }
    #expect(await failure(tokens)?.code == code)
  }

  @Test func `an account that is refused is asked for once more only where the clock explains it`() async throws {
    let (tokens, seen) = try await exchange { _, _ in
      .json(Array(#"{"error":"invalid_grant","error_description":"account not found"}"#.utf8), status: 400)
    }
    let status = await failure(tokens)
    #expect(status?.code == .unauthenticated && status?.message.contains("account not found") == true)
    #expect(seen.entries.count == 1)
  }

  @Test(arguments: ["127.example.com", "127.0.0.1.example.com", "localhost.example.com", "127.0.0", "10.0.0.1"])
  func `an assertion is not sent in clear text to another machine, whatever its name`(host: String) {
    var account = account
    account.tokenURI = "http://\(host)/token"
    #expect(throws: ServiceStatus.self) {
      try ServiceAccountTokens(account, over: network, crypto: FakeCrypto())
    }
  }

  @Test func `pages, failures of the exchange and lost connections pass, and are not kept`() async throws {
    let (tokens, _) = try await exchange { number, _ in
      switch number {
      case 1: HTTPResponse(200, fields: [.contentType: "text/html"], body: .text("<html>"))
      case 2: HTTPResponse(503)
      default: Self.answer(number)
      }
    }
    #expect(await failure(tokens)?.code == .unavailable)
    #expect(await failure(tokens)?.code == .unavailable)
    network.setDown(true)
    #expect(await failure(tokens)?.code == .unavailable)
    network.setDown(false)
    #expect(try await tokens.token() == "t3")
  }

  @Test func `a key file is read, and its secrets are shown nowhere`() throws {
    let file = #"""
      {"type":"service_account","project_id":"demo","private_key_id":"k1","private_key":"FAKE secret",
       "client_email":"admin@demo.example","token_uri":"https://oauth2.googleapis.com/token"}
      """#
    let account = try ServiceAccount(json: Array(file.utf8))
    #expect(account.projectID == "demo" && account.tokenURI == "https://oauth2.googleapis.com/token")
    for text in ["\(account)", String(reflecting: account)] { #expect(!text.contains("secret"), "\(text)") }
    var dumped = ""
    dump(account, to: &dumped)
    #expect(!dumped.contains("secret"))
    for broken in ["", "[]", "{}", #"{"type":"service_account"}"#, #"{"type":"authorized_user"}"#] {
      #expect(throws: ServiceStatus.self) { try ServiceAccount(json: Array(broken.utf8)) }
    }
    #expect(try ServiceAccount.ofEnvironment([:]) == nil)
    #expect(throws: ServiceStatus.self) {
      try ServiceAccount.ofEnvironment(["GOOGLE_APPLICATION_CREDENTIALS": "/nowhere/key.json"])
    }
  }

  @Test func `assertions are not sent in clear text to another machine`() throws {
    var far = account
    far.tokenURI = "http://example.com/token"
    #expect(throws: ServiceStatus.self) { try ServiceAccountTokens(far, over: network, crypto: FakeCrypto()) }
    far.tokenURI = "https://example.com/token"
    far.privateKey = "no key"
    #expect(throws: ServiceStatus.self) { try ServiceAccountTokens(far, over: network, crypto: FakeCrypto()) }
  }

  @Test func `the dates of answers are read in their one form`() {
    #expect(ExchangeAnswer.seconds("Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777)
    #expect(ExchangeAnswer.seconds("Sat, 10 Oct 2026 01:30:37 GMT") == 1_791_595_837)
    #expect(ExchangeAnswer.seconds("Wed, 09 Sep 2026 23:59:59 GMT") == 1_788_998_399)
    for text in ["", "yesterday", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 99 Nov 1994 08:49:37 GMT", "a b c d e GMT"] {
      #expect(ExchangeAnswer.seconds(text) == nil, "\(text)")
    }
  }
}
