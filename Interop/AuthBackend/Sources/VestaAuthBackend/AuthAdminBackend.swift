public import VestaServiceInterop

/// The identity service as the administrators of a project see it.
///
/// Every call is for an owner of the project, such as `CallContext.owner`; every other caller is refused with
/// `PERMISSION_DENIED`, and a credential that is not valid with `UNAUTHENTICATED`. The tenant of the context chooses
/// whose users a call is about, as in `AuthBackend`, whose promises hold here too.
public protocol AuthAdminBackend: Sendable {
  // MARK: Users

  /// Makes an account without signing in.
  ///
  /// Checks: `DUPLICATE_LOCAL_ID`, `INVALID_PHONE_NUMBER`, `PHONE_NUMBER_EXISTS`, `INVALID_EMAIL`, `EMAIL_EXISTS`,
  /// `WEAK_PASSWORD`, `PASSWORD_DOES_NOT_MEET_REQUIREMENTS`, `INVALID_MFA_PHONE_NUMBER`.
  func createUser(
    _ request: CreateUserRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthUser

  /// Looks accounts up; each is returned once, also where several parts of the request name it.
  func getUsers(
    _ request: GetUsersRequest, context: CallContext
  ) async throws(AuthServiceError) -> LookupResponse

  /// Changes an account.
  ///
  /// Checks: `MISSING_LOCAL_ID`, `USER_NOT_FOUND`, `INVALID_EMAIL`, `EMAIL_EXISTS`, `WEAK_PASSWORD`,
  /// `PASSWORD_DOES_NOT_MEET_REQUIREMENTS`, `INVALID_PHONE_NUMBER`, `PHONE_NUMBER_EXISTS`, `CLAIMS_TOO_LARGE`,
  /// `INVALID_CLAIMS`, `FORBIDDEN_CLAIM`, `MISSING_PROVIDER_ID`, `MISSING_RAW_ID`, `FEDERATED_USER_ID_ALREADY_LINKED`,
  /// `INVALID_MFA_PHONE_NUMBER`, `DUPLICATE_MFA_ENROLLMENT_ID`.
  func updateUser(
    _ request: AdminUpdateRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthUser

  /// Deletes an account with its sessions.
  ///
  /// Checks: `MISSING_LOCAL_ID`, `USER_NOT_FOUND`.
  func deleteUser(localID: String, context: CallContext) async throws(AuthServiceError)

  /// Ends all sessions of an account: refresh tokens are refused, and ID tokens that were issued before fail
  /// where revocation is checked.
  ///
  /// Checks: `MISSING_LOCAL_ID`, `USER_NOT_FOUND`.
  func revokeRefreshTokens(localID: String, context: CallContext) async throws(AuthServiceError)

  /// Returns all accounts page by page, with their password hashes in the form of the request.
  func batchGet(
    _ request: BatchGetRequest, context: CallContext
  ) async throws(AuthServiceError) -> BatchGetResponse

  /// Imports accounts; each one is imported or is in the response's errors.
  ///
  /// Checks: `MISSING_USER_ACCOUNT`, `INVALID_HASH_ALGORITHM`, with `checksSanity` `DUPLICATE_EMAIL` and
  /// `DUPLICATE_RAW_ID`, without `allowsOverwrite` `DUPLICATE_LOCAL_ID` for a user id that the batch has twice. An
  /// existing account that must not be overwritten is in the response's errors.
  func batchCreate(
    _ request: BatchCreateRequest, context: CallContext
  ) async throws(AuthServiceError) -> BatchCreateResponse

  /// Deletes accounts.
  ///
  /// Checks: `LOCAL_ID_LIST_EXCEEDS_LIMIT`.
  func batchDelete(
    _ request: BatchDeleteRequest, context: CallContext
  ) async throws(AuthServiceError) -> BatchDeleteResponse

  /// Deletes every account of the project, or of the context's tenant, with its sessions.
  ///
  /// The accounts are deleted in several steps: after a failure some are left, and an account that is created
  /// concurrently may be left. The settings, the tenants and the codes that were sent stay. An engine makes no events
  /// of these deletions.
  func deleteAllAccounts(context: CallContext) async throws(AuthServiceError)

  /// Counts the accounts, or returns them.
  func queryUsers(
    _ request: QueryUsersRequest, context: CallContext
  ) async throws(AuthServiceError) -> QueryUsersResponse

  // MARK: Tokens

  /// Verifies an ID token: signature, issuer, audience and expiry; on request also its account.
  ///
  /// Checks: `INVALID_ID_TOKEN`, `TOKEN_EXPIRED`, `TENANT_ID_MISMATCH`, and with `checksRevocation` `USER_NOT_FOUND`,
  /// `TOKEN_EXPIRED`, `USER_DISABLED`.
  func verifyIDToken(
    _ request: VerifyTokenRequest, context: CallContext
  ) async throws(AuthServiceError) -> VerifiedToken

  /// Makes a session cookie of an ID token.
  ///
  /// Checks: `MISSING_ID_TOKEN`, `INVALID_DURATION`, the ID token's.
  ///
  /// - Returns: The cookie.
  func createSessionCookie(
    _ request: CreateSessionCookieRequest, context: CallContext
  ) async throws(AuthServiceError) -> String

  /// Verifies a session cookie; on request also its account.
  ///
  /// Checks: `INVALID_SESSION_COOKIE`, `TENANT_ID_MISMATCH`, and with `checksRevocation` `USER_NOT_FOUND`,
  /// `TOKEN_EXPIRED`, `USER_DISABLED`.
  func verifySessionCookie(
    _ request: VerifyTokenRequest, context: CallContext
  ) async throws(AuthServiceError) -> VerifiedToken

  /// Makes a custom token, valid for an hour.
  ///
  /// Checks: `MISSING_LOCAL_ID`, `INVALID_CLAIMS`, `FORBIDDEN_CLAIM`, `CLAIMS_TOO_LARGE`.
  ///
  /// - Returns: The token.
  func createCustomToken(
    _ request: CreateCustomTokenRequest, context: CallContext
  ) async throws(AuthServiceError) -> String

  /// The key with which servers of the project sign custom tokens; made when it is first asked for.
  func serviceAccountKey(context: CallContext) async throws(AuthServiceError) -> ServiceAccountKey

  /// Signs tokens with a new key from now on; tokens of the previous key stay valid until they expire.
  func rotateSigningKey(context: CallContext) async throws(AuthServiceError)

  // MARK: Codes

  /// Makes a code and hands it out instead of sending it.
  ///
  /// Checks: as `AuthBackend.sendOobCode`; an account with the address has to be there, but for sign-in
  /// links.
  func createOobLink(
    _ request: SendOobCodeRequest, context: CallContext
  ) async throws(AuthServiceError) -> OobLink

  /// The codes by e-mail that can still be used, in the order in which they were sent.
  ///
  /// Empty where the backend records no codes, as it should be outside development.
  func sentOobCodes(context: CallContext) async throws(AuthServiceError) -> [SentOobCode]

  /// The codes to phones that can still be used, in the order in which they were sent.
  ///
  /// Empty where the backend records no codes, as it should be outside development.
  func sentVerificationCodes(context: CallContext) async throws(AuthServiceError) -> [SentVerificationCode]

  // MARK: The project and its tenants

  /// How the project hashes passwords: another service imports the accounts of ``batchGet(_:context:)`` with it.
  ///
  /// Firebase's own name is `signIn.hashConfig` of the project's settings.
  func passwordHashing(context: CallContext) async throws(AuthServiceError) -> ImportHash

  /// The identity providers of the project and of its tenants.
  var identityProviders: any IdentityProviderSettings { get }

  /// The settings of the project.
  func projectConfig(context: CallContext) async throws(AuthServiceError) -> ProjectConfig

  /// Changes some settings of the project in one step: two changes of different settings never undo one another.
  ///
  /// Checks: `INVALID_CONFIG`.
  ///
  /// - Returns: All settings after the change.
  func updateProjectConfig(
    _ change: ProjectConfigChange, context: CallContext
  ) async throws(AuthServiceError) -> ProjectConfig

  /// Makes a tenant.
  ///
  /// Checks: `INVALID_CONFIG`, also for an id that exists or can be none.
  func createTenant(
    _ request: CreateTenantRequest, context: CallContext
  ) async throws(AuthServiceError) -> Tenant

  /// A tenant.
  ///
  /// Checks: `TENANT_NOT_FOUND`.
  func tenant(id: String, context: CallContext) async throws(AuthServiceError) -> Tenant

  /// Changes some properties of a tenant in one step: two changes of different properties never undo one another.
  ///
  /// Checks: `TENANT_NOT_FOUND`, `INVALID_CONFIG`.
  func updateTenant(
    _ request: UpdateTenantRequest, context: CallContext
  ) async throws(AuthServiceError) -> Tenant

  /// Deletes a tenant with all its users.
  ///
  /// Checks: `TENANT_NOT_FOUND`.
  func deleteTenant(id: String, context: CallContext) async throws(AuthServiceError)

  /// The tenants page by page.
  ///
  /// Checks: `INVALID_PAGE_SELECTION`.
  func listTenants(
    _ request: ListTenantsRequest, context: CallContext
  ) async throws(AuthServiceError) -> ListTenantsResponse
}

extension AuthAdminBackend {
  /// Sets all settings of the project.
  ///
  /// - Parameters:
  ///   - config: The settings.
  ///   - context: Who calls.
  /// - Throws: As ``updateProjectConfig(_:context:)``.
  public func setProjectConfig(_ config: ProjectConfig, context: CallContext) async throws(AuthServiceError) {
    let change = ProjectConfigChange(config, members: Set(ProjectConfig.Member.allCases))
    _ = try await updateProjectConfig(change, context: context)
  }
}
