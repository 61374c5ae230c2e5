import Testing
import VestaAuthBackend
import VestaCryptoInterop
import VestaServiceInterop
import VestaStoreInterop

@testable import VestaAuthService

/// Access to an account, and the sessions and codes that end with a change of its owner or of a proof of ownership.
@Suite struct OwnershipTests {
  // MARK: Tenants

  @Test func `a custom token without a tenant signs in to no tenant that the caller names`() async throws {
    let world = World()
    let tenant = try await world.engine.administration.createTenant(
      CreateTenantRequest(displayName: "Corp"), context: .owner)
    let corp = CallContext(caller: .owner, tenantID: tenant.tenantID)
    _ = try await world.engine.administration.createUser(
      CreateUserRequest(localID: "alice", email: "boss@corp.com"), context: corp)
    let token = try await world.engine.administration.createCustomToken(
      CreateCustomTokenRequest(localID: "alice"), context: .owner)
    let request = CustomTokenSignInRequest(token: token)
    #expect(await refusal { try await world.engine.signInWithCustomToken(request, context: corp) } == .tenantIDMismatch)
    #expect(try await world.engine.signInWithCustomToken(request, context: world.context).isNewUser)
    let own = try await world.engine.administration.createCustomToken(
      CreateCustomTokenRequest(localID: "alice"), context: corp)
    let response = try await world.engine.signInWithCustomToken(CustomTokenSignInRequest(token: own), context: corp)
    #expect(!response.isNewUser && response.localID == "alice")
  }

  // MARK: Proof of a mailbox

  /// The ways in which the owner of a mailbox shows himself.
  enum Proof: CaseIterable { case emailLink, passwordReset, identityProvider }

  private func prove(_ proof: Proof, in world: World) async throws {
    switch proof {
    case .emailLink: try await world.signInByLink()
    case .passwordReset:
      try await world.send(.passwordReset)
      try await world.reset(try world.emailedCode(.passwordReset), "the owner's own")
    case .identityProvider:
      let claims = #"{"sub":"owner","email":"ada@example.com","email_verified":true}"#
      let credential = IdpCredential(providerID: "google.com", idToken: claims)
      _ = try await world.engine.signInWithIdp(IdpSignInRequest(credential: credential), context: world.context)
    }
  }

  @Test(arguments: Proof.allCases)
  func `the owner of a mailbox keeps nothing that a user without it has set up`(proof: Proof) async throws {
    let world = World { $0.isDevelopment = true }
    let (uid, tokens) = try await world.signInByPhone("+15550000001")
    let github = IdpCredential(providerID: "github.com", idToken: #"{"sub":"thief"}"#)
    let linked = try await world.engine.signInWithIdp(
      IdpSignInRequest(credential: github, idToken: tokens.idToken), context: world.context)
    let linkedTokens = try #require(linked.outcome?.tokens)
    let changed = try await world.engine.update(
      UpdateRequest(idToken: linkedTokens.idToken, email: "ada@example.com", password: "the thief's"),
      context: world.context)
    let thief = try #require(changed.tokens)
    try await world.send(.passwordReset)
    let oldCode = try world.emailedCode(.passwordReset)
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: uid, mfaFactors: [.init(phoneNumber: "+15550000002")]), context: .owner)

    try await prove(proof, in: world)

