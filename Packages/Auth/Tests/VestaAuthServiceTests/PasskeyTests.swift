import Testing
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaBytes
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaStoreInterop

@testable import VestaAuthService

extension VirtualAuthenticator {
  /// An authenticator whose key the fake crypto can verify.
  static func fake(_ number: UInt8 = 1) -> VirtualAuthenticator {
    let modulus = [UInt8](repeating: number, count: 16)
    let key = FakeKey(secret: Hex.encode(modulus), keyID: "")
    var authenticator = VirtualAuthenticator(publicKey: .rsa(n: modulus, e: [1, 0, 1])) {
      try key.signature(for: $0)
    }
    authenticator.credentialID = [UInt8](repeating: number, count: 32)
    return authenticator
  }
}

@Suite struct PasskeyTests {
  private func start(_ world: World, _ tokens: AuthTokens) async throws -> PasskeyCreationOptions {
    try await world.engine.startPasskeyEnrollment(
      StartPasskeyEnrollmentRequest(idToken: tokens.idToken), context: world.context)
  }

  private func finish(
    _ world: World, _ tokens: AuthTokens, _ registration: FinalizePasskeyEnrollmentRequest.Registration?,
    name: String? = nil
  ) async throws -> FinalizePasskeyEnrollmentResponse {
    try await world.engine.finalizePasskeyEnrollment(
      FinalizePasskeyEnrollmentRequest(idToken: tokens.idToken, name: name, registration: registration),
      context: world.context)
  }

  private func enroll(
    _ world: World, _ tokens: AuthTokens, _ authenticator: VirtualAuthenticator = .fake()
  ) async throws -> FinalizePasskeyEnrollmentResponse {
    try await finish(world, tokens, authenticator.registration(for: try await start(world, tokens)), name: "phone")
  }

  private func options(_ world: World) async throws -> PasskeyRequestOptions {
    try await world.engine.startPasskeySignIn(context: world.context)
  }

  private func signIn(
    _ world: World, _ assertion: FinalizePasskeySignInRequest.Assertion?
  ) async throws -> FinalizePasskeySignInResponse {
    try await world.engine.finalizePasskeySignIn(
      FinalizePasskeySignInRequest(assertion: assertion), context: world.context)
  }

  private func signIn(
    _ world: World, with authenticator: VirtualAuthenticator = .fake()
  ) async throws -> FinalizePasskeySignInResponse {
    try await signIn(world, try authenticator.assertion(for: try await options(world)))
  }

  @Test func `a passkey signs in to its account`() async throws {
    let world = World()
    let made = try await world.signUp()
    let started = try await start(world, made.tokens)
    #expect(started.relyingPartyID == "localhost" && started.userID == Array(made.localID.utf8))
    #expect(started.userName == "ada@example.com" && started.challenge.count == 33)
    let enrolled = try await finish(
      world, made.tokens, VirtualAuthenticator.fake().registration(for: started), name: "phone")
    #expect(enrolled.localID == made.localID)
    #expect(try await world.lookup(made.tokens).passkeys.map(\.name) == ["phone"], "the session goes on")
    world.pass(seconds: 100)
    let signedIn = try await signIn(world)
    let tokens = try #require(signedIn.outcome.tokens)
    #expect(signedIn.localID == made.localID)
    let claims = try world.claims(tokens)
    #expect(claims["firebase"]?.object?["sign_in_provider"] == "passkey")
    #expect(claims["auth_time"]?.integer == world.now / 1000)
    let next = try await start(world, tokens)
    #expect(next.excludedCredentialIDs == [VirtualAuthenticator.fake().id])
  }

  @Test func `an answer is good once, for its challenge and in its time`() async throws {
    let world = World()
    let made = try await world.signUp()
    let registration = VirtualAuthenticator.fake().registration(for: try await start(world, made.tokens))
    _ = try await finish(world, made.tokens, registration)
    let assertion = try VirtualAuthenticator.fake().assertion(for: try await options(world))
    _ = try await signIn(world, assertion)
    #expect(await refusal { try await signIn(world, assertion) } == .invalidAuthenticatorResponse)
    let late = try VirtualAuthenticator.fake().assertion(for: try await options(world))
    world.pass(seconds: 301)
    #expect(await refusal { try await signIn(world, late) } == .invalidAuthenticatorResponse)
    // A challenge of an enrolment is of no use for a sign-in, nor one of a sign-in for an enrolment.
    let other = try await world.signUp("eve@example.com")
    let enrolling = try await start(world, other.tokens).challenge
    let swapped = PasskeyRequestOptions(relyingPartyID: "localhost", challenge: enrolling)
    let wrong = try VirtualAuthenticator.fake().assertion(for: swapped)
    #expect(await refusal { try await signIn(world, wrong) } == .invalidAuthenticatorResponse)
    var creation = try await start(world, other.tokens)
    creation.challenge = try await options(world).challenge
    let second = VirtualAuthenticator.fake(2).registration(for: creation)
    #expect(await refusal { try await finish(world, other.tokens, second) } == .invalidAuthenticatorResponse)
  }

