import Testing
import VestaAuthBackend
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaStoreInterop

@testable import VestaAuthService

@Suite struct TokenTests {
  @Test func `an ID token has the claims of the service's own tokens`() async throws {
    let world = World()
    let made = try await world.signUp()
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(
        localID: made.localID, displayName: "Ada", photoURL: "https://example.com/a.png", phoneNumber: "+15550000001",
        customAttributes: #"{"admin":true,"email":"forged@example.com"}"#),
      context: .owner)
    world.pass(seconds: 60)
    let tokens = try await world.refresh(made.tokens).tokens
    let start = World.start / 1000
    let epoch = try #require(try await world.store.read { try await $0.user("", made.localID) }).epoch
    let firebase: JWTObject = [
      "identities": ["email": ["ada@example.com"], "phone": ["+15550000001"]], "sign_in_provider": "password",
      "epoch": .integer(epoch),
    ]
    let expected: JWTObject = [
      "name": "Ada", "picture": "https://example.com/a.png", "admin": true, "email": "ada@example.com",
      "email_verified": false, "phone_number": "+15550000001", "auth_time": .integer(start),
      "user_id": .string(made.localID), "firebase": .object(firebase), "iat": .integer(start + 60),
      "exp": .integer(start + 3660), "aud": "demo", "iss": "https://securetoken.google.com/demo",
      "sub": .string(made.localID),
    ]
    let claims = try world.claims(tokens)
    #expect(claims == expected)
    let header = try JWT(unverified: tokens.idToken).header
    #expect(header.algorithm == "RS256" && header.type == "JWT")
    #expect(made.localID.utf8.count == 28)
  }

  @Test func `an anonymous token says so`() async throws {
    let world = World()
    let tokens = try await world.engine.signUp(SignUpRequest(), context: world.context).tokens
    let claims = try world.claims(tokens)
    #expect(claims["provider_id"] == "anonymous")
    #expect(claims["firebase"]?.object?["sign_in_provider"] == "anonymous")
    #expect(claims["firebase"]?.object?["identities"] == .object([:]))
    #expect(claims["email"] == nil && claims["email_verified"] == nil && claims["name"] == nil)
  }

