import Testing
import VestaAuthBackend
import VestaServiceInterop

@testable import VestaAuthService

/// The calls of administrators are for owners alone.
@Suite struct AdminCallerTests {
  private typealias Call = @Sendable (AuthAdministration, String, CallContext) async throws -> Void

  private static let calls: [Call] = [
    { admin, _, context in _ = try await admin.createUser(CreateUserRequest(), context: context) },
    { _ = try await $0.getUsers(GetUsersRequest(localIDs: [$1]), context: $2) },
    { _ = try await $0.updateUser(AdminUpdateRequest(localID: $1, disabled: true), context: $2) },
    { try await $0.deleteUser(localID: $1, context: $2) },
    { try await $0.revokeRefreshTokens(localID: $1, context: $2) },
    { admin, _, context in _ = try await admin.batchGet(BatchGetRequest(), context: context) },
    { admin, _, context in
      _ = try await admin.batchCreate(
        BatchCreateRequest(users: [ImportedUser(localID: "carl")]), context: context)
    },
    { _ = try await $0.batchDelete(BatchDeleteRequest(localIDs: [$1], force: true), context: $2) },
    { admin, _, context in _ = try await admin.queryUsers(QueryUsersRequest(), context: context) },
    { admin, _, context in
      _ = try await admin.verifyIDToken(VerifyTokenRequest(token: ""), context: context)
    },
    { admin, _, context in
      _ = try await admin.createSessionCookie(CreateSessionCookieRequest(idToken: ""), context: context)
    },
    { admin, _, context in
      _ = try await admin.verifySessionCookie(VerifyTokenRequest(token: ""), context: context)
    },
    { _ = try await $0.createCustomToken(CreateCustomTokenRequest(localID: $1), context: $2) },
    { admin, _, context in _ = try await admin.serviceAccountKey(context: context) },
    { admin, _, context in try await admin.rotateSigningKey(context: context) },
    { admin, _, context in
      let request = SendOobCodeRequest(requestType: .passwordReset, email: "ada@example.com")
      _ = try await admin.createOobLink(request, context: context)
    },
    { admin, _, context in _ = try await admin.sentOobCodes(context: context) },
    { admin, _, context in _ = try await admin.sentVerificationCodes(context: context) },
    { admin, _, context in _ = try await admin.projectConfig(context: context) },
    { admin, _, context in _ = try await admin.passwordHashing(context: context) },
    { admin, _, context in
      let provider = IdentityProvider(id: "google.com", isEnabled: true)
      _ = try await admin.identityProviders.createProvider(provider, context: context)
    },
    { admin, _, context in _ = try await admin.identityProviders.provider(id: "google.com", context: context) },
    { admin, _, context in
      let change = IdentityProviderChange(IdentityProvider(id: "google.com"), members: [.isEnabled])
      _ = try await admin.identityProviders.updateProvider(change, context: context)
    },
    { admin, _, context in try await admin.identityProviders.deleteProvider(id: "google.com", context: context) },
    { admin, _, context in
      _ = try await admin.identityProviders.listProviders(ListProvidersRequest(kind: .saml), context: context)
    },
    { admin, _, context in try await admin.setProjectConfig(ProjectConfig(), context: context) },
    { admin, _, context in _ = try await admin.createTenant(CreateTenantRequest(), context: context) },
    { admin, _, context in _ = try await admin.tenant(id: "corp", context: context) },
    { admin, _, context in
      _ = try await admin.updateTenant(UpdateTenantRequest(tenantID: "corp"), context: context)
    },
    { admin, _, context in try await admin.deleteTenant(id: "corp", context: context) },
    { admin, _, context in _ = try await admin.listTenants(ListTenantsRequest(), context: context) },
  ]

  @Test func `an absent caller, a user and a forged credential make no call of an administrator`() async throws {
    let world = World()
    let made = try await world.signUp()
    let before = try await world.contents()
    let contexts: [(CallContext, AuthServiceError.Code)] = [
      (CallContext(), .permissionDenied),
      (CallContext(caller: .user(VerifiedUser(uid: made.localID))), .permissionDenied),
      (CallContext(caller: .credential(.idToken(made.tokens.idToken))), .permissionDenied),
      (CallContext(caller: .credential(.bearer("owner"))), .unauthenticated),
    ]
    for (context, expected) in contexts {
      for (index, call) in Self.calls.enumerated() {
        let found = await refusal { try await call(world.engine.administration, made.localID, context) }
        #expect(found == expected, "call \(index)")
      }
    }
    #expect(try await world.contents() == before)
  }
}
