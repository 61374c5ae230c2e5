public import VestaAuthBackend
public import VestaServiceInterop

/// The calls of administrators on the accounts of an ``AuthEngine``, which makes it.
///
/// ```swift
/// let users = try await engine.administration.batchGet(BatchGetRequest(), context: .owner)
/// ```
public final class AuthAdministration: AuthAdminBackend {
  let core: AuthCore

  init(_ core: AuthCore) { self.core = core }

  /// Runs a call of an owner; every other caller is refused.
  func administer<Operation: AuthOperation, Value: Sendable>(
    _ context: CallContext, as operation: Operation.Type,
    _ call: @escaping @Sendable (Operation) async throws -> Value
  ) async throws(AuthServiceError) -> Value {
    try await core.serve(context, as: operation) { operation in
      guard operation.context.isOwner else {
        throw AuthServiceError(.permissionDenied, "The call is for owners of the project, such as CallContext.owner.")
      }
      return try await call(operation)
    }
  }

  // MARK: Users

  /// Makes an account without signing in.
  public func createUser(
    _ request: CreateUserRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthUser {
    try await administer(context, as: AdminOperation.self) { try await $0.createUser(request) }
  }

  /// Looks accounts up; each is returned once, also where several parts of the request name it.
  public func getUsers(
    _ request: GetUsersRequest, context: CallContext
  ) async throws(AuthServiceError) -> LookupResponse {
    try await administer(context, as: AdminOperation.self) { try await $0.getUsers(request) }
  }

  /// Changes an account.
  public func updateUser(
    _ request: AdminUpdateRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthUser {
    try await administer(context, as: AdminOperation.self) { try await $0.updateUser(request) }
  }

  /// Deletes an account with its sessions.
  public func deleteUser(localID: String, context: CallContext) async throws(AuthServiceError) {
    try await administer(context, as: AdminOperation.self) { try await $0.deleteUser(localID: localID) }
  }

  /// Ends all sessions of an account, with its ID tokens and session cookies.
  public func revokeRefreshTokens(localID: String, context: CallContext) async throws(AuthServiceError) {
    try await administer(context, as: AdminOperation.self) { try await $0.revokeRefreshTokens(localID: localID) }
  }

  /// Returns all accounts page by page, with their password hashes in the form of the request.
  public func batchGet(
    _ request: BatchGetRequest, context: CallContext
  ) async throws(AuthServiceError) -> BatchGetResponse {
    try await administer(context, as: AdminOperation.self) { try await $0.batchGet(request) }
  }

  /// Imports accounts; each one is imported or is in the response's errors.
  public func batchCreate(
    _ request: BatchCreateRequest, context: CallContext
  ) async throws(AuthServiceError) -> BatchCreateResponse {
    try await administer(context, as: AdminOperation.self) { try await $0.batchCreate(request) }
  }

  /// Deletes accounts.
  public func batchDelete(
    _ request: BatchDeleteRequest, context: CallContext
  ) async throws(AuthServiceError) -> BatchDeleteResponse {
    try await administer(context, as: AdminOperation.self) { try await $0.batchDelete(request) }
  }

  /// Deletes every account of the project, or of the context's tenant, with its sessions.
  public func deleteAllAccounts(context: CallContext) async throws(AuthServiceError) {
    var context = context
    // Events tell of single deletions alone, as in Firebase.
    context.suppressesEvents = true
    try await administer(context, as: AdminOperation.self) { try await $0.deleteAllAccounts() }
  }

  /// Counts the accounts, or returns them.
  public func queryUsers(
    _ request: QueryUsersRequest, context: CallContext
  ) async throws(AuthServiceError) -> QueryUsersResponse {
    try await administer(context, as: AdminOperation.self) { try await $0.queryUsers(request) }
  }

  // MARK: Tokens

  /// Verifies an ID token: signature, issuer, audience and expiry; on request also its account.
  public func verifyIDToken(
    _ request: VerifyTokenRequest, context: CallContext
  ) async throws(AuthServiceError) -> VerifiedToken {
    try await administer(context, as: AdminOperation.self) { try await $0.verifyIDToken(request) }
  }

  /// Makes a session cookie of an ID token.
  public func createSessionCookie(
    _ request: CreateSessionCookieRequest, context: CallContext
  ) async throws(AuthServiceError) -> String {
    try await administer(context, as: AdminOperation.self) { try await $0.createSessionCookie(request) }
  }

  /// Verifies a session cookie; on request also its account.
  public func verifySessionCookie(
    _ request: VerifyTokenRequest, context: CallContext
  ) async throws(AuthServiceError) -> VerifiedToken {
    try await administer(context, as: AdminOperation.self) { try await $0.verifySessionCookie(request) }
  }

  /// Makes a custom token, valid for an hour.
  public func createCustomToken(
    _ request: CreateCustomTokenRequest, context: CallContext
  ) async throws(AuthServiceError) -> String {
    try await administer(context, as: AdminOperation.self) { try await $0.createCustomToken(request) }
  }

  /// The key with which servers of the project sign custom tokens; made when it is first asked for.
  public func serviceAccountKey(context: CallContext) async throws(AuthServiceError) -> ServiceAccountKey {
    try await administer(context, as: AdminOperation.self) { try await $0.serviceAccountKey() }
  }

  /// Signs tokens with a new key from now on; tokens of the previous key stay valid until they expire.
  public func rotateSigningKey(context: CallContext) async throws(AuthServiceError) {
    try await administer(context, as: AdminOperation.self) { try await $0.keyRing.rotate() }
  }

  // MARK: Codes

  /// Makes a code and hands it out instead of sending it.
  public func createOobLink(
    _ request: SendOobCodeRequest, context: CallContext
  ) async throws(AuthServiceError) -> OobLink {
    try await administer(context, as: CodeOperation.self) { try await $0.createOobLink(request) }
  }

  /// The codes by e-mail that can still be used, in the order in which they were sent.
  public func sentOobCodes(context: CallContext) async throws(AuthServiceError) -> [SentOobCode] {
    try await administer(context, as: CodeOperation.self) { try await $0.sentOobCodes() }
  }

  /// The codes to phones that can still be used, in the order in which they were sent.
  public func sentVerificationCodes(context: CallContext) async throws(AuthServiceError) -> [SentVerificationCode] {
    try await administer(context, as: CodeOperation.self) { try await $0.sentVerificationCodes() }
  }

  // MARK: The project and its tenants

  /// The settings of the project.
  public func projectConfig(context: CallContext) async throws(AuthServiceError) -> ProjectConfig {
    try await administer(context, as: AdminOperation.self) { try await $0.projectConfig() }
  }

  /// Changes some settings of the project in one step.
  public func updateProjectConfig(
    _ change: ProjectConfigChange, context: CallContext
  ) async throws(AuthServiceError) -> ProjectConfig {
    try await administer(context, as: AdminOperation.self) { try await $0.updateProjectConfig(change) }
  }

  /// Makes a tenant.
  public func createTenant(
    _ request: CreateTenantRequest, context: CallContext
  ) async throws(AuthServiceError) -> Tenant {
    try await administer(context, as: AdminOperation.self) { try await $0.createTenant(request) }
  }

  /// A tenant.
  public func tenant(id: String, context: CallContext) async throws(AuthServiceError) -> Tenant {
    try await administer(context, as: AdminOperation.self) { try await $0.tenant(id: id) }
  }

  /// Changes a tenant.
  public func updateTenant(
    _ request: UpdateTenantRequest, context: CallContext
  ) async throws(AuthServiceError) -> Tenant {
    try await administer(context, as: AdminOperation.self) { try await $0.updateTenant(request) }
  }

  /// Deletes a tenant with all its users.
  public func deleteTenant(id: String, context: CallContext) async throws(AuthServiceError) {
    try await administer(context, as: AdminOperation.self) { try await $0.deleteTenant(id: id) }
  }

  /// The tenants page by page.
  public func listTenants(
    _ request: ListTenantsRequest, context: CallContext
  ) async throws(AuthServiceError) -> ListTenantsResponse {
    try await administer(context, as: AdminOperation.self) { try await $0.listTenants(request) }
  }
}