  @Test func `the challenge of an enrolment is that of one session's account`() async throws {
    let world = World()
    let (ada, eve) = (try await world.signUp(), try await world.signUp("eve@example.com"))
    let registration = VirtualAuthenticator.fake().registration(for: try await start(world, ada.tokens))
    #expect(await refusal { try await finish(world, eve.tokens, registration) } == .invalidAuthenticatorResponse)
    _ = try await finish(world, ada.tokens, registration)
    #expect(try await signIn(world).localID == ada.localID)
  }

  /// The mistakes of pages, apps and authenticators.
  private static let mistakes: [@Sendable (inout VirtualAuthenticator) -> Void] = [
    { $0.origin = "https://localhost.example.com" }, { $0.origin = "http://example.com" },
    { $0.origin = "https://notlocalhost" }, { $0.origin = "localhost" },
    { $0.relyingPartyID = "example.com" }, { $0.isUserPresent = false },
    { $0.signedChallenge = { [$0[0] ^ 1] + $0.dropFirst() } }, { $0.signedChallenge = { $0.dropLast() } },
  ]

  @Test(arguments: mistakes.indices)
  func `an answer with a mistake neither adds a passkey nor signs in`(number: Int) async throws {
    let world = World()
    let made = try await world.signUp()
    var wrong = VirtualAuthenticator.fake()
    Self.mistakes[number](&wrong)
    let refused = wrong
    #expect(await refusal { try await enroll(world, made.tokens, refused) } == .invalidAuthenticatorResponse)
    #expect(try await world.lookup(made.tokens).passkeys.isEmpty)
    _ = try await enroll(world, made.tokens)
    #expect(await refusal { try await signIn(world, with: refused) } == .invalidAuthenticatorResponse)
    _ = try await signIn(world)
  }

  @Test func `a signature has to be that of the passkey, over what was seen`() async throws {
    let world = World()
    let made = try await world.signUp()
    _ = try await enroll(world, made.tokens)
    var thief = VirtualAuthenticator.fake(2)
    thief.credentialID = VirtualAuthenticator.fake().credentialID
    let forged = thief
    #expect(await refusal { try await signIn(world, with: forged) } == .invalidAuthenticatorResponse)
    let good = try VirtualAuthenticator.fake().assertion(for: try await options(world))
    for change in [
      { $0.signature?[0] ^= 1 }, { $0.signature = nil }, { $0.signature = [] }, { $0.clientData = nil },
      { $0.clientData?.append(0x20) }, { $0.authenticatorData?[36] ^= 1 }, { $0.authenticatorData = nil },
      { $0.userHandle = Array("another".utf8) },
    ] as [(inout FinalizePasskeySignInRequest.Assertion) -> Void] {
      var changed = good
      change(&changed)
      let assertion = changed
      #expect(await refusal { try await signIn(world, assertion) } == .invalidAuthenticatorResponse)
    }
    var named = good
    named.userHandle = Array(made.localID.utf8)
    #expect(try await signIn(world, named).localID == made.localID, "a refusal leaves the challenge as it is")
  }

  @Test func `letters of the challenge and of the account are taken as Apple's SDK has them signed`() async throws {
    let world = World()
    let made = try await world.signUp()
    var apple = VirtualAuthenticator.fake()
    apple.signedChallenge = { Array(Base64.url.encode($0).utf8) }
    _ = try await enroll(world, made.tokens, apple)
    let handle = Array(Base64.url.encode(Array(made.localID.utf8)).utf8)
    let assertion = try apple.assertion(for: try await options(world), userHandle: handle)
    #expect(try await signIn(world, assertion).localID == made.localID)
  }