  @Test func `claims of a custom token last as long as its session`() async throws {
    let world = World()
    let custom = try await world.engine.administration.createCustomToken(
      CreateCustomTokenRequest(localID: "ada", claims: #"{"role":"admin"}"#), context: .owner)
    let signedIn = try await world.engine.signInWithCustomToken(
      CustomTokenSignInRequest(token: custom), context: world.context)
    #expect(signedIn.isNewUser && signedIn.localID == "ada")
    #expect(try world.claims(signedIn.tokens)["role"] == "admin")
    #expect(try world.claims(try await world.refresh(signedIn.tokens).tokens)["role"] == "admin")
    #expect(try await world.lookup(signedIn.tokens).customAttributes == nil)
    let again = try await world.engine.administration.createCustomToken(
      CreateCustomTokenRequest(localID: "ada"), context: .owner)
    let second = try await world.engine.signInWithCustomToken(
      CustomTokenSignInRequest(token: again), context: world.context)
    #expect(!second.isNewUser)
    #expect(try world.claims(second.tokens)["role"] == nil)
  }

  @Test func `a service account key that was handed out signs custom tokens`() async throws {
    let world = World()
    let account = try await world.engine.administration.serviceAccountKey(context: .owner)
    let again = try await world.engine.administration.serviceAccountKey(context: .owner)
    #expect(account == again && world.crypto.generatedKeys == 1)
    let key = try world.crypto.signingKey(pem: account.privateKey, algorithm: .rs256, keyID: account.privateKeyID)
    let now = world.now / 1000
    let claims: JWTObject = [
      "iss": .string(account.clientEmail), "sub": .string(account.clientEmail),
      "aud": .string(TokenClaims.customTokenAudience), "iat": .integer(now), "exp": .integer(now + 3600), "uid": "bob",
    ]
    let signedIn = try await world.engine.signInWithCustomToken(
      CustomTokenSignInRequest(token: try JWT.sign(claims, with: key)), context: world.context)
    #expect(signedIn.localID == "bob")
  }

  @Test func `a refresh keeps the time of the sign-in`() async throws {
    let world = World()
    let first = try await world.signUp().tokens
    world.pass(seconds: 7200)
    let second = try #require(try await world.signIn().outcome.tokens)
    world.pass(seconds: 7200)
    let start = World.start / 1000
    #expect(try world.claims(try await world.refresh(first).tokens)["auth_time"] == .integer(start))
    #expect(try world.claims(try await world.refresh(second).tokens)["auth_time"] == .integer(start + 7200))
    #expect(try await world.lookup(try await world.refresh(first).tokens).lastLoginAt == World.start + 7_200_000)
  }

  @Test func `revoking ends every session`() async throws {
    let world = World()
    let made = try await world.signUp()
    let other = try #require(try await world.signIn().outcome.tokens)
    world.pass(seconds: 1)
    try await world.engine.administration.revokeRefreshTokens(localID: made.localID, context: .owner)
    for tokens in [made.tokens, other] {
      #expect(await refusal { try await world.refresh(tokens) } == .tokenExpired)
      #expect(await refusal { try await world.lookup(tokens) } == .tokenExpired)
      let unchecked = VerifyTokenRequest(token: tokens.idToken)
      #expect(try await world.engine.administration.verifyIDToken(unchecked, context: .owner).localID == made.localID)
      let checked = VerifyTokenRequest(token: tokens.idToken, checksRevocation: true)
      #expect(
        await refusal { try await world.engine.administration.verifyIDToken(checked, context: .owner) } == .tokenExpired
      )
    }
    let fresh = try #require(try await world.signIn().outcome.tokens)
    _ = try await world.refresh(fresh)
  }

  @Test func `sessions that are long over are forgotten`() async throws {
    let world = World()
    let made = try await world.signUp()
    for _ in 0..<3 {
      try await world.engine.administration.revokeRefreshTokens(localID: made.localID, context: .owner)
      _ = try await world.signIn()
    }
    #expect(await refusal { try await world.refresh(made.tokens) } == .invalidRefreshToken)
    let sessions = try await world.contents().count { $0.key.first == Keys.Table.session.rawValue }
    #expect(sessions == 2)
  }

  @Test func `an account has a bounded number of sessions`() async throws {
    let world = World { $0.sessionLimit = 20 }
    var all = [try await world.signUp().tokens]
    for _ in 0..<30 {
      world.pass(seconds: 1)
      all.append(try #require(try await world.signIn().outcome.tokens))
      let kept = try await world.contents().count { $0.key.first == Keys.Table.session.rawValue }
      #expect(kept <= 20)
    }
    for tokens in all.suffix(18) { _ = try await world.refresh(tokens) }
    #expect(await refusal { try await world.refresh(all[0]) } == .invalidRefreshToken)
    // The others of the project are left alone.
    let other = try await world.signUp("bob@example.com").tokens
    for _ in 0..<30 { _ = try await world.signIn() }
    _ = try await world.refresh(other)
  }

  @Test func `an account that is imported again has its sessions counted on`() async throws {
    let world = World { $0.sessionLimit = 5 }
    let made = try await world.signUp()
    for _ in 0..<3 { _ = try await world.signIn() }
    let again = ImportedUser(localID: made.localID, email: "ada@example.com", rawPassword: "correct horse")
    let response = try await world.engine.administration.batchCreate(
      BatchCreateRequest(users: [again], allowsOverwrite: true), context: .owner)
    #expect(response.errors.isEmpty)
    #expect(await refusal { try await world.refresh(made.tokens) } == .tokenExpired)
    for _ in 0..<4 { _ = try await world.signIn() }
    let kept = try await world.contents().count { $0.key.first == Keys.Table.session.rawValue }
    #expect(kept <= 5)
  }

  @Test func `a session is for its own account only`() async throws {
    let world = World()
    let ada = try await world.signUp()
    let bob = try await world.signUp("bob@example.com")
    let secret = String(ada.tokens.refreshToken.prefix(86))
    let forged = SessionToken(secret: secret, tenant: "", localID: bob.localID).text
    let request = RefreshRequest(refreshToken: forged)
    #expect(await refusal { try await world.engine.refresh(request, context: world.context) } == .invalidRefreshToken)
    #expect(try await world.refresh(ada.tokens).userID == ada.localID)
  }

  @Test func `a rotated key still verifies and the next one signs`() async throws {
    let world = World()
    let old = try await world.signUp().tokens
    try await world.engine.administration.rotateSigningKey(context: .owner)
    let new = try await world.refresh(old).tokens
    let keyIDs = try [old, new].map { try JWT(unverified: $0.idToken).header.keyID }
    #expect(keyIDs[0] != keyIDs[1])
    _ = try await world.lookup(old)
    _ = try await world.lookup(new)
    let jwks = try await world.engine.publicKeys(context: world.context).jwks
    #expect(try JSONWebKeySet(json: jwks).keys.map(\.keyID) == [keyIDs[1], keyIDs[0]])
  }

  @Test func `keys are replaced in time and forgotten when nothing needs them`() async throws {
    let world = World()
    let first = try await world.signUp().tokens
    world.pass(seconds: world.options.signingKeyLifetime.seconds + 1)
    let second = try await world.refresh(first).tokens
    let keyIDs = try [first, second].map { try JWT(unverified: $0.idToken).header.keyID }
    #expect(keyIDs[0] != keyIDs[1])
    world.pass(seconds: world.options.signingKeyLifetime.seconds + 1)
    _ = try await world.refresh(first)
    let keys = try JSONWebKeySet(json: try await world.engine.publicKeys(context: world.context).jwks).keys
    #expect(keys.count == 2 && !keys.map(\.keyID).contains(keyIDs[0]))
  }

  @Test func `each key that verifies has a certificate for as long as its tokens are good`() async throws {
    let world = World()
    let old = try await world.signUp().tokens
    try await world.engine.administration.rotateSigningKey(context: .owner)
    let new = try await world.refresh(old).tokens
    let names = try [old, new].map { try #require(try JWT(unverified: $0.idToken).header.keyID) }
    let certificates = try await world.engine.certificates(context: world.context).certificates
    #expect(Set(certificates.keys) == Set(names))
    let lifetime = world.options.signingKeyLifetime.seconds + 15 * 86_400
    let start = World.start / 1000
    #expect(certificates[names[1]]?.hasSuffix("gserviceaccount.com \(start) \(start + lifetime)") == true)
  }

  @Test func `another engine on the same store sees a rotation`() async throws {
    let one = World()
    let other = World(store: one.store, crypto: one.crypto)
    let tokens = try await one.signUp().tokens
    _ = try await other.lookup(tokens)
    try await one.engine.administration.rotateSigningKey(context: .owner)
    _ = try await other.lookup(try await one.refresh(tokens).tokens)
  }

  @Test func `a retired key is kept for fifteen days and dropped at the next rotation after them`() async throws {
    let world = World()
    _ = try await world.signUp()
    func keys() async throws -> SigningKeysRecord {
      let bytes = try #require(try await world.store.get(Keys.signingKeys))
      return try RecordCodec.decode(SigningKeysRecord.self, from: bytes)
    }
    func rotate() async throws { try await world.engine.administration.rotateSigningKey(context: .owner) }
    let first = try await keys().current.id
    try await rotate()
    world.pass(seconds: 15 * 86_400)
    try await rotate()
    #expect(try await keys().previous.map(\.id).contains(first))
    world.pass(seconds: 1)
    try await rotate()
    #expect(try await keys().previous.count == 2)
    #expect(try await !keys().previous.map(\.id).contains(first))
  }

  @Test func `another engine on the same store signs with a rotated key within a minute`() async throws {
    let one = World()
    let other = World(store: one.store, crypto: one.crypto)
    let tokens = try await one.signUp().tokens
    let before = try await other.refresh(tokens).tokens
    try await one.engine.administration.rotateSigningKey(context: .owner)
    let rotated = try await one.refresh(tokens).tokens
    other.pass(seconds: 61)
    let after = try await other.refresh(tokens).tokens
    let keyIDs = try [before, rotated, after].map { try JWT(unverified: $0.idToken).header.keyID }
    #expect(keyIDs[0] != keyIDs[1] && keyIDs[1] == keyIDs[2])
  }

  @Test func `of engines on one store that sign an address up at once, one does`() async throws {
    let one = World()
    let other = World(store: one.store, crypto: one.crypto)
    let results = await atOnce(8) { index in try await (index % 2 == 0 ? one : other).signUp() }
    #expect(results.count { $0.value != nil } == 1)
  }

  @Test func `a thousand first calls make one key`() async throws {
    let world = World()
    let results = await atOnce(100) { _ in try await world.engine.signUp(SignUpRequest(), context: world.context) }
    #expect(results.allSatisfy { $0.value != nil })
    #expect(world.crypto.generatedKeys == 1)
  }

  @Test func `a session cookie lives for the requested duration`() async throws {
    let world = World()
    let tokens = try await world.signUp().tokens
    let cookie = try await world.engine.administration.createSessionCookie(
      CreateSessionCookieRequest(idToken: tokens.idToken, validDuration: 86_400), context: .owner)
    let claims = try JWT(unverified: cookie).claims
    #expect(claims["iss"] == "https://session.firebase.google.com/demo")
    #expect(claims["exp"]?.integer == World.start / 1000 + 86_400)
    let request = VerifyTokenRequest(token: cookie, checksRevocation: true)
    world.pass(seconds: 86_399)
    let verified = try await world.engine.administration.verifySessionCookie(request, context: .owner)
    #expect(verified.localID == claims["sub"]?.string)
    #expect(verified.claims.contains("ada@example.com"))
    world.pass(seconds: 1)
    #expect(
      await refusal { try await world.engine.administration.verifySessionCookie(request, context: .owner) }
        == .invalidSessionCookie)
    // One kind of token is not taken for the other.
    let fresh = try #require(try await world.signIn().outcome.tokens)
    let wrong = VerifyTokenRequest(token: fresh.idToken)
    #expect(
      await refusal { try await world.engine.administration.verifySessionCookie(wrong, context: .owner) }
        == .invalidSessionCookie)
    for duration in [299, 1_209_601] as [Int64] {
      let request = CreateSessionCookieRequest(idToken: fresh.idToken, validDuration: duration)
      #expect(
        await refusal { try await world.engine.administration.createSessionCookie(request, context: .owner) }
          == .invalidDuration)
    }
  }

  @Test func `nothing in the store can be used to sign in`() async throws {
    let world = World()
    let tokens = try await world.signUp().tokens
    _ = try await world.engine.sendOobCode(
      SendOobCodeRequest(requestType: .passwordReset, email: "ada@example.com"), context: world.context)
    let sent = try await world.engine.sendVerificationCode(
      SendVerificationCodeRequest(phoneNumber: "+15550000001"), context: world.context)
    let secrets = [
      tokens.refreshToken, try world.emailedCode(.passwordReset), sent.sessionInfo,
      "\"" + (try world.textedCode(sent.sessionInfo)), "correct horse",
    ]
    let texts = try await world.contents().map { String(decoding: $0.key + $0.value, as: UTF8.self) }
    for secret in secrets { #expect(!texts.contains { $0.contains(secret) }) }
  }
}
