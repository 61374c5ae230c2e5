import Testing
import VestaAuthBackend
import VestaConcurrency
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop

@testable import VestaAuthService

@Suite struct IdpTests {
  private static let provider = FakeKey(secret: "aa11bb22", keyID: "provider-key")

  private func world() throws -> World {
    let keys = JSONWebKeySet(keys: [try Self.provider.jsonWebKey()])
    return World {
      $0.identityProviders["google.com"] = IdentityProviderKeys(
        issuers: ["https://accounts.google.com"], audiences: ["client"], keys: keys)
    }
  }

  private func token(
    _ subject: String = "1", email: String? = "ada@example.com", isVerified: Bool = true,
    changes: (inout JWTObject) -> Void = { _ in }
  ) throws -> String {
    var claims: JWTObject = [
      "iss": "https://accounts.google.com", "aud": "client", "sub": .string(subject), "name": "Ada Lovelace",
      "given_name": "Ada", "family_name": "Lovelace", "picture": "https://example.com/a.png",
      "iat": .integer(World.start / 1000), "exp": .integer(World.start / 1000 + 3600),
      "email_verified": .bool(isVerified),
    ]
    claims["email"] = email.map(JWTValue.string)
    changes(&claims)
    return try JWT.sign(claims, with: Self.provider)
  }

  private func signIn(
    _ world: World, _ token: String, nonce: String? = nil, linkTo idToken: String? = nil, returns: Bool = false,
    creates: Bool = true
  ) async throws -> IdpSignInResponse {
    let credential = IdpCredential(providerID: "google.com", idToken: token, rawNonce: nonce)
    return try await world.engine.signInWithIdp(
      IdpSignInRequest(credential: credential, idToken: idToken, returnIdpCredential: returns, autoCreate: creates),
      context: world.context)
  }

