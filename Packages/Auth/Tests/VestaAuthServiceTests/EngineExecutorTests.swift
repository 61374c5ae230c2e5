import Testing
import VestaAuthBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaAuthService

/// Every call of the engine keeps the caller's executor, where it succeeds and where it throws.
@Suite struct EngineExecutorTests {
  private typealias Call = @Sendable (AuthEngine, SignUpResponse, CallContext) async throws -> Void

  /// The calls that succeed for a separate account, in an order in which they do.
  private static let calls: [Call] = [
    { engine, _, context in _ = try await engine.signUp(SignUpRequest(), context: context) },
    { engine, _, context in
      let request = PasswordSignInRequest(email: "ada@example.com", password: "correct horse")
      _ = try await engine.signInWithPassword(request, context: context)
    },
    { _ = try await $0.lookup(LookupRequest(idToken: $1.tokens.idToken), context: $2) },
    { engine, made, context in
      var request = UpdateRequest(idToken: made.tokens.idToken)
      request.displayName = "Ada"
      _ = try await engine.update(request, context: context)
    },
    { _ = try await $0.refresh(RefreshRequest(refreshToken: $1.tokens.refreshToken), context: $2) },
    { engine, _, context in
      _ = try await engine.sendOobCode(
        SendOobCodeRequest(requestType: .passwordReset, email: "ada@example.com"), context: context)
    },
    { engine, _, context in
      let link = try await engine.administration.createOobLink(
        SendOobCodeRequest(requestType: .passwordReset, email: "ada@example.com"), context: context)
      _ = try await engine.resetPassword(ResetPasswordRequest(oobCode: link.oobCode), context: context)
    },
    { engine, _, context in
      _ = try await engine.createAuthURI(CreateAuthURIRequest(identifier: "ada@example.com"), context: context)
    },
    { engine, _, context in
      let token = try await engine.administration.createCustomToken(
        CreateCustomTokenRequest(localID: "bob"), context: context)
      _ = try await engine.signInWithCustomToken(CustomTokenSignInRequest(token: token), context: context)
    },
    { engine, _, context in
      _ = try await engine.sendVerificationCode(
        SendVerificationCodeRequest(phoneNumber: "+15555550100"), context: context)
    },
    { engine, _, context in _ = try await engine.passwordPolicy(context: context) },
    { engine, _, context in _ = try await engine.publicProjectConfig(context: context) },
    { engine, _, context in _ = try await engine.publicKeys(context: context) },
    { engine, _, context in _ = try await engine.administration.createUser(CreateUserRequest(), context: context) },
    { _ = try await $0.administration.getUsers(GetUsersRequest(localIDs: [$1.localID]), context: $2) },
    {
      _ = try await $0.administration.updateUser(
        AdminUpdateRequest(localID: $1.localID, emailVerified: false), context: $2)
    },
    { engine, _, context in _ = try await engine.administration.batchGet(BatchGetRequest(), context: context) },
    { engine, _, context in
      _ = try await engine.administration.batchCreate(
        BatchCreateRequest(users: [ImportedUser(localID: "carl")], allowsOverwrite: true), context: context)
    },
    { engine, _, context in
      _ = try await engine.administration.batchDelete(BatchDeleteRequest(localIDs: ["carl"]), context: context)
    },
    { engine, _, context in _ = try await engine.administration.queryUsers(QueryUsersRequest(), context: context) },
    { _ = try await $0.administration.verifyIDToken(VerifyTokenRequest(token: $1.tokens.idToken), context: $2) },
    { engine, made, context in
      let cookie = try await engine.administration.createSessionCookie(
        CreateSessionCookieRequest(idToken: made.tokens.idToken), context: context)
      _ = try await engine.administration.verifySessionCookie(VerifyTokenRequest(token: cookie), context: context)
    },
    { engine, _, context in _ = try await engine.administration.serviceAccountKey(context: context) },
    { engine, _, context in try await engine.administration.rotateSigningKey(context: context) },
    { engine, _, context in
      // Without any code there is nothing to read in the store.
      _ = try await engine.administration.sentOobCodes(context: context)
      _ = try await engine.administration.sentVerificationCodes(context: context)
      try await engine.administration.setProjectConfig(
        try await engine.administration.projectConfig(context: context), context: context)
    },
    { engine, _, context in
      let tenant = try await engine.administration.createTenant(CreateTenantRequest(), context: context)
      _ = try await engine.administration.tenant(id: tenant.tenantID, context: context)
      _ = try await engine.administration.updateTenant(UpdateTenantRequest(tenantID: tenant.tenantID), context: context)
      _ = try await engine.administration.listTenants(ListTenantsRequest(), context: context)
      try await engine.administration.deleteTenant(id: tenant.tenantID, context: context)
    },
    { engine, _, context in
      let made = try await engine.signUp(SignUpRequest(), context: context)
      try await engine.delete(DeleteRequest(idToken: made.tokens.idToken), context: context)
    },
    { engine, _, context in
      let made = try await engine.signUp(SignUpRequest(), context: context)
      try await engine.administration.revokeRefreshTokens(localID: made.localID, context: context)
      try await engine.administration.deleteUser(localID: made.localID, context: context)
    },
  ]

