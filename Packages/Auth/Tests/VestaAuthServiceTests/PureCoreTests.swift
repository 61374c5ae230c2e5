import Testing
import VestaAuthBackend
import VestaBytes
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaTesting

@testable import VestaAuthService

@Suite struct PureCoreTests {
  @Test func `addresses are checked and lowered`() throws {
    #expect(try Checks.email("Ada.Lovelace@Example.COM") == "ada.lovelace@example.com")
    let bad = ["", "@", "a@", "@b", "a@b@c", "a b@c", "a@b\n", "a\u{0}@b", String(repeating: "a", count: 256) + "@b"]
    for text in bad { #expect(throws: AuthServiceError(.invalidEmail)) { try Checks.email(text) } }
  }

  @Test func `custom claims are an object without reserved names of a thousand bytes`() {
    let refusals: [(String, AuthServiceError.Code?)] = [
      ("{}", nil), (#"{"admin":true}"#, nil), ("[]", .invalidClaims), ("nonsense", .invalidClaims),
      ("", .invalidClaims), (#"{"a":1"#, .invalidClaims), (#"{"sub":"me"}"#, .forbiddenClaim),
      (#"{"firebase":{}}"#, .forbiddenClaim),
      ("{\"a\":\"" + String(repeating: "x", count: 1000) + "\"}", .claimsTooLarge),
      ("{\"a\":\"" + String(repeating: "x", count: 992) + "\"}", nil),
    ]
    for (json, expected) in refusals {
      var code: AuthServiceError.Code?
      do { try Checks.customClaims(json) } catch { code = error.code }
      #expect(code == expected, "\(json.prefix(40))")
    }
  }

  @Test func `a policy reports all that is missing`() throws {
    var policy = PasswordPolicy(
      minimumLength: 8, requiresLowercase: true, requiresUppercase: true, requiresNumeric: true,
      requiresNonAlphanumeric: true)
    #expect(policy.missingRequirements(of: "").count == 5)
    #expect(policy.missingRequirements(of: "abcdefgh").count == 3)
    #expect(policy.missingRequirements(of: "aB3$aB3$") == [])
    try policy.check("abcdef")  // not enforced: six characters are enough
    policy.isEnforced = true
    #expect(throws: AuthServiceError.self) { try policy.check("abcdef") }
    try policy.check("aB3$aB3$")
    #expect(throws: AuthServiceError.self) { try policy.check(String(repeating: "aB3$", count: 1025)) }
    policy.minimumLength = 5
    #expect(throws: AuthServiceError.self) { try policy.validate() }
  }

  @Test func `base32 is that of the standard`() {
    let vectors = [
      ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"),
      ("foobar", "MZXW6YTBOI"),
    ]
    for (text, encoded) in vectors { #expect(Base32.encode(Array(text.utf8)) == encoded) }
  }

  @Test func `a TOTP code counts one step early and late and never twice`() throws {
    let totp = TOTP { FakeCrypto.mix($0, count: 20) }
    let seconds: Int64 = 1_767_225_600
    let present = seconds / TOTP.period
    for (step, isAccepted) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] as [(Int64, Bool)] {
      let code = try totp.code(at: present + step)
      #expect(code.utf8.count == 6)
      let accepted = try totp.acceptedStep(for: code, at: seconds, lastUsed: nil)
      #expect(accepted == (isAccepted ? present + step : nil))
    }
    let code = try totp.code(at: present)
    #expect(try totp.acceptedStep(for: code, at: seconds, lastUsed: present) == nil)
    #expect(try totp.acceptedStep(for: code, at: seconds, lastUsed: present + 1) == nil)
    #expect(try totp.acceptedStep(for: code, at: seconds, lastUsed: present - 1) == present)
    #expect(try totp.acceptedStep(for: "", at: seconds, lastUsed: nil) == nil)
  }

  @Test func `a password policy has lengths between its limits`() {
    let cases: [(minimum: Int, maximum: Int, isValid: Bool)] = [
      (5, 4096, false), (6, 4096, true), (30, 4096, true), (31, 4096, false), (6, 4097, false), (8, 8, true),
      (8, 7, false),
    ]
    for (minimum, maximum, isValid) in cases {
      var policy = PasswordPolicy()
      (policy.minimumLength, policy.maximumLength) = (minimum, maximum)
      #expect(((try? policy.validate()) != nil) == isValid, "\(minimum) to \(maximum)")
    }
  }

  @Test func `codes are made from the four bytes that the last one points to`() throws {
    // Hashes and codes of RFC 4226, appendix D: the secret is "12345678901234567890".
    let vectors: [(step: Int64, hash: String, code: String)] = [
      (0, "cc93cf18508d94934c64b65d8ba7667fb7cde4b0", "755224"),
      (1, "75a48a19d4cbe100644e8ac1397eea747a2d33ab", "287082"),
      (2, "0bacb7fa082fef30782211938bc1c5e70416ff44", "359152"),
      (3, "66c28227d03a2d5529262ff016a1e6ef76557ece", "969429"),
      (4, "a904c900a64b35909874b33e61c5938a8e15ed1c", "338314"),
      (9, "1637409809a679dc698207310c8c7fc07290d9e5", "520489"),
    ]
    for vector in vectors {
      let hash = try Hex.decode(vector.hash)
      let totp = TOTP { message in message == [UInt8](repeating: 0, count: 7) + [UInt8(vector.step)] ? hash : [] }
      #expect(try totp.code(at: vector.step) == vector.code, "step \(vector.step)")
    }
    // A step that needs all eight bytes; a hash that points to its end.
    let late: Int64 = 0x0102_0304_0506_0708
    let totp = TOTP { $0 == [1, 2, 3, 4, 5, 6, 7, 8] ? [UInt8](repeating: 0, count: 15) + [0xFF, 0, 0, 9, 0x0F] : [] }
    #expect(try totp.code(at: late) == "706441")
  }

  @Test func `a bucket empties and refills`() {
    var limiter = RateLimiter(RateLimit(burst: 3, refillInterval: .milliseconds(100)))
    var taken = (0..<4).map { _ in limiter.take("a", now: 1000) }
    #expect(taken == [true, true, true, false])
    taken = [limiter.take("b", now: 1000), limiter.take("a", now: 1099), limiter.take("a", now: 1100)]
    #expect(taken == [true, false, true])
    taken = [limiter.take("a", now: 1100)]
    limiter.giveBack("a", now: 1100)
    taken.append(limiter.take("a", now: 1100))
    #expect(taken == [false, true])
    limiter.reset("a")
    taken = [limiter.take("a", now: 1100), limiter.take("a", now: 9000)]
    #expect(taken == [true, true])
  }

  @Test func `guesses that processes share are counted like guesses of one, and recover from a clock far ahead`() {
    let limit = RateLimit(burst: 3, refillInterval: .milliseconds(100))
    var shared = SharedGuesses()
    var taken = (0..<4).map { _ in shared.take(0, limit, now: 1000) }
    #expect(taken == [true, true, true, false])
    taken = [shared.take(0, limit, now: 1099), shared.take(0, limit, now: 1100), shared.take(0, limit, now: 1100)]
    #expect(taken == [false, true, false])
    // Another name has all of them, and leaves nothing to the one before.
    taken = [shared.take(7, limit, now: 1100), shared.take(0, limit, now: 1100)]
    #expect(taken == [true, true])
    // Guesses at a future time: the bucket is empty, and fills from now on.
    for _ in 0..<5 { _ = shared.take(0, limit, now: 9_000_000) }
    taken = [shared.take(0, limit, now: 2000), shared.take(0, limit, now: 2099), shared.take(0, limit, now: 2100)]
    #expect(taken == [false, false, true])
  }

  @Test func `buckets never take more room than they may`() {
    var limiter = RateLimiter(RateLimit(burst: 3, refillInterval: .milliseconds(100)), capacity: 100)
    for index in 0..<1000 {
      let isTaken = limiter.take("\(index)", now: Int64(index % 7))
      #expect(isTaken)
      #expect(limiter.count <= 100)
    }
  }

  @Test func `any bytes can be described`() {
    var random = SplitMix(seed: 7)
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(!Keys.describe(bytes).isEmpty || bytes.isEmpty)
    }
  }

  @Test func `tenants are equal by their bytes, as their keys are`() {
    let (composed, decomposed) = (TenantKey("\u{E9}"), TenantKey("e\u{301}"))
    #expect(composed.rawValue == decomposed.rawValue && composed != decomposed)
    #expect(Set([composed, decomposed, TenantKey("\u{E9}")]).count == 2)
    #expect(Keys.user(composed, "a") != Keys.user(decomposed, "a"))
    #expect(TenantKey(nil) == .project && TenantKey("") == .project && TenantKey.project.id == nil)
    #expect(TenantKey("t").id == "t")
  }

  @Test func `a key is printed for people`() {
    #expect(Keys.describe(Keys.user("", "abc")) == #"user("", "abc")"#)
    #expect(Keys.describe(Keys.provider("t", "google.com", "1")) == #"provider("t", "google.com", "1")"#)
    #expect(Keys.describe(Keys.ticketExpiry(-5, [1, 2])) == "ticketExpiry(-5, 0102)")
    #expect(Keys.describe(Keys.signingKeys) == #"meta("signing-keys")"#)
    #expect(Keys.describe([0xFF, 0x01]) == "ff01")
  }

  @Test func `records are read back, and damaged ones are reported`() throws {
    var user = UserRecord(localID: "abc", createdAt: 5)
    user.email = "a@b"
    user.factors = [.init(id: "f", totpSecret: [1, 2, 3], totpStep: 4, enrolledAt: 6)]
    user.providers = [.init(providerID: "google.com", rawID: "1")]
    let bytes = try RecordCodec.encode(user)
    #expect(try RecordCodec.decode(UserRecord.self, from: bytes) == user)
    let damagedOnes: [[UInt8]] = [[], [9] + bytes.dropFirst(), Array(bytes.dropLast()), [1]]
    for damaged in damagedOnes {
      #expect(throws: AuthServiceError.self) { try RecordCodec.decode(UserRecord.self, from: damaged) }
    }
  }

  @Test func `no field of a record is forgotten`() throws {
    var user = UserRecord(localID: "abc", createdAt: -5)
    user.email = "a@b"
    user.emailVerified = true
    user.displayName = "Ada"
    user.photoURL = "p"
    user.phoneNumber = "+1"
    user.passwordHash = "h"
    user.signerKeyID = "s"
    user.passwordUpdatedAt = 0
    user.validSince = 0
    user.epoch = 3
    user.disabled = true
    user.lastLoginAt = 4
    user.lastRefreshAt = 5
    user.customAuth = true
    user.customAttributes = "{}"
    user.initialEmail = ""
    user.emailLinkSignIn = true
    user.sessionCount = 7
    user.recoveries = [.init(hash: [1, 2], expiresAt: 8), .init(hash: [], expiresAt: 0)]
    user.factors = [
      .init(id: "f", phoneNumber: "+2", totpSecret: [], totpStep: 0, displayName: "d", enrolledAt: 6),
      .init(id: "g", enrolledAt: 0),
    ]
    user.providers = [
      .init(
        providerID: "p", rawID: "r", federatedID: "f", email: "e", displayName: "d", photoURL: "u", phoneNumber: "n",
        screenName: "s"), .init(providerID: "q", rawID: ""),
    ]
    user.passkeys = [
      .init(credentialID: "c", name: "n", publicKey: [], signCount: 9, createdAt: 10),
      .init(credentialID: "", name: "", createdAt: 0),
    ]
    // A field that is new, and not set above, would go unnoticed: all are identified by their labels.
    for (label, value) in Mirror(reflecting: user).children {
      #expect(String(describing: value) != "nil" && !["false", "[]"].contains("\(value)"), "\(label ?? "")")
    }
    #expect(try RecordCodec.decode(UserRecord.self, from: RecordCodec.encode(user)) == user)
    let factor = SessionFacts.SecondFactor(identifier: "i", provider: "totp")
    for facts in [
      SessionFacts(provider: "p", authTime: 1, claims: "{}", secondFactor: factor),
      SessionFacts(provider: "", authTime: 0),
    ] {
      let session = SessionRecord(epoch: 9, facts: facts)
      #expect(try RecordCodec.decode(SessionRecord.self, from: RecordCodec.encode(session)) == session)
    }
  }

  @Test func `a record of a later version with more fields is read`() throws {
    let user = UserRecord(localID: "abc", createdAt: 5)
    struct Later: FieldRecord {
      var user = UserRecord()
      var new = "new"
      mutating func visit(_ visitor: inout some RecordVisitor) throws {
        try user.visit(&visitor)
        try visitor.field(900, &new)
      }
    }
    #expect(try RecordCodec.decode(UserRecord.self, from: RecordCodec.encode(Later(user: user))) == user)
  }

  @Test func `refresh tokens name their account`() throws {
    let secret = String(repeating: "s", count: 86)
    let token = SessionToken(secret: secret, tenant: "t\u{0}", localID: "häns")
    #expect(SessionToken(token.text) == token)
    #expect(SessionToken(SessionToken(secret: secret, tenant: "", localID: "a").text)?.tenant == "")
    let owner = String(token.text.dropFirst(87))
    for bad in ["", ".", secret, secret + ".", secret + "." + owner.dropLast(3), "s" + token.text, "s." + owner] {
      #expect(SessionToken(bad) == nil, "\(bad)")
    }
    #expect(SessionToken(secret + "." + String(repeating: "A", count: 2000)) == nil)
  }

  @Test func `claims are read and written in order`() throws {
    let text = #"{"b":1,"a":[true,null,"x"],"c":{"d":-2}}"#
    let claims = try #require(ClaimsText.read(text))
    #expect(try ClaimsText.write(claims) == text)
    for bad in ["", "[]", "{", "{}x", #"{"a":}"#] { #expect(ClaimsText.read(bad) == nil) }
  }

  @Test func `phone numbers of factors show their last four digits`() {
    let factor = UserRecord.Factor(id: "f", phoneNumber: "+15551234567", enrolledAt: 0)
    #expect(factor.enrollment(isRedacted: true).factor == .phone(number: "+*******4567"))
    #expect(factor.enrollment(isRedacted: false).factor == .phone(number: "+15551234567"))
  }
}