  @Test func `a token is revoked by what the provider has been given`() async throws {
    struct Unreachable: Error {}
    let asked = Locked<[RevokeTokenRequest]>([])
    let world = World {
      $0.isDevelopment = true
      $0.tokenRevokers["apple.com"] = { request in
        asked.withLock { $0.append(request) }
        if request.token == "bad" { throw AuthServiceError(.invalidIdpResponse) }
        if request.token == "lost" { throw Unreachable() }
      }
    }
    let signIn = { (providerID: String) in
      let credential = IdpCredential(providerID: providerID, idToken: #"{"sub":"1"}"#)
      return try await world.engine.signInWithIdp(
        IdpSignInRequest(credential: credential), context: world.context
      ).outcome?.tokens
    }
    let ada = try #require(try await signIn("apple.com"))
    let bob = try #require(try await signIn("google.com"))
    let request = { (tokens: AuthTokens, provider: String, token: String) in
      RevokeTokenRequest(idToken: tokens.idToken, providerID: provider, token: token, tokenType: .code)
    }
    try await world.engine.revokeToken(request(ada, "apple.com", "code"), context: world.context)
    #expect(asked.withLock { $0.map(\.token) } == ["code"])
    _ = try await world.refresh(ada)
    #expect(try await world.lookup(ada).providerUserInfo.map(\.providerID) == ["apple.com"])
    for (refused, code) in [
      (request(ada, "apple.com", "bad"), .invalidIdpResponse), (request(ada, "apple.com", "lost"), .internalError),
      (request(bob, "google.com", "code"), .notImplemented), (request(bob, "apple.com", "code"), .invalidProviderID),
      (request(ada, "", "code"), .missingProviderID),
    ] as [(RevokeTokenRequest, AuthServiceError.Code)] {
      #expect(await refusal { try await world.engine.revokeToken(refused, context: world.context) } == code)
    }
    #expect(asked.withLock { $0.count } == 3)
  }

  @Test func `a verified credential signs in`() async throws {
    let world = try world()
    let first = try await signIn(world, try token())
    #expect(first.isNewUser && first.federatedID == "https://accounts.google.com/1" && first.firstName == "Ada")
    #expect(first.rawUserInfo?.contains("Lovelace") == true)
    let tokens = try #require(first.outcome?.tokens)
    let user = try await world.lookup(tokens)
    #expect(user.email == "ada@example.com" && user.emailVerified && user.displayName == "Ada Lovelace")
    let firebase = try world.claims(tokens)["firebase"]?.object
    #expect(firebase?["sign_in_provider"] == "google.com")
    #expect(firebase?["identities"]?.object?["google.com"] == ["1"])
    let second = try await signIn(world, try token(email: "changed@example.com"))
    #expect(!second.isNewUser && second.localID == first.localID)
  }

  @Test func `blocking functions get what the provider says, and tokens that settings let them see`() async throws {
    let (keys, asked) = (JSONWebKeySet(keys: [try Self.provider.jsonWebKey()]), Locked<[BlockingQuestion]>([]))
    let world = { (changes: (inout BlockingFunctionSettings) -> Void) in
      var blocking = BlockingFunctionSettings(beforeCreate: "http://a/c", beforeSignIn: "http://a/s")
      changes(&blocking)
      return World {
        for id in ["google.com", "oidc.works"] {
          $0.identityProviders[id] = IdentityProviderKeys(
            issuers: ["https://accounts.google.com"], audiences: ["client"], keys: keys)
        }
        $0.blockingFunctions = Listening(asked: asked)
        $0.initialConfig.blockingFunctions = blocking
      }
    }
    let plain = world { _ in }
    let response = try await signIn(plain, try token())
    let first = asked.withLock { $0 }
    #expect(first.map(\.event) == [.beforeCreate, .beforeSignIn])
    #expect(first.map(\.rawUserInfo) == [response.rawUserInfo, response.rawUserInfo] && response.rawUserInfo != nil)
    #expect(first.map(\.signInAttributes) == [nil, nil] && first.first?.credential?.idToken == nil)
    let works = IdpCredential(
      providerID: "oidc.works", idToken: try token("2", email: nil), accessToken: "AT", oauthTokenSecret: "S")
    let open = world { ($0.forwardsAccessTokens, $0.forwardsIDTokens) = (true, true) }
    _ = try await open.engine.signInWithIdp(IdpSignInRequest(credential: works), context: open.context)
    _ = try await plain.engine.signInWithIdp(IdpSignInRequest(credential: works), context: plain.context)
    let later = asked.withLock { $0.suffix(4).map { $0 } }
    #expect(later.map { $0.signInAttributes?["given_name"] } == ["Ada", "Ada", "Ada", "Ada"])
    #expect(later.map(\.credentialLifetime) == [3_600, 3_600, 3_600, 3_600])
    #expect(later.map { $0.credential?.oauthTokenSecret } == ["S", "S", nil, nil])
  }

  private struct Listening: AuthBlockingFunctions {
    let asked: Locked<[BlockingQuestion]>

    func answer(to question: BlockingQuestion) async throws(AuthServiceError) -> BlockingAnswer {
      asked.withLock { $0.append(question) }
      return BlockingAnswer()
    }
  }

  @Test func `a credential that the provider has not signed is refused`() async throws {
    let world = try world()
    let other = FakeKey(secret: "cc", keyID: "provider-key")
    let good = try token()
    let parts = good.split(separator: ".").map(String.init)
    let bad: [(String, String)] = try [
      ("another key", JWT.sign(JWT(unverified: good).claims, with: other)),
      ("no signature", "eyJhbGciOiJub25lIn0.\(parts[1])."),
      ("plain JSON", #"{"sub":"1","email":"ada@example.com","email_verified":true}"#),
      ("another audience", token { $0["aud"] = "other" }),
      ("another issuer", token { $0["iss"] = "https://evil.example" }),
      ("an old one", token { $0["exp"] = .integer(World.start / 1000 - 61) }),
      ("one without sub", token { $0["sub"] = nil }),
      ("nothing", ""), ("nonsense", "x.y.z"), ("a long one", good + String(repeating: "x", count: 20_000)),
    ]
    for (what, text) in bad {
      #expect(await refusal { try await signIn(world, text) } == .invalidIdpResponse, "\(what)")
    }
    #expect(try await world.contents().isEmpty)
  }

  @Test func `a nonce has to be the one of the token`() async throws {
    let world = try world()
    let hashed = Hex.encode(FakeCrypto.mix(Array("raw".utf8), count: 32))
    let text = try token { $0["nonce"] = .string(hashed) }
    #expect(await refusal { try await signIn(world, text) } == .missingOrInvalidNonce)
    #expect(await refusal { try await signIn(world, text, nonce: "other") } == .missingOrInvalidNonce)
    // A thief of the token can read the claim in it: that is no proof.
    #expect(await refusal { try await signIn(world, text, nonce: hashed) } == .missingOrInvalidNonce)
    #expect(await refusal { try await signIn(world, token(), nonce: "raw") } == .missingOrInvalidNonce)
    let plain = try token { $0["nonce"] = "raw" }
    #expect(await refusal { try await signIn(world, plain, nonce: "raw") } == .missingOrInvalidNonce)
    _ = try await signIn(world, text, nonce: "raw")
  }

  @Test func `without keys only development mode accepts a credential`() async throws {
    let json = #"{"sub":"1","email":"ada@example.com","email_verified":true}"#
    let credential = IdpCredential(providerID: "github.com", accessToken: json)
    let request = IdpSignInRequest(credential: credential)
    let strict = World()
    #expect(
      await refusal { try await strict.engine.signInWithIdp(request, context: strict.context) } == .operationNotAllowed)
    let loose = World { $0.isDevelopment = true }
    #expect(try await loose.engine.signInWithIdp(request, context: loose.context).isNewUser)
    for providerID in ["", "password", "phone", "anonymous"] {
      let request = IdpSignInRequest(credential: IdpCredential(providerID: providerID, idToken: json))
      #expect(
        await refusal { try await loose.engine.signInWithIdp(request, context: loose.context) } == .invalidProviderID)
    }
  }

