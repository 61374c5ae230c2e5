import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthBackendFakes
import VestaAuthRemote
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaAuthService

/// The remote backend, its endpoints and an engine as one service, on a network in memory.
@Suite(.timeLimit(.minutes(5))) struct RemoteTests {
  @Test(arguments: AuthContracts.all)
  func `an engine behind its endpoints keeps the contract`(contract: Contract<AuthSubject>) async throws {
    for hidesEmails in [true, false] {
      let served = try await Served.onFakeNetwork(hidesEmails: hidesEmails)
      try await contract.verify(served.subject)
      try await served.world.engine.close()
    }
  }

  @Test func `an owner's accounts are the engine's`() async throws {
    let served = try await Served.onFakeNetwork(isSuite: true)
    let (remote, engine) = (served.remote, served.world.engine)
    var request = CreateUserRequest(email: "ada@example.com", emailVerified: true, displayName: "Ada")
    request.mfaFactors = [NewMfaEnrollment(phoneNumber: "+15550000007")]
    let made = try await remote.administration.createUser(request, context: .owner)
    let named = GetUsersRequest(localIDs: [made.localID])
    #expect(try await engine.administration.getUsers(named, context: .owner).users == [made])
    #expect(try await remote.administration.getUsers(named, context: .owner).users == [made])
    let changed = try await remote.administration.updateUser(
      AdminUpdateRequest(localID: made.localID, disabled: true, customAttributes: #"{"a":1}"#), context: .owner)
    #expect(changed.disabled && changed.customAttributes == #"{"a":1}"#)
    #expect(try await engine.administration.getUsers(named, context: .owner).users == [changed])
    let page = try await remote.administration.batchGet(BatchGetRequest(maxResults: 10), context: .owner)
    #expect(page.users.map(\.localID) == [made.localID])
    #expect(try await remote.administration.queryUsers(QueryUsersRequest(), context: .owner).count == 1)
    try await remote.administration.deleteUser(localID: made.localID, context: .owner)
    #expect(try await engine.administration.getUsers(named, context: .owner).users.isEmpty)
    #expect(
      await refusal { try await remote.administration.deleteUser(localID: made.localID, context: .owner) }
        == .userNotFound)
  }

  @Test func `a passkey is added and signs in over the wire`() async throws {
    let (served, authenticator) = (try await Served.onFakeNetwork(), VirtualAuthenticator.fake())
    let (remote, context) = (served.remote, CallContext())
    let made = try await remote.signUp(SignUpRequest(email: "ada@example.com", password: "secret"), context: context)
    let creation = try await remote.startPasskeyEnrollment(
      StartPasskeyEnrollmentRequest(idToken: made.tokens.idToken), context: context)
    #expect(creation.userName == "ada@example.com" && creation.userID == Array(made.localID.utf8))
    let registration = FinalizePasskeyEnrollmentRequest(
      idToken: made.tokens.idToken, name: "phone", registration: authenticator.registration(for: creation))
    let enrolled = try await remote.finalizePasskeyEnrollment(registration, context: context)
    #expect(enrolled.localID == made.localID)
    let users = try await remote.lookup(LookupRequest(idToken: enrolled.tokens.idToken), context: context).users
    #expect(users.first?.passkeys == [PasskeyInfo(credentialID: authenticator.id, name: "phone")])
    let options = try await remote.startPasskeySignIn(context: context)
    let assertion = try authenticator.assertion(for: options, userHandle: creation.userID)
    let signedIn = try await remote.finalizePasskeySignIn(
      FinalizePasskeySignInRequest(assertion: assertion), context: context)
    #expect(signedIn.localID == made.localID && signedIn.outcome.tokens != nil)
    let removal = UpdateRequest(idToken: made.tokens.idToken, deletePasskeys: [authenticator.id])
    _ = try await remote.update(removal, context: context)
    #expect(
      await refusal {
        try await remote.finalizePasskeySignIn(FinalizePasskeySignInRequest(assertion: assertion), context: context)
      } == .passkeyCredentialNotFound)
  }

  @Test func `imports and deletions of many are answered account by account`() async throws {
    let served = try await Served.onFakeNetwork(isSuite: true)
    let users = ["a", "b", "c"].map { ImportedUser(localID: $0, email: "\($0)@example.com") }
    let made = try await served.remote.administration.batchCreate(BatchCreateRequest(users: users), context: .owner)
    #expect(made.errors.isEmpty)
    let deletion = BatchDeleteRequest(localIDs: ["a", "b"], force: true)
    #expect(try await served.remote.administration.batchDelete(deletion, context: .owner).errors.isEmpty)
    let left = try await served.world.engine.administration.queryUsers(QueryUsersRequest(), context: .owner)
    #expect(left.users.map(\.localID) == ["c"])
  }

  @Test func `codes and cookies are made for an owner`() async throws {
    let served = try await Served.onFakeNetwork(isSuite: true)
    let made = try await served.world.signUp()
    let request = SendOobCodeRequest(requestType: .passwordReset, email: "ada@example.com")
    let link = try await served.remote.administration.createOobLink(request, context: .owner)
    #expect(link.oobLink.contains(link.oobCode))
    _ = try await served.remote.sendOobCode(request, context: CallContext())
    let told = try await served.remote.administration.sentOobCodes(context: .owner)
    #expect(
      told.map(\.oobCode) == (try await served.world.engine.administration.sentOobCodes(context: .owner)).map(\.oobCode)
    )
    // A link leads to the server as the client has reached it.
    #expect(told.allSatisfy { $0.oobLink.contains("/emulator/action?") && $0.oobLink.contains($0.oobCode) })
    #expect(try await served.remote.administration.sentVerificationCodes(context: .owner).isEmpty)
    let cookie = try await served.remote.administration.createSessionCookie(
      CreateSessionCookieRequest(idToken: made.tokens.idToken), context: .owner)
    let verified = try await served.world.engine.administration.verifySessionCookie(
      VerifyTokenRequest(token: cookie), context: .owner)
    #expect(verified.localID == made.localID)
  }

  @Test func `a server in production has recorded no codes`() async throws {
    let served = try await Served.onFakeNetwork(isSuite: true, isDevelopment: false)
    #expect(try await served.remote.administration.sentOobCodes(context: .owner).isEmpty)
  }

  @Test func `sessions that an owner revokes are refused`() async throws {
    let served = try await Served.onFakeNetwork(isSuite: true)
    let made = try await served.world.signUp()
    // The engine of this test has a separate clock, years before the clock of the remote backend.
    try await served.remote.administration.revokeRefreshTokens(localID: made.localID, context: .owner)
    #expect(await refusal { try await served.world.lookup(made.tokens) } == .tokenExpired)
  }

  @Test func `settings and tenants are changed as far as the protocol has members`() async throws {
    let served = try await Served.onFakeNetwork(isSuite: true)
    let (remote, engine) = (served.remote, served.world.engine)
    var config = try await remote.administration.projectConfig(context: .owner)
    #expect(config == (try await engine.administration.projectConfig(context: .owner)))
    config.signIn.allowsAnonymous = false
    config.authorizedDomains = ["localhost", "example.com"]
    try await remote.administration.setProjectConfig(config, context: .owner)
    #expect(try await engine.administration.projectConfig(context: .owner) == config)
    let anonymous = await refusal { try await remote.signUp(SignUpRequest(), context: CallContext()) }
    #expect(anonymous == .adminOnlyOperation)
    config.passwordPolicy.minimumLength = 12
    config.signIn.allowsEmailLinks = false
    config.signIn.allowsTotpFactors = false
    try await remote.administration.setProjectConfig(config, context: .owner)
    #expect(try await engine.administration.projectConfig(context: .owner) == config)
    var other = config
    other.signIn.isDisabled = true
    #expect(
      await refusal { try await remote.administration.setProjectConfig(other, context: .owner) } == .notImplemented)
    #expect(try await engine.administration.projectConfig(context: .owner) == config)

    let signIn = SignInSettings(allowsEmailLinks: false, allowsPhone: false, allowsTotpFactors: false)
    let tenant = try await remote.administration.createTenant(
      CreateTenantRequest(displayName: "One", signIn: signIn), context: .owner)
    #expect(tenant.displayName == "One" && tenant.signIn == signIn)
    #expect(try await engine.administration.tenant(id: tenant.tenantID, context: .owner) == tenant)
    let renamed = try await remote.administration.updateTenant(
      UpdateTenantRequest(tenantID: tenant.tenantID, displayName: "Two"), context: .owner)
    #expect(renamed.displayName == "Two" && renamed.signIn == signIn)
    #expect(try await remote.administration.listTenants(ListTenantsRequest(), context: .owner).tenants == [renamed])

    let context = CallContext(tenantID: tenant.tenantID)
    let made = try await remote.signUp(SignUpRequest(email: "t@example.com", password: "secret1"), context: context)
    let user = try await remote.lookup(LookupRequest(idToken: made.tokens.idToken), context: context).users.first
    #expect(user?.tenantID == tenant.tenantID)
    let refreshed = try await remote.refresh(RefreshRequest(refreshToken: made.tokens.refreshToken), context: context)
    #expect(refreshed.userID == made.localID)
    _ = try await remote.passwordPolicy(context: context)
    try await remote.administration.deleteTenant(id: tenant.tenantID, context: .owner)
    #expect(
      await refusal { try await remote.administration.tenant(id: tenant.tenantID, context: .owner) } == .tenantNotFound)
  }

  @Test func `calls that the protocol does not have are refused before anything is sent`() async throws {
    let network = FakeNetwork()
    let remote = AuthRemote(project: "p", on: try RESTService(network, at: "http://localhost"))
    let token = VerifyTokenRequest(token: "a.b.c")
    let codes = [
      await refusal { try await remote.administration.verifyIDToken(token, context: .owner) },
      await refusal { try await remote.administration.verifySessionCookie(token, context: .owner) },
      await refusal {
        try await remote.administration.createCustomToken(CreateCustomTokenRequest(localID: "u"), context: .owner)
      },
      await refusal { try await remote.administration.serviceAccountKey(context: .owner) },
      await refusal { try await remote.administration.rotateSigningKey(context: .owner) },
      await refusal { try await remote.signUp(SignUpRequest(), context: .owner) },
    ]
    #expect(codes == Array(repeating: .notImplemented, count: 6))
  }
}
