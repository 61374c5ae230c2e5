import Testing
import VestaAuthBackend
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaStoreInterop

@testable import VestaAuthService

@Suite struct BadInputTests {
  private static let absurd = String(repeating: "x", count: 1 << 20)

  @Test func `a bad ID token is refused by every call that takes one and changes nothing`() async throws {
    let world = World()
    let good = try await world.signUp().tokens.idToken
    let claims = try JWT(unverified: good).claims
    func changed(_ name: String, _ value: JWTValue?) async throws -> String {
      var other = claims
      other[name] = value
      return try await world.signed(other)
    }
    let parts = good.split(separator: ".").map(String.init)
    let stranger = FakeKey(secret: "00", keyID: try #require(try JWT(unverified: good).header.keyID))
    let tokens: [(String, String, AuthServiceError.Code)] = [
      ("missing", "", .missingIDToken), ("malformed", "x.y", .invalidIDToken), ("absurd", Self.absurd, .invalidIDToken),
      ("alg none", "eyJhbGciOiJub25lIn0.\(parts[1]).", .invalidIDToken),
      ("another key", try JWT.sign(claims, with: stranger), .invalidIDToken),
      ("an unknown key", try JWT.sign(claims, with: FakeKey(secret: "00", keyID: "unknown")), .invalidIDToken),
      ("a cut signature", String(good.dropLast(4)), .invalidIDToken),
      ("another audience", try await changed("aud", "other"), .invalidIDToken),
      ("another issuer", try await changed("iss", "https://evil.example"), .invalidIDToken),
      ("a cookie's issuer", try await changed("iss", "https://session.firebase.google.com/demo"), .invalidIDToken),
      ("from the future", try await changed("iat", .integer(world.now / 1000 + 601)), .invalidIDToken),
      ("without sub", try await changed("sub", nil), .invalidIDToken),
      ("without expiry", try await changed("exp", nil), .invalidIDToken),
      ("expired", try await changed("exp", .integer(world.now / 1000)), .tokenExpired),
      ("another user", try await changed("sub", "nobody"), .userNotFound),
    ]
    let before = try await world.contents()
    for (what, token, code) in tokens {
      for (name, call) in calls(world, token) {
        let expected = name == "update" && token.isEmpty ? AuthServiceError.Code.invalidRequestType : code
        #expect(await refusal(call) == expected, "\(what) in \(name)")
      }
    }
    #expect(try await world.contents() == before)
  }

  /// Every call that takes an ID token.
  private func calls(_ world: World, _ token: String) -> [(String, @Sendable () async throws -> Void)] {
    let (engine, context) = (world.engine, world.context)
    return [
      ("lookup", { _ = try await engine.lookup(LookupRequest(idToken: token), context: context) }),
      ("delete", { try await engine.delete(DeleteRequest(idToken: token), context: context) }),
      ("update", { _ = try await engine.update(UpdateRequest(idToken: token, displayName: "x"), context: context) }),
      (
        "withdraw",
        {
          let request = WithdrawMfaEnrollmentRequest(idToken: token, mfaEnrollmentID: "x")
          _ = try await engine.withdrawMfaEnrollment(request, context: context)
        }
      ),
      (
        "enroll",
        {
          let request = StartMfaEnrollmentRequest(idToken: token, factor: .totp)
          _ = try await engine.startMfaEnrollment(request, context: context)
        }
      ),
      (
        "cookie",
        {
          _ = try await engine.administration.createSessionCookie(
            CreateSessionCookieRequest(idToken: token), context: .owner)
        }
      ),
      (
        "revoke",
        {
          let request = RevokeTokenRequest(idToken: token, providerID: "x", token: "x", tokenType: .code)
          try await engine.revokeToken(request, context: context)
        }
      ),
    ]
  }

  @Test func `a bad custom token is refused and changes nothing`() async throws {
    let world = World()
    let account = try await world.engine.administration.serviceAccountKey(context: .owner)
    let key = try world.crypto.signingKey(pem: account.privateKey, algorithm: .rs256, keyID: account.privateKeyID)
    let now = world.now / 1000
    let claims: JWTObject = [
      "iss": .string(account.clientEmail), "sub": .string(account.clientEmail),
      "aud": .string(TokenClaims.customTokenAudience), "iat": .integer(now), "exp": .integer(now + 3600), "uid": "bob",
    ]
    func changed(_ name: String, _ value: JWTValue?) throws -> String {
      var other = claims
      other[name] = value
      return try JWT.sign(other, with: key)
    }
    let good = try JWT.sign(claims, with: key)
    let big = JWTValue.object(["a": .string(String(repeating: "x", count: 1000))])
    let tokens: [(String, String, AuthServiceError.Code)] = try [
      ("missing", "", .missingCustomToken), ("malformed", "x", .invalidCustomToken),
      ("absurd", Self.absurd, .invalidCustomToken), ("plain JSON", #"{"uid":"bob"}"#, .invalidCustomToken),
      ("alg none", "eyJhbGciOiJub25lIn0.\(good.split(separator: ".")[1]).", .invalidCustomToken),
      ("another key", JWT.sign(claims, with: FakeKey(secret: "00", keyID: key.keyID)), .invalidCustomToken),
      ("another audience", changed("aud", "other"), .invalidCustomToken),
      ("another issuer", changed("iss", "other"), .invalidCustomToken),
      ("another subject", changed("sub", "other"), .invalidCustomToken),
      ("expired", changed("exp", .integer(now)), .invalidCustomToken),
      ("too long", changed("exp", .integer(now + 3601)), .invalidCustomToken),
      ("for a week, dated back", changed("iat", .integer(.min)), .invalidCustomToken),
      ("without uid", changed("uid", nil), .missingIdentifier), ("empty uid", changed("uid", ""), .missingIdentifier),
      ("long uid", changed("uid", .string(String(repeating: "x", count: 129))), .invalidArgument),
      ("claims of another kind", changed("claims", []), .invalidClaims),
      ("a reserved claim", changed("claims", ["sub": "x"]), .forbiddenClaim),
      ("large claims", changed("claims", big), .claimsTooLarge),
      ("an unknown tenant", changed("tenant_id", "other"), .tenantNotFound),
    ]
    let before = try await world.contents()
    for (what, token, code) in tokens {
      let request = CustomTokenSignInRequest(token: token)
      #expect(
        await refusal { try await world.engine.signInWithCustomToken(request, context: world.context) } == code,
        "\(what)")
    }
    #expect(try await world.contents() == before)
  }

  @Test func `only development mode accepts unsigned custom tokens`() async throws {
    let world = World { $0.isDevelopment = true }
    let plain = CustomTokenSignInRequest(token: #"{"uid":"bob","claims":{"role":"x"}}"#)
    #expect(try await world.engine.signInWithCustomToken(plain, context: world.context).localID == "bob")
    let claims = #"{"aud":"\#(TokenClaims.customTokenAudience)","uid":"eve"}"#
    let unsigned = CustomTokenSignInRequest(token: "eyJhbGciOiJub25lIn0.\(Base64.url.encode(Array(claims.utf8))).")
    #expect(try await world.engine.signInWithCustomToken(unsigned, context: world.context).localID == "eve")
    // Test suites keep a token for years, and number their users.
    let old = #"{"aud":"\#(TokenClaims.customTokenAudience)","uid":12345,"iat":1000,"exp":2000}"#
    for token in ["eyJhbGciOiJub25lIn0.\(Base64.url.encode(Array(old.utf8))).", #"{"user_id":12345}"#] {
      let request = CustomTokenSignInRequest(token: token)
      #expect(try await world.engine.signInWithCustomToken(request, context: world.context).localID == "12345")
    }
    let other = #"{"aud":"other","uid":"eve"}"#
    let wrong = CustomTokenSignInRequest(token: "eyJhbGciOiJub25lIn0.\(Base64.url.encode(Array(other.utf8))).")
    #expect(
      await refusal { try await world.engine.signInWithCustomToken(wrong, context: world.context) }
        == .invalidCustomToken)
  }

  @Test func `absurd sizes are refused everywhere`() async throws {
    let world = World()
    let tokens = try await world.signUp().tokens
    let before = try await world.contents()
    let (engine, context, absurd) = (world.engine, world.context, Self.absurd)
    let work = world.crypto.passwordWork
    let calls: [(AuthServiceError.Code, () async throws -> Void)] = [
      (.invalidEmail, { try await world.signUp(absurd + "@b") }),
      (.passwordDoesNotMeetRequirements, { try await world.signUp("b@example.com", absurd) }),
      (.invalidLoginCredentials, { try await world.signIn("ada@example.com", absurd) }),
      (.invalidRefreshToken, { _ = try await engine.refresh(RefreshRequest(refreshToken: absurd), context: context) }),
      (.invalidOobCode, { _ = try await engine.update(UpdateRequest(oobCode: absurd), context: context) }),
      (
        .invalidOobCode,
        { _ = try await engine.resetPassword(ResetPasswordRequest(oobCode: absurd), context: context) }
      ),
      (
        .invalidSessionInfo,
        {
          let request = PhoneSignInRequest(proof: .code(sessionInfo: absurd, code: absurd))
          _ = try await engine.signInWithPhoneNumber(request, context: context)
        }
      ),
      (
        .invalidArgument,
        {
          let request = UpdateRequest(idToken: tokens.idToken, displayName: absurd)
          _ = try await engine.update(request, context: context)
        }
      ),
      (
        .invalidPhoneNumber,
        {
          let request = SendVerificationCodeRequest(phoneNumber: "+" + absurd)
          _ = try await engine.sendVerificationCode(request, context: context)
        }
      ),
    ]
    for (index, (code, call)) in calls.enumerated() { #expect(await refusal(call) == code, "call \(index)") }
    #expect(world.crypto.passwordWork == work, "an absurd password was hashed")
    #expect(try await world.contents() == before)
  }

  @Test func `an engine without store says so and recovers`() async throws {
    let world = World()
    let attempts = Counter()
    let engine = AuthEngine(projectID: "demo", options: world.options, crypto: world.crypto) {
      guard attempts.next() > 1 else {
        throw StoreError(
          .locked, operation: "open", path: "somewhere", message: "Another process has it.", hint: "Stop it.")
      }
      return world.store
    }
    let error = await #expect(throws: AuthServiceError.self) {
      try await engine.signUp(SignUpRequest(), context: world.context)
    }
    #expect(error?.code == .internalError)
    #expect(error?.detail?.contains("somewhere") == true && error?.detail?.contains("Stop it.") == true)
    _ = try await engine.signUp(SignUpRequest(), context: world.context)
    try await engine.close()
    #expect(await refusal { try await engine.signUp(SignUpRequest(), context: world.context) } == .unavailable)
  }

  @Test func `a sender that fails makes the call fail and the code stays good`() async throws {
    let world = World { $0.codeSender = BrokenSender() }
    let request = SendOobCodeRequest(requestType: .emailSignIn, email: "ada@example.com")
    #expect(await refusal { try await world.engine.sendOobCode(request, context: world.context) } == .unavailable)
    let tickets = try await world.contents().count { $0.key.first == Keys.Table.ticket.rawValue }
    #expect(tickets == 1)
  }

  private struct BrokenSender: CodeSender {
    struct Failure: Error {}
    func send(_ message: EmailMessage) async throws { throw Failure() }
    func send(_ message: TextMessage) async throws { throw Failure() }
  }
}