  /// Calls that are refused.
  private static let refused: [Call] = [
    { engine, _, context in
      let request = EmailLinkSignInRequest(email: "ada@example.com", oobCode: "none")
      _ = try await engine.signInWithEmailLink(request, context: context)
    },
    { engine, _, context in
      let request = IdpSignInRequest(credential: IdpCredential(providerID: "google.com", idToken: "none"))
      _ = try await engine.signInWithIdp(request, context: context)
    },
    { engine, _, context in
      let request = PhoneSignInRequest(proof: .code(sessionInfo: "none", code: "123456"))
      _ = try await engine.signInWithPhoneNumber(request, context: context)
    },
    { _ = try await $0.startMfaEnrollment(StartMfaEnrollmentRequest(idToken: "none", factor: .totp), context: $2) },
    { engine, _, context in
      let request = WithdrawMfaEnrollmentRequest(idToken: "none", mfaEnrollmentID: "none")
      _ = try await engine.withdrawMfaEnrollment(request, context: context)
    },
    { engine, _, context in
      let request = StartMfaSignInRequest(mfaPendingCredential: "none", mfaEnrollmentID: "none")
      _ = try await engine.startMfaSignIn(request, context: context)
    },
    { engine, _, context in
      let request = StartPasskeyEnrollmentRequest(idToken: "none")
      _ = try await engine.startPasskeyEnrollment(request, context: context)
    },
    { engine, _, context in
      let request = FinalizePasskeySignInRequest(assertion: .init(credentialID: "none"))
      _ = try await engine.finalizePasskeySignIn(request, context: context)
    },
  ]

  @Test func `the executor is kept on success and on failure, from the main actor and from another one`() async throws {
    let living = World { $0.isDevelopment = true }
    let closed = World()
    let made = try await living.signUp()
    try await closed.engine.close()
    for (index, call) in Self.calls.enumerated() {
      await expectKept("call \(index)", fails: false) { try await call(living.engine, made, .owner) }
      await expectKept("call \(index), closed", fails: true) { try await call(closed.engine, made, .owner) }
    }
    for (index, call) in Self.refused.enumerated() {
      await expectKept("refused call \(index)", fails: true) { try await call(living.engine, made, .owner) }
    }
  }

  private func expectKept(
    _ label: Comment, fails: Bool, _ call: @escaping @Sendable () async throws -> Void
  ) async {
    let reports = [await ExecutorProbe.fromMainActor(call), await ExecutorProbe.fromActor(call)]
    for report in reports { #expect(report.isKept && report.hasThrown == fails, label) }
  }
}