    let user = try await world.record(uid)
    #expect(user.emailVerified && user.phoneNumber == nil && user.factors.isEmpty && user.initialEmail == nil)
    #expect(!user.providers.contains { $0.providerID == "github.com" })
    #expect(try await world.signInByPhone("+15550000001").uid != uid)
    let again = try await world.engine.signInWithIdp(IdpSignInRequest(credential: github), context: world.context)
    #expect(again.localID != uid)
    #expect(await refusal { try await world.signIn("ada@example.com", "the thief's") } == .invalidLoginCredentials)
    #expect(await refusal { try await world.refresh(thief) } == .tokenExpired)
    #expect(await refusal { try await world.lookup(thief) } == .tokenExpired)
    #expect(await refusal { try await world.reset(oldCode, "once more mine") } == .invalidOobCode)
  }

  @Test func `a password reset of a proven mailbox takes the phone away and keeps the second factors`() async throws {
    let world = World()
    let made = try await world.verifiedAccount()
    let uid = try await world.lookup(made).localID
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(
        localID: uid, phoneNumber: "+15550000001", mfaFactors: [.init(phoneNumber: "+15550000002")]),
      context: .owner)
    try await world.send(.passwordReset)
    try await world.reset(try world.emailedCode(.passwordReset), "another horse")
    let user = try await world.record(uid)
    #expect(user.phoneNumber == nil && user.factors.count == 1)
  }

  @Test(arguments: [false, true])
  func `a thief who was signed in for a while keeps no way in after a reset, also of a recovered address`(
    _ changesAddress: Bool
  ) async throws {
    let world = World()
    let uid = try await world.lookup(try await world.verifiedAccount()).localID
    var thief = try #require(try await world.signIn().outcome.tokens)
    (_, thief) = try await world.signInByPhone("+15550000001", linkTo: thief.idToken)
    let google = ProviderUserInfo(providerID: "google.com", rawID: "thief")
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: uid, linkProvider: google), context: .owner)
    if changesAddress {
      try await world.send(.verifyAndChangeEmail, newEmail: "thief@x.com", idToken: thief.idToken)
      _ = try await world.apply(try world.emailedCode(.verifyAndChangeEmail, to: "thief@x.com"))
      _ = try await world.apply(try world.emailedCode(.recoverEmail))
      // Until the owner sets a password there is none.
      #expect(await refusal { try await world.signIn() } == .invalidLoginCredentials)
      #expect(try await world.record(uid).phoneNumber == nil)
    }
    try await world.send(.passwordReset)
    try await world.reset(try world.emailedCode(.passwordReset), "the owner's own")
    #expect(try await world.signInByPhone("+15550000001").uid != uid)
    #expect(try await world.record(uid).providers.isEmpty)
    #expect(await refusal { try await world.signIn() } == .invalidLoginCredentials)
    #expect(await refusal { try await world.refresh(thief) } != nil)
    #expect(try await world.signIn("ada@example.com", "the owner's own").localID == uid)
  }

  @Test func `the owner of the mailbox takes a second factor away that a thief has added`() async throws {
    let world = World()
    let tokens = try await world.verifiedAccount()
    let uid = try await world.lookup(tokens).localID
    #expect(!world.sender.recordedEmails.contains { $0.requestType == .revertSecondFactorAddition })
    let started = try await world.engine.startMfaEnrollment(
      StartMfaEnrollmentRequest(idToken: tokens.idToken, factor: .phone(number: "+15550000003")), context: world.context
    )
    guard case .phone(let session) = started else { throw AuthServiceError(.internalError, "not a phone") }
    _ = try await world.engine.finalizeMfaEnrollment(
      FinalizeMfaEnrollmentRequest(
        idToken: tokens.idToken, proof: .phone(sessionInfo: session, code: try world.textedCode(session))),
      context: world.context)
    let code = try world.emailedCode(.revertSecondFactorAddition)
    // The thief changes the password and ends the owner's sessions: the code is good all the same.
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: uid, password: "the thief's"), context: .owner)
    let info = try await world.engine.resetPassword(ResetPasswordRequest(oobCode: code), context: world.context)
    #expect(info.requestType == .revertSecondFactorAddition && info.email == "ada@example.com")
    // The page behind the link shows which factor is removed, and not its number.
    #expect(info.mfaInfo?.mfaEnrollmentID == (try await world.record(uid).factors.first?.id))
    guard case .phone(let number)? = info.mfaInfo?.factor else { throw AuthServiceError(.internalError, "no phone") }
    #expect(number.hasSuffix("0003") && number != "+15550000003")
    _ = try await world.apply(code)
    #expect(try await world.record(uid).factors.isEmpty)
    #expect(await refusal { try await world.apply(code) } == .invalidOobCode)
    try await world.send(.passwordReset)
    try await world.reset(try world.emailedCode(.passwordReset), "the owner's own")
    #expect(try await world.signIn("ada@example.com", "the owner's own").localID == uid)
  }

  // MARK: Recent sign-in

  /// Calls that add or remove a way to sign in, or a second factor.
  enum Change: CaseIterable { case emailLink, phone, provider, password, unlink, startFactor, finishFactor, withdraw }

  private func perform(_ change: Change, _ token: String, in world: World) async throws {
    let (engine, context) = (world.engine, world.context)
    switch change {
    case .emailLink: try await world.signInByLink("ada@example.com", linkTo: token)
    case .phone: try await world.signInByPhone("+15550000009", linkTo: token)
    case .provider:
      let credential = IdpCredential(providerID: "google.com", idToken: #"{"sub":"thief"}"#)
      _ = try await engine.signInWithIdp(IdpSignInRequest(credential: credential, idToken: token), context: context)
    case .password:
      let request = SignUpRequest(email: "ada@example.com", password: "the thief's", idToken: token)
      _ = try await engine.signUp(request, context: context)
    case .unlink:
      _ = try await engine.update(UpdateRequest(idToken: token, deleteProviders: ["phone"]), context: context)
    case .startFactor:
      let request = StartMfaEnrollmentRequest(idToken: token, factor: .totp)
      _ = try await engine.startMfaEnrollment(request, context: context)
    case .finishFactor:
      let proof = FinalizeMfaEnrollmentRequest.Proof.totp(sessionInfo: "x", code: "000000")
      _ = try await engine.finalizeMfaEnrollment(
        FinalizeMfaEnrollmentRequest(idToken: token, proof: proof), context: context)
    case .withdraw:
      let request = WithdrawMfaEnrollmentRequest(idToken: token, mfaEnrollmentID: "factor")
      _ = try await engine.withdrawMfaEnrollment(request, context: context)
    }
  }

  @Test(arguments: Change.allCases)
  func `a way to sign in changes only after a recent sign-in`(change: Change) async throws {
    let world = World { $0.isDevelopment = true }
    let made = try await world.verifiedAccount()
    let uid = try await world.lookup(made).localID
    if change == .withdraw {
      _ = try await world.engine.administration.updateUser(
        AdminUpdateRequest(
          localID: uid, mfaFactors: [.init(mfaEnrollmentID: "factor", phoneNumber: "+15550000002")]),
        context: .owner)
    }
    world.pass(seconds: world.options.recentSignInWindow.seconds + 1)
    let token = try await world.refresh(made).tokens.idToken
    let before = try await world.record(uid)
    #expect(await refusal { try await perform(change, token, in: world) } == .credentialTooOld)
    var after = try await world.record(uid)
    after.lastRefreshAt = before.lastRefreshAt
    #expect(after == before)
  }

  @Test(arguments: [Change.emailLink, .phone, .provider, .password])
  func `linking keeps the time of the sign-in`(change: Change) async throws {
    let world = World { $0.isDevelopment = true }
    let made = try await world.engine.signUp(SignUpRequest(), context: world.context).tokens
    let uid = try await world.lookup(made).localID
    world.pass(seconds: 3000)
    try await perform(change, made.idToken, in: world)
    let sessions = try await world.store.read { try await $0.entries(in: Keys.sessions("", uid)) }
    let times = try sessions.map { try RecordCodec.decode(SessionRecord.self, from: $0.value).facts.authTime }
    #expect(times == [World.start / 1000, World.start / 1000])
  }

  @Test(arguments: [Change.emailLink, .provider, .password])
  func `linking ends the other sessions of an account where it sets a password`(change: Change) async throws {
    let world = World { $0.isDevelopment = true }
    let (_, own) = try await world.signInByPhone("+15550000001")
    let (_, other) = try await world.signInByPhone("+15550000001")
    try await perform(change, own.idToken, in: world)
    #expect(await refusal { try await world.lookup(other) } == (change == .password ? .tokenExpired : nil))
    #expect(await refusal { try await world.refresh(other) } == (change == .password ? .tokenExpired : nil))
  }

  @Test func `a second factor is not removed by a session that passed none`() async throws {
    let world = World()
    let made = try await world.verifiedAccount()
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(
        localID: try await world.lookup(made).localID,
        mfaFactors: [.init(mfaEnrollmentID: "factor", phoneNumber: "+15550000002")]),
      context: .owner)
    #expect(await refusal { try await perform(.withdraw, made.idToken, in: world) } == .credentialTooOld)
  }

  @Test func `an e-mail link cannot replace a proven address where changes must be verified first`() async throws {
    let world = World()
    let made = try await world.verifiedAccount()
    #expect(
      await refusal { try await world.signInByLink("evil@x.com", linkTo: made.idToken) } == .operationNotAllowed)
    #expect(try await world.lookup(made).email == "ada@example.com")
  }

  @Test func `an e-mail link that replaces an address ends sessions and notifies the old mailbox`() async throws {
    let world = World { $0.initialConfig.hidesEmails = false }
    let made = try await world.verifiedAccount()
    try await world.signInByLink("evil@x.com", linkTo: made.idToken)
    #expect(await refusal { try await world.lookup(made) } == .tokenExpired)
    let back = try await world.apply(try world.emailedCode(.recoverEmail))
    #expect(back.email == "ada@example.com" && back.emailVerified)
  }

  // MARK: Recovery of an address

  @Test func `an address that was changed twice can still be taken back by its first owner`() async throws {
    let world = World { $0.initialConfig.hidesEmails = false }
    let made = try await world.verifiedAccount()
    let first = try await world.engine.update(
      UpdateRequest(idToken: made.idToken, email: "b@x.com"), context: world.context)
    let second = try await world.engine.update(
      UpdateRequest(idToken: try #require(first.tokens).idToken, email: "c@x.com"), context: world.context)
    let codes = (try world.emailedCode(.recoverEmail), try world.emailedCode(.recoverEmail, to: "b@x.com"))
    let back = try await world.apply(codes.0)
    #expect(back.email == "ada@example.com")
    #expect(await refusal { try await world.lookup(try #require(second.tokens)) } == .tokenExpired)
    #expect(await refusal { try await world.apply(codes.1) } == .invalidOobCode)
    #expect(try await world.record(back.localID).initialEmail == nil)
  }

  @Test func `a later owner who takes an address back first does not shut the first one out`() async throws {
    let world = World { $0.initialConfig.hidesEmails = false }
    let made = try await world.verifiedAccount()
    let first = try await world.engine.update(
      UpdateRequest(idToken: made.idToken, email: "b@x.com"), context: world.context)
    _ = try await world.engine.update(
      UpdateRequest(idToken: try #require(first.tokens).idToken, email: "c@x.com"), context: world.context)
    #expect(try await world.apply(try world.emailedCode(.recoverEmail, to: "b@x.com")).email == "b@x.com")
    #expect(try await world.apply(try world.emailedCode(.recoverEmail)).email == "ada@example.com")
  }

  @Test func `an address that another account has for a while can be taken back later`() async throws {
    let world = World { $0.initialConfig.hidesEmails = false }
    let made = try await world.verifiedAccount()
    _ = try await world.engine.update(
      UpdateRequest(idToken: made.idToken, email: "b@x.com"), context: world.context)
    let other = try await world.signUp("ada@example.com"), code = try world.emailedCode(.recoverEmail)
    for _ in 0..<2 { #expect(await refusal { try await world.apply(code) } == .emailExists) }
    _ = try await world.engine.delete(DeleteRequest(idToken: other.tokens.idToken), context: world.context)
    #expect(try await world.apply(code).email == "ada@example.com")
    #expect(await refusal { try await world.apply(code) } == .invalidOobCode)
  }

  @Test func `an address that is removed can be taken back`() async throws {
    let world = World()
    let made = try await world.verifiedAccount()
    _ = try await world.engine.update(
      UpdateRequest(idToken: made.idToken, deleteAttributes: [.email]), context: world.context)
    #expect(try await world.apply(try world.emailedCode(.recoverEmail)).email == "ada@example.com")
  }

  @Test func `an earlier address does not reappear after another mailbox was proven`() async throws {
    let world = World { $0.initialConfig.hidesEmails = false }
    let made = try await world.signUp("evil@x.com")
    _ = try await world.engine.update(
      UpdateRequest(idToken: made.tokens.idToken, email: "ada@example.com"), context: world.context)
    try await world.signInByLink()
    let code = try world.emailedCode(.recoverEmail, to: "evil@x.com")
    #expect(await refusal { try await world.apply(code) } == .invalidOobCode)
    #expect(try await world.record(made.localID).email == "ada@example.com")
  }

  @Test func `a mailbox that was never proven takes its address back without the password of the account`() async throws
  {
    let world = World { $0.initialConfig.hidesEmails = false }
    let made = try await world.signUp()
    _ = try await world.engine.update(
      UpdateRequest(idToken: made.tokens.idToken, email: "evil@x.com"), context: world.context)
    _ = try await world.apply(try world.emailedCode(.recoverEmail))
    #expect(await refusal { try await world.signIn() } == .invalidPassword)
  }

  // MARK: One epoch

  @Test func `an account that is made again under the same id has none of the old tokens`() async throws {
    let world = World()
    let custom = try await world.engine.administration.createCustomToken(
      CreateCustomTokenRequest(localID: "bob"), context: .owner)
    let old = try await world.engine.signInWithCustomToken(
      CustomTokenSignInRequest(token: custom), context: world.context
    ).tokens
    let cookie = try await world.engine.administration.createSessionCookie(
      CreateSessionCookieRequest(idToken: old.idToken), context: .owner)
    try await world.engine.administration.deleteUser(localID: "bob", context: .owner)
    _ = try await world.engine.administration.createUser(CreateUserRequest(localID: "bob"), context: .owner)
    #expect(await refusal { try await world.lookup(old) } == .tokenExpired)
    let request = VerifyTokenRequest(token: cookie, checksRevocation: true)
    #expect(
      await refusal { try await world.engine.administration.verifySessionCookie(request, context: .owner) }
        == .tokenExpired)
  }

  @Test func `an import over an account brings no revoked token back`() async throws {
    let world = World()
    let made = try await world.signUp()
    let cookie = try await world.engine.administration.createSessionCookie(
      CreateSessionCookieRequest(idToken: made.tokens.idToken), context: .owner)
    try await world.engine.administration.revokeRefreshTokens(localID: made.localID, context: .owner)
    let entry = ImportedUser(localID: made.localID, email: "ada@example.com")
    _ = try await world.engine.administration.batchCreate(
      BatchCreateRequest(users: [entry], allowsOverwrite: true), context: .owner)
    let request = VerifyTokenRequest(token: cookie, checksRevocation: true)
    #expect(
      await refusal { try await world.engine.administration.verifySessionCookie(request, context: .owner) }
        == .tokenExpired)
    #expect(await refusal { try await world.lookup(made.tokens) } == .tokenExpired)
    #expect(await refusal { try await world.refresh(made.tokens) } != nil)
    #expect(try await world.record(made.localID).validSince == World.start / 1000)
  }

  @Test func `a pending sign-in ends with the password that began it`() async throws {
    let world = World()
    let made = try await world.verifiedAccount()
    let uid = try await world.lookup(made).localID
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(
        localID: uid, mfaFactors: [.init(mfaEnrollmentID: "factor", phoneNumber: "+15550000002")]),
      context: .owner)
    let pending = try #require(try await world.signIn().outcome.pending)
    let start = StartMfaSignInRequest(
      mfaPendingCredential: pending.mfaPendingCredential, mfaEnrollmentID: "factor")
    let session = try await world.engine.startMfaSignIn(start, context: world.context).sessionInfo
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: uid, password: "another horse"), context: .owner)
    let finish = FinalizeMfaSignInRequest(
      mfaPendingCredential: pending.mfaPendingCredential,
      proof: .phone(sessionInfo: session, code: try world.textedCode(session)))
    #expect(
      await refusal { try await world.engine.finalizeMfaSignIn(finish, context: world.context) }
        == .invalidMfaPendingCredential)
  }

  @Test func `a code to reset a password ends with the password`() async throws {
    let world = World()
    let made = try await world.verifiedAccount()
    try await world.send(.passwordReset)
    let first = try world.emailedCode(.passwordReset)
    try await world.send(.passwordReset)
    let second = try world.emailedCode(.passwordReset)
    try await world.reset(second, "second horse")
    #expect(await refusal { try await world.reset(first, "third horse") } == .invalidOobCode)
    try await world.send(.passwordReset)
    let third = try world.emailedCode(.passwordReset)
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: try uid(of: made, in: world), password: "changed horse"),
      context: .owner)
    #expect(await refusal { try await world.reset(third, "third horse") } == .invalidOobCode)
    try await world.signIn("ada@example.com", "changed horse")
  }

  private func uid(of tokens: AuthTokens, in world: World) throws -> String {
    try #require(try world.claims(tokens)["sub"]?.string)
  }

  @Test func `an ID token of the second in which the password changed is over`() async throws {
    let world = World()
    let made = try await world.signUp()
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: made.localID, password: "another horse"), context: .owner)
    #expect(await refusal { try await world.lookup(made.tokens) } == .tokenExpired)
  }

  @Test func `right second factors are no guesses`() async throws {
    let world = World { $0.accountGuesses = RateLimit(burst: 10, refillInterval: .milliseconds(60_000)) }
    let made = try await world.verifiedAccount()
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(
        localID: try uid(of: made, in: world),
        mfaFactors: [.init(mfaEnrollmentID: "factor", phoneNumber: "+15550000002")]),
      context: .owner)
    for _ in 0..<25 {
      let pending = try #require(try await world.signIn().outcome.pending)
      let start = StartMfaSignInRequest(
        mfaPendingCredential: pending.mfaPendingCredential, mfaEnrollmentID: "factor")
      let session = try await world.engine.startMfaSignIn(start, context: world.context).sessionInfo
      let finish = FinalizeMfaSignInRequest(
        mfaPendingCredential: pending.mfaPendingCredential,
        proof: .phone(sessionInfo: session, code: try world.textedCode(session)))
      _ = try await world.engine.finalizeMfaSignIn(finish, context: world.context)
    }
  }
}
