import Testing
import VestaAuthBackend
import VestaServiceInterop

@testable import VestaAuthService

/// The calls of administrators are for owners alone.
@Suite struct AdminCallerTests {
  private typealias Call = @Sendable (AuthEngine, String, CallContext) async throws -> Void

  private static let calls: [Call] = [
    { engine, _, context in _ = try await engine.createUser(CreateUserRequest(), context: context) },
    { _ = try await $0.getUsers(GetUsersRequest(localIDs: [$1]), context: $2) },
    { _ = try await $0.updateUser(AdminUpdateRequest(localID: $1, disabled: true), context: $2) },
    { try await $0.deleteUser(localID: $1, context: $2) },
    { try await $0.revokeRefreshTokens(localID: $1, context: $2) },
    { engine, _, context in _ = try await engine.batchGet(BatchGetRequest(), context: context) },
    { engine, _, context in
      _ = try await engine.batchCreate(BatchCreateRequest(users: [ImportedUser(localID: "carl")]), context: context)
    },
    { _ = try await $0.batchDelete(BatchDeleteRequest(localIDs: [$1], force: true), context: $2) },
    { engine, _, context in _ = try await engine.queryUsers(QueryUsersRequest(), context: context) },
    { engine, _, context in _ = try await engine.verifyIDToken(VerifyTokenRequest(token: ""), context: context) },
    { engine, _, context in
      _ = try await engine.createSessionCookie(CreateSessionCookieRequest(idToken: ""), context: context)
    },
    { engine, _, context in _ = try await engine.verifySessionCookie(VerifyTokenRequest(token: ""), context: context) },
    { _ = try await $0.createCustomToken(CreateCustomTokenRequest(localID: $1), context: $2) },
    { engine, _, context in _ = try await engine.serviceAccountKey(context: context) },
    { engine, _, context in try await engine.rotateSigningKey(context: context) },
    { engine, _, context in
      let request = SendOobCodeRequest(requestType: .passwordReset, email: "ada@example.com")
      _ = try await engine.createOobLink(request, context: context)
    },
    { engine, _, context in _ = try await engine.sentOobCodes(context: context) },
    { engine, _, context in _ = try await engine.sentVerificationCodes(context: context) },
    { engine, _, context in _ = try await engine.projectConfig(context: context) },
    { engine, _, context in try await engine.setProjectConfig(ProjectConfig(), context: context) },
    { engine, _, context in _ = try await engine.createTenant(CreateTenantRequest(), context: context) },
    { engine, _, context in _ = try await engine.tenant(id: "corp", context: context) },
    { engine, _, context in _ = try await engine.updateTenant(UpdateTenantRequest(tenantID: "corp"), context: context)
    },
    { engine, _, context in try await engine.deleteTenant(id: "corp", context: context) },
    { engine, _, context in _ = try await engine.listTenants(ListTenantsRequest(), context: context) },
  ]

  @Test func `nobody, a user and a forged credential make no call of an administrator`() async throws {
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
        let found = await refusal { try await call(world.engine, made.localID, context) }
        #expect(found == expected, "call \(index)")
      }
    }
    #expect(try await world.contents() == before)
  }
}
