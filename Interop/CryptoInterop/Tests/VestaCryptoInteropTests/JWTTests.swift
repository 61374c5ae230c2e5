import Testing
import VestaCryptoInterop

@Suite struct JWTTests {
  private let key = FakeKey()
  private let verifier = JWTVerifier(issuers: ["me"], audiences: ["you", "them"])
  private let good: JWTObject = ["iss": "me", "aud": "you", "exp": 2000]

  private func code(_ claims: JWTObject, at now: Int64 = 1500, leeway: Int64 = 0) throws -> CryptoError.Code? {
    var verifier = verifier
    verifier.leeway = leeway
    let token = try JWT.sign(claims, with: key)
    do {
      _ = try verifier.verify(token, at: now, keys: [key])
      return nil
    } catch {
      return error.code
    }
  }

  private func with(_ name: String, _ value: JWTValue?) -> JWTObject {
    var claims = good
    claims[name] = value
    return claims
  }

  private func token(header: String, claims: String = #"{"iss":"me","aud":"you","exp":2000}"#) throws -> String {
    let input = Base64.url.encode(utf8(header)) + "." + Base64.url.encode(utf8(claims))
    return input + "." + Base64.url.encode(try key.signature(for: utf8(input)))
  }

  @Test func `a valid token is accepted`() throws {
    let token = try verifier.verify(try JWT.sign(good, with: key), at: 1999, keys: [key])
    #expect(token.claims == good)
    #expect(try JWT(unverified: try JWT.sign(good, with: key)) == token)
    #expect(token.header.algorithm == "RS256" && token.header.keyID == "fake" && token.header.type == "JWT")
  }

  @Test func `a token that was read before is verified as its text is`() throws {
    let text = try JWT.sign(good, with: key)
    let unverified = try UnverifiedJWT(text)
    #expect(try unverified.token == JWT(unverified: text))
    #expect(try verifier.verify(unverified, at: 1999) { _ in key } == unverified.token)
    let forged = try UnverifiedJWT(try JWT.sign(good, with: FakeKey(keyID: key.keyID, secret: 0)))
    let attempts: [(CryptoError.Code, UnverifiedJWT, Int64, FakeKey?)] = [
      (.invalidSignature, forged, 1999, key), (.expired, unverified, 2000, key), (.unknownKey, unverified, 1999, nil),
    ]
    for (code, token, now, key) in attempts {
      #expect { try verifier.verify(token, at: now) { _ in key } } throws: { ($0 as? CryptoError)?.code == code }
    }
    #expect(throws: CryptoError.self) { try UnverifiedJWT(text, maximumSize: text.utf8.count - 1) }
  }

  @Test func `times are checked`() throws {
    #expect(try code(good, at: 1999) == nil)
    #expect(try code(good, at: 2000) == .expired)
    #expect(try code(good, at: 2009, leeway: 10) == nil)
    #expect(try code(good, at: 2010, leeway: 10) == .expired)
    #expect(try code(with("exp", nil)) == .missingClaim)
    #expect(try code(with("exp", "2000")) == .missingClaim)
    #expect(try code(with("exp", 1500.9)) == .expired)
    #expect(try code(with("exp", 1e300)) == .missingClaim)
    for name in ["nbf", "iat"] {
      #expect(try code(with(name, 1500)) == nil)
      #expect(try code(with(name, 1501)) == .notYetValid)
      #expect(try code(with(name, 1510), leeway: 10) == nil)
      #expect(try code(with(name, .integer(.max))) == .notYetValid)
      #expect(try code(with(name, nil)) == nil)
    }
  }

  @Test func `extreme times do not overflow`() throws {
    for time in [Int64.min, -1, 0, .max] {
      for now in [Int64.min, 0, .max] {
        for leeway in [Int64.min, 0, .max] {
          var verifier = JWTVerifier(issuers: nil, audiences: nil, leeway: leeway)
          verifier.requiresExpiration = false
          let claims: JWTObject = ["exp": .integer(time), "nbf": .integer(time)]
          _ = try? verifier.check(claims, at: now)
        }
      }
    }
    #expect(throws: CryptoError.self) { try verifier.check(with("exp", .integer(.min)), at: .max) }
  }

  @Test func `issuer and audience are checked`() throws {
    #expect(try code(with("iss", "you")) == .wrongIssuer)
    #expect(try code(with("iss", nil)) == .wrongIssuer)
    #expect(try code(with("iss", ["me"])) == .wrongIssuer)
    #expect(try code(with("aud", "me")) == .wrongAudience)
    #expect(try code(with("aud", nil)) == .wrongAudience)
    #expect(try code(with("aud", [])) == .wrongAudience)
    #expect(try code(with("aud", [1, "me"])) == .wrongAudience)
    #expect(try code(with("aud", ["me", "them"])) == nil)
  }