  @Test func `a passkey that counts is refused when its count does not grow`() async throws {
    let world = World()
    let made = try await world.signUp()
    var counting = VirtualAuthenticator.fake()
    counting.signCount = 5
    _ = try await enroll(world, made.tokens, counting)
    for (count, isRefused) in [(5, true), (0, true), (6, false), (6, true), (4, true), (9, false)] as [(UInt32, Bool)] {
      counting.signCount = count
      let authenticator = counting
      let code = await refusal { try await signIn(world, with: authenticator) }
      #expect(code == (isRefused ? .invalidAuthenticatorResponse : nil), "\(count)")
    }
  }

  @Test func `a passkey belongs to one account, in whichever letters its id is written`() async throws {
    let world = World()
    let (ada, eve) = (try await world.signUp(), try await world.signUp("eve@example.com"))
    var authenticator = VirtualAuthenticator.fake()
    authenticator.credentialID = [0xFB, 0xEF, 0xFF, 0xFE]
    _ = try await enroll(world, ada.tokens, authenticator)
    let copy = authenticator
    #expect(await refusal { try await enroll(world, eve.tokens, copy) } == .credentialAlreadyInUse)
    #expect(await refusal { try await enroll(world, ada.tokens, copy) } == .credentialAlreadyInUse)
    var assertion = try authenticator.assertion(for: try await options(world))
    assertion.credentialID = Base64.standard.encode(authenticator.credentialID)
    let written = assertion
    #expect(try await signIn(world, written).localID == ada.localID)
    try await world.engine.delete(DeleteRequest(idToken: ada.tokens.idToken), context: world.context)
    #expect(await refusal { try await signIn(world, with: copy) } == .passkeyCredentialNotFound)
    _ = try await enroll(world, eve.tokens, authenticator)
  }

  @Test func `missing and overlong members have their names`() async throws {
    let world = World()
    let made = try await world.signUp()
    let nobody = AuthTokens(idToken: "", refreshToken: "", expiresIn: 0)
    let bare = FinalizePasskeyEnrollmentRequest.Registration(credentialID: "id")
    #expect(await refusal { try await start(world, nobody) } == .missingIDToken)
    #expect(await refusal { try await finish(world, nobody, bare) } == .missingIDToken)
    let unknown = AuthTokens(idToken: "token", refreshToken: "", expiresIn: 0)
    #expect(await refusal { try await finish(world, unknown, nil) } == .missingAuthenticatorResponse)
    #expect(await refusal { try await finish(world, unknown, bare) } == .invalidIDToken)
    #expect(await refusal { try await finish(world, made.tokens, bare) } == .invalidAuthenticatorResponse)
    #expect(await refusal { try await signIn(world, nil) } == .missingAuthenticatorResponse)
    for id in ["", String(repeating: "a", count: 1_365)] {
      let registration = FinalizePasskeyEnrollmentRequest.Registration(credentialID: id)
      #expect(await refusal { try await finish(world, made.tokens, registration) } == .invalidCredentialID)
      #expect(await refusal { try await signIn(world, .init(credentialID: id)) } == .invalidCredentialID)
    }
    #expect(await refusal { try await signIn(world, .init(credentialID: "id")) } == .passkeyCredentialNotFound)
  }