  @Test func `a verified address takes an unverified account over`() async throws {
    let world = try world()
    let made = try await world.signUp()
    world.pass(seconds: 1)
    let signedIn = try await signIn(world, try token())
    #expect(!signedIn.isNewUser && signedIn.localID == made.localID)
    let user = try await world.lookup(try #require(signedIn.outcome?.tokens))
    #expect(user.emailVerified && !user.hasPassword && user.providerUserInfo.map(\.providerID) == ["google.com"])
    #expect(await refusal { try await world.refresh(made.tokens) } == .tokenExpired)
    #expect(await refusal { try await world.signIn() } == .invalidLoginCredentials)
  }

  @Test func `a verified address joins a verified account`() async throws {
    let world = try world()
    let tokens = try await world.verifiedAccount()
    let signedIn = try await signIn(world, try token())
    let user = try await world.lookup(try #require(signedIn.outcome?.tokens))
    #expect(user.hasPassword && user.providerUserInfo.map(\.providerID) == ["google.com", "password"])
    _ = try await world.refresh(tokens)
  }

  @Test func `an unverified address has to be confirmed`() async throws {
    let world = try world()
    try await world.signUp()
    let before = try await world.contents()
    let response = try await signIn(world, try token(isVerified: false))
    #expect(response.needsConfirmation && response.outcome == nil && response.localID == nil)
    #expect(try await world.contents() == before)
  }

  @Test func `linking adds the provider and its address`() async throws {
    let world = try world()
    let anonymous = try await world.engine.signUp(SignUpRequest(), context: world.context)
    let linked = try await signIn(world, try token(), linkTo: anonymous.tokens.idToken)
    #expect(linked.localID == anonymous.localID && !linked.isNewUser)
    let user = try await world.lookup(try #require(linked.outcome?.tokens))
    #expect(user.email == "ada@example.com" && user.providerUserInfo.map(\.providerID) == ["google.com"])
  }

  @Test func `a provider's user belongs to one account`() async throws {
    let world = try world()
    _ = try await signIn(world, try token())
    let anonymous = try await world.engine.signUp(SignUpRequest(), context: world.context)
    let before = try await world.contents()
    #expect(
      await refusal { try await signIn(world, try token(), linkTo: anonymous.tokens.idToken) }
        == .federatedUserIDAlreadyLinked)
    let told = try await signIn(world, try token(), linkTo: anonymous.tokens.idToken, returns: true)
    #expect(told.errorMessage == "FEDERATED_USER_ID_ALREADY_LINKED" && told.outcome == nil && told.oauthIDToken != nil)
    #expect(
      await refusal { try await signIn(world, try token("2"), linkTo: anonymous.tokens.idToken) } == .emailExists)
    #expect(await refusal { try await signIn(world, try token("3", email: nil), creates: false) } == .userNotFound)
    #expect(try await world.contents() == before)
  }

  @Test func `the link of a disabled caller is refused, and no answer about the provider`() async throws {
    let world = try world()
    let made = try await world.engine.signUp(SignUpRequest(), context: world.context)
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: made.localID, disabled: true), context: .owner)
    for returns in [true, false] {
      #expect(
        await refusal { try await signIn(world, try token(), linkTo: made.tokens.idToken, returns: returns) }
          == .userDisabled)
    }
  }

  @Test func `where addresses may be shared accounts stay apart`() async throws {
    let world = try world()
    var config = try await world.engine.administration.projectConfig(context: .owner)
    config.allowsDuplicateEmails = true
    try await world.engine.administration.setProjectConfig(config, context: .owner)
    let made = try await world.signUp()
    let signedIn = try await signIn(world, try token())
    #expect(signedIn.isNewUser && signedIn.localID != made.localID)
    let user = try await world.lookup(try #require(signedIn.outcome?.tokens))
    #expect(user.email == nil && user.providerUserInfo.first?.email == "ada@example.com")
    try await world.signIn()
  }
}