  @Test(arguments: ["none", "None", "NONE", "HS256", "RS512", "rs256", "", "ES256"])
  func `an algorithm other than the key's is refused`(name: String) throws {
    let text = try token(header: #"{"alg":"\#(name)","kid":"fake"}"#)
    let error = #expect(throws: CryptoError.self) { try verifier.verify(text, at: 1500, keys: [key]) }
    #expect(error?.code == .algorithmNotAllowed)
    let unsigned = text.split(separator: ".").dropLast().joined(separator: ".") + "."
    #expect(throws: CryptoError.self) { try verifier.verify(unsigned, at: 1500, keys: [key]) }
  }

  @Test func `an algorithm off the list is refused`() throws {
    var verifier = verifier
    verifier.algorithms = [.es256]
    let error = #expect(throws: CryptoError.self) {
      try verifier.verify(try JWT.sign(good, with: key), at: 1500, keys: [key])
    }
    #expect(error?.code == .algorithmNotAllowed)
  }

  @Test func `the key is chosen by its ID`() throws {
    let other = FakeKey(keyID: "other", secret: 8)
    let text = try JWT.sign(good, with: other)
    #expect(throws: Never.self) { try verifier.verify(text, at: 1500, keys: [key, other]) }
    let unknown = #expect(throws: CryptoError.self) { try verifier.verify(text, at: 1500, keys: [key]) }
    #expect(unknown?.code == .unknownKey)
    let forged = #expect(throws: CryptoError.self) {
      try verifier.verify(text, at: 1500, keys: [FakeKey(keyID: "other", secret: 9)])
    }
    #expect(forged?.code == .invalidSignature)
    let anonymous = try token(header: #"{"alg":"RS256"}"#)
    #expect(throws: Never.self) { try verifier.verify(anonymous, at: 1500, keys: [key]) }
    #expect(throws: CryptoError.self) { try verifier.verify(anonymous, at: 1500, keys: [key, other]) }
  }

  @Test func `the signature is checked before the claims`() throws {
    let text = try JWT.sign(with("exp", 1), with: FakeKey(secret: 9))
    let error = #expect(throws: CryptoError.self) { try verifier.verify(text, at: 1500, keys: [key]) }
    #expect(error?.code == .invalidSignature)
  }

  @Test(arguments: [
    "", ".", "..", "...", "a.b", "a.b.c.d", "e30.e30", "e30.e30.", "e30.e30.!", "W10.e30.AAAA", "e30=.e30.AAAA",
    " e30.e30.",
  ])
  func `strings that are no tokens are errors`(text: String) {
    #expect(throws: CryptoError.self) { try JWT(unverified: text) }
    #expect(throws: CryptoError.self) { try verifier.verify(text, at: 1500, keys: [key]) }
  }

  @Test(arguments: [
    #"{"kid":"fake"}"#, #"{"alg":1}"#, #"{"alg":null}"#, #"{"alg":"RS256","alg":"none"}"#, #"{"alg":"RS256","kid":1}"#,
    #"{"alg":"RS256","crit":["b64"],"b64":false}"#, #"{"alg":"RS256"} x"#, #"["RS256"]"#,
  ])
  func `strange headers are errors`(header: String) throws {
    let text = try token(header: header)
    #expect(throws: CryptoError.self) { try verifier.verify(text, at: 1500, keys: [key]) }
  }

  @Test func `duplicate claims are errors`() throws {
    let text = try token(header: #"{"alg":"RS256"}"#, claims: #"{"iss":"me","aud":"you","exp":2000,"exp":3000}"#)
    let error = #expect(throws: CryptoError.self) { try verifier.verify(text, at: 1500, keys: [key]) }
    #expect(error?.code == .malformed)
  }

  @Test func `huge tokens are refused unread`() throws {
    let text = try JWT.sign(with("x", .string(String(repeating: "x", count: 20_000))), with: key)
    let error = #expect(throws: CryptoError.self) { try verifier.verify(text, at: 1500, keys: [key]) }
    #expect(error?.code == .limitExceeded)
    var patient = verifier
    patient.maximumSize = 100_000
    #expect(throws: Never.self) { try patient.verify(text, at: 1500, keys: [key]) }
  }
}