  @Test func `passkeys are limited, need a recent sign-in, and can be removed`() async throws {
    let world = World { $0.passkeyLimit = 2 }
    let made = try await world.signUp()
    for number in 1...2 as ClosedRange<UInt8> { _ = try await enroll(world, made.tokens, .fake(number)) }
    #expect(await refusal { try await enroll(world, made.tokens, .fake(3)) } == .operationNotAllowed)
    let ids = try await world.lookup(made.tokens).passkeys.map(\.credentialID)
    let removal = UpdateRequest(idToken: made.tokens.idToken, deletePasskeys: [ids[0], "unknown"])
    _ = try await world.engine.update(removal, context: world.context)
    #expect(try await world.lookup(made.tokens).passkeys.map(\.credentialID) == [ids[1]])
    #expect(await refusal { try await signIn(world) } == .passkeyCredentialNotFound)
    let owner = CallContext(caller: .owner)
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: made.localID, deletePasskeys: [ids[1]]), context: owner)
    #expect(try await world.lookup(made.tokens).passkeys.isEmpty)
    world.pass(seconds: 301)
    #expect(await refusal { try await start(world, made.tokens) } == .credentialTooOld)
    #expect(
      await refusal { try await world.engine.update(removal, context: world.context) } == .credentialTooOld)
  }

  @Test func `an account that its owner takes back has no passkeys of others`() async throws {
    let world = World()
    let thief = try await world.signUp()
    _ = try await enroll(world, thief.tokens)
    _ = try await world.signInByLink()
    #expect(await refusal { try await signIn(world) } == .passkeyCredentialNotFound)
    let owner = try #require(try await world.signInByLink().outcome.tokens)
    _ = try await enroll(world, owner)
    try await world.send(.passwordReset)
    try await world.reset(try world.emailedCode(.passwordReset), "another horse")
    #expect(await refusal { try await signIn(world) } == .passkeyCredentialNotFound)
  }

  @Test func `a second factor follows a passkey, and a disabled account stays closed`() async throws {
    let world = World()
    let made = try await world.verifiedAccount()
    _ = try await enroll(world, made)
    let (owner, id) = (CallContext(caller: .owner), try await world.lookup(made).localID)
    let admin = world.engine.administration
    _ = try await admin.updateUser(
      AdminUpdateRequest(localID: id, mfaFactors: [NewMfaEnrollment(phoneNumber: "+15550000001")]), context: owner)
    let signedIn = try await signIn(world)
    #expect(signedIn.outcome.tokens == nil && signedIn.outcome.pending?.factors.count == 1)
    #expect(await refusal { try await start(world, made) } != nil, "a session without the factor adds no way in")
    _ = try await admin.updateUser(AdminUpdateRequest(localID: id, disabled: true), context: owner)
    #expect(await refusal { try await signIn(world) } == .userDisabled)
  }

  @Test func `an anonymous account with a passkey is one that can sign in again`() async throws {
    let world = World()
    let anonymous = try await world.engine.signUp(SignUpRequest(), context: world.context)
    let enrolled = try await enroll(world, anonymous.tokens)
    #expect(try world.claims(enrolled.tokens)["provider_id"] == nil)
    #expect(try await signIn(world).localID == anonymous.localID)
  }

  @Test func `a tenant has its own passkeys, which end with it`() async throws {
    let world = World { $0.isDevelopment = true }
    let context = CallContext(tenantID: "corp")
    let made = try await world.engine.signUp(
      SignUpRequest(email: "ada@example.com", password: "correct horse"), context: context)
    let registration = FinalizePasskeyEnrollmentRequest.Registration(credentialID: "key")
    let request = FinalizePasskeyEnrollmentRequest(idToken: made.tokens.idToken, registration: registration)
    _ = try await world.engine.finalizePasskeyEnrollment(request, context: context)
    #expect(await refusal { try await signIn(world, .init(credentialID: "key")) } == .passkeyCredentialNotFound)
    let assertion = FinalizePasskeySignInRequest(assertion: .init(credentialID: "key"))
    #expect(try await world.engine.finalizePasskeySignIn(assertion, context: context).localID == made.localID)
    try await world.engine.administration.deleteTenant(id: "corp", context: CallContext(caller: .owner))
    #expect(
      try await world.contents().allSatisfy { $0.key.first != Keys.Table.passkey.rawValue }, "rows are left behind")
  }

  @Test func `in development the id of a passkey is enough, and elsewhere it is not`() async throws {
    let local = World { $0.isDevelopment = true }
    let made = try await local.signUp()
    _ = try await finish(local, made.tokens, .init(credentialID: "key"))
    #expect(try await local.lookup(made.tokens).passkeys.map(\.name) == ["Unnamed Passkey"])
    #expect(try await signIn(local, .init(credentialID: "key")).localID == made.localID)
    // The same accounts behind a service that verifies.
    let served = AuthEngine(projectID: "demo", options: World().options, crypto: local.crypto) { local.store }
    let request = FinalizePasskeySignInRequest(assertion: .init(credentialID: "key"))
    #expect(
      await refusal { try await served.finalizePasskeySignIn(request, context: local.context) }
        == .invalidAuthenticatorResponse)
  }

  @Test func `64 sign-ins at once with one answer open one session`() async throws {
    let world = World()
    let made = try await world.signUp()
    _ = try await enroll(world, made.tokens)
    let assertion = try VirtualAuthenticator.fake().assertion(for: try await options(world))
    let results = await atOnce(64) { _ in try await signIn(world, assertion) }
    #expect(results.filter { (try? $0.get()) != nil }.count == 1)
  }
}
