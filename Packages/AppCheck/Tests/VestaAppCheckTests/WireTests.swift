import Testing
import VestaAppCheckBackend
import VestaAppCheckEndpoints
import VestaAppCheckTokens
import VestaAppCheckWire
import VestaBytes
import VestaTesting
import VestaTransportInterop

@testable import VestaAppCheckService

@Suite(.timeLimit(.minutes(10))) struct WireTests {
  @Test func `bodies and routes are read as they are written`() throws {
    for proof in [AppCheckProof.debug("é"), .custom("a.b.c")] {
      let kind: AppCheckRoute.ProofKind = if case .debug = proof { .debug } else { .custom }
      #expect(try AppCheckWire.proof(AppCheckWire.body(of: proof), kind) == proof)
    }
    let token = AppCheckToken(text: "t", lifetime: .seconds(77))
    #expect(try AppCheckWire.token(AppCheckWire.body(of: token)) == token)
    #expect(try AppCheckWire.consumed(AppCheckWire.body(consuming: "t")) == "t")
    #expect(try AppCheckWire.consumed(Array(#"{"appCheckToken":"t"}"#.utf8)) == "t")
    #expect(try AppCheckWire.secret(AppCheckWire.body(ofSecret: "s", displayName: "n")) == "s")
    let app = "1:2:web:3"
    for call in [
      AppCheckRoute.Call.exchange(.debug, appID: app), .exchange(.custom, appID: app), .consume, .keys,
      .addDebugSecret(appID: app), .removeDebugSecret(appID: app, secret: "a b"),
    ] {
      let route = AppCheckRoute(project: "p q", call)
      #expect(try AppCheckRoute(method: route.method, target: route.target) == route)
    }
    let keys = AppCheckRoute(project: nil, .keys)
    #expect(try AppCheckRoute(method: "GET", target: "/v1beta/jwks?x") == keys && keys.target == "/v1/jwks")
  }

  @Test func `random bodies come back as they were`() throws {
    var random = SplitMix(seed: 27)
    func text() -> String { random.pick(["", "a", "é", "\u{1F600}", "\"\\/'", "\u{0}", "a.b.c"]) }
    for _ in 0..<5_000 {
      let (secret, token, name) = (text(), text(), text())
      #expect(try AppCheckWire.proof(AppCheckWire.body(of: .debug(secret)), .debug) == .debug(secret))
      #expect(try AppCheckWire.proof(AppCheckWire.body(of: .custom(token)), .custom) == .custom(token))
      let made = AppCheckToken(text: token, lifetime: .seconds(random.pick([0, 1, 3_600, 315_576_000_000])))
      #expect(try AppCheckWire.token(AppCheckWire.body(of: made)) == made)
      #expect(try AppCheckWire.consumed(AppCheckWire.body(consuming: token)) == token)
      #expect(try AppCheckWire.secret(AppCheckWire.body(ofSecret: secret, displayName: name)) == secret)
      let verified = VerifiedAppCheckToken(appID: "a", tokenID: "t", isAlreadyConsumed: random.oneIn(2))
      #expect(try AppCheckWire.isAlreadyConsumed(AppCheckWire.body(of: verified)) == verified.isAlreadyConsumed)
    }
  }

  @Test func `bodies have the members of the service, in camel case`() {
    func json(_ body: [UInt8]) -> String { String(decoding: body, as: UTF8.self) }
    #expect(json(AppCheckWire.body(of: .debug("s"))) == #"{"debugToken":"s"}"#)
    #expect(json(AppCheckWire.body(of: .custom("t"))) == #"{"customToken":"t"}"#)
    let token = AppCheckToken(text: "t", lifetime: .milliseconds(7_500))
    #expect(json(AppCheckWire.body(of: token)) == #"{"token":"t","ttl":"7s"}"#)
    #expect(json(AppCheckWire.body(consuming: "t")) == #"{"appCheckToken":"t"}"#)
    #expect(json(AppCheckWire.body(ofSecret: "s", displayName: "n")) == #"{"displayName":"n","token":"s"}"#)
    let verified = VerifiedAppCheckToken(appID: "a", tokenID: "t", isAlreadyConsumed: true)
    #expect(json(AppCheckWire.body(of: verified)) == #"{"alreadyConsumed":true}"#)
  }

  @Test func `a body without what it is for is refused, and members that are not known are ignored`() throws {
    func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }
    for body in ["", "[]", "{}", #"{"debug_token":null}"#, #"{"debugToken":7}"#, #"{"customToken":"t"}"#] {
      #expect(throws: BytesError.self) { try AppCheckWire.proof(utf8(body), .debug) }
      #expect(throws: BytesError.self) { try AppCheckWire.consumed(utf8(body)) }
      #expect(throws: BytesError.self) { try AppCheckWire.secret(utf8(body)) }
    }
    for body in [#"{"token":"t"}"#, #"{"ttl":"1s"}"#, #"{"token":"t","ttl":"-1s"}"#, #"{"token":"t","ttl":"1"}"#] {
      #expect(throws: BytesError.self) { try AppCheckWire.token(utf8(body)) }
    }
    #expect(try AppCheckWire.proof(utf8(#"{"x":[{}],"debug_token":"s"}"#), .debug) == .debug("s"))
    #expect(try AppCheckWire.token(utf8(#"{"token":"t","ttl":"1.5s"}"#)).lifetime == .milliseconds(1_500))
    let large = utf8(#"{"token":"s"}"# + String(repeating: " ", count: AppCheckWire.limits.maximumSize))
    #expect(throws: BytesError.self) { try AppCheckWire.secret(large) }
  }

  @Test func `an id of an app keeps its colons, and other exchanges are no routes`() throws {
    let base = "/v1/projects/p/apps/1:2:web:3:"
    let read = try AppCheckRoute(method: "POST", target: base + "exchangeDebugToken?key=k")
    #expect(read?.call == .exchange(.debug, appID: "1:2:web:3"))
    for name in ["exchangeRecaptchaV3Token", "exchangeAppAttestAssertion", "exchangePlayIntegrityToken", ""] {
      #expect(try AppCheckRoute(method: "POST", target: base + name) == nil)
    }
  }

  @Test func `routes of the service and the questions before them are served`() {
    let endpoints = AppCheckEndpoints()
    func serves(_ method: HTTPMethod, _ target: String, _ fields: HTTPFields = [:]) -> Bool {
      endpoints.serves(HTTPRequestHead(method: method, target: target, fields: fields))
    }
    #expect(serves(.get, "/v1/jwks") && serves(.post, "/v1beta/projects/p:verifyAppCheckToken"))
    let question: HTTPFields = ["access-control-request-method": "POST"]
    #expect(serves(.options, "/v1/projects/p/apps/1:2:web:3:exchangeDebugToken", question))
    #expect(!serves(.get, "/v1/projects/p/remoteConfig") && !serves(.post, "/v1/projects/p/installations"))
  }

  @Test(arguments: [
    "/v1/other/demo:verifyAppCheckToken", "/v1/projects/demo:other", "/v1/projects/demo/other/a/debugTokens",
    "/v1/other/demo/apps/a/debugTokens", "/v1/projects/demo/apps/a/other", "/v2/projects/demo/apps/a/debugTokens",
  ])
  func `what resembles a route is none`(target: String) {
    #expect(!AppCheckEndpoints().serves(HTTPRequestHead(method: .post, target: target, fields: [:])))
  }

  @Test func `tokens have the claims that Admin SDKs verify`() {
    let rules = AppCheckTokenRules(projectID: "demo", projectNumber: "7", lifetime: .seconds(3_600))
    let claims = rules.claims(appID: "1:7:web:3", tokenID: "id", now: 5_000_000)
    #expect(claims["iss"] == "https://firebaseappcheck.googleapis.com/7")
    #expect(claims["aud"] == ["projects/7", "projects/demo"] && claims["sub"] == "1:7:web:3")
    #expect(claims["iat"] == 5 && claims["exp"] == 3_605 && claims["jti"] == "id")
  }

  @Test func `damaged bodies and targets stop nothing`() {
    var random = SplitMix(seed: 3)
    let bodies = [
      AppCheckWire.body(of: .debug("s")), AppCheckWire.body(consuming: "t"),
      AppCheckWire.body(of: AppCheckToken(text: "t", lifetime: .seconds(1))),
    ]
    for _ in 0..<30_000 {
      var body = random.pick(bodies)
      for _ in 0...random.below(3) { body[random.below(body.count)] = UInt8(random.below(256)) }
      _ = try? AppCheckWire.proof(body, .debug)
      _ = try? AppCheckWire.token(body)
      _ = try? AppCheckWire.consumed(body)
      let text = String(decoding: body, as: UTF8.self)
      _ = try? AppCheckRoute(method: "POST", target: "/v1/projects/\(text)/apps/\(text)")
    }
  }
}
