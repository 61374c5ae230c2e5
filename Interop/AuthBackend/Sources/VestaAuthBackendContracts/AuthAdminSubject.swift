public import VestaAuthBackend
public import VestaServiceInterop
import VestaTesting

/// The administrators' calls that are held to their contract, one by one so that a test can replace each.
///
/// The project has no accounts and no tenants, and allows passwords and authenticator apps.
public struct AuthAdminSubject: Sendable {
  /// The calls of clients.
  public var backend: any AuthBackend
  /// The calls of administrators that need no replacement.
  public var administration: any AuthAdminBackend
  /// The code that an authenticator app shows for a secret in Base32; each call returns another one.
  public var appCode: @Sendable (_ secret: String) async throws -> String

  /// Looks accounts up.
  public var getUsers: @Sendable (GetUsersRequest) async throws -> LookupResponse
  /// Changes an account.
  public var updateUser: @Sendable (AdminUpdateRequest) async throws -> AuthUser
  /// Deletes all accounts.
  public var deleteAllAccounts: @Sendable (CallContext) async throws -> Void
  /// Changes settings of the project.
  public var updateConfig: @Sendable (ProjectConfigChange) async throws -> ProjectConfig
  /// Changes properties of a tenant.
  public var updateTenant: @Sendable (UpdateTenantRequest) async throws -> Tenant

  /// The calls of a service.
  ///
  /// - Parameters:
  ///   - backend: The calls of clients.
  ///   - administration: The calls of administrators.
  ///   - appCode: The code that an authenticator app shows for a secret; each call returns another one.
  public init(
    _ backend: any AuthBackend, _ administration: any AuthAdminBackend,
    appCode: @escaping @Sendable (_ secret: String) async throws -> String
  ) {
    (self.backend, self.administration, self.appCode) = (backend, administration, appCode)
    getUsers = { try await administration.getUsers($0, context: .owner) }
    updateUser = { try await administration.updateUser($0, context: .owner) }
    deleteAllAccounts = { try await administration.deleteAllAccounts(context: $0) }
    updateConfig = { try await administration.updateProjectConfig($0, context: .owner) }
    updateTenant = { try await administration.updateTenant($0, context: .owner) }
  }
}

// Helpers of all checks.
extension AuthAdminSubject {
  var context: CallContext { CallContext() }

  /// Makes an account with a password and a verified address.
  func createUser(_ name: String, context: CallContext = .owner) async throws {
    let request = CreateUserRequest(
      localID: name, email: "\(name)@example.com", emailVerified: true, password: "correct horse")
    _ = try await administration.createUser(request, context: context)
  }

  func signIn(_ name: String) async throws -> PasswordSignInResponse {
    let request = PasswordSignInRequest(email: "\(name)@example.com", password: "correct horse")
    return try await backend.signInWithPassword(request, context: context)
  }

  func count(context: CallContext = .owner) async throws -> Int {
    try await administration.queryUsers(QueryUsersRequest(returnsUsers: false), context: context).count
  }

  /// Adds an authenticator app to an account, and returns its secret.
  func enrollApp(_ name: String) async throws -> String {
    let tokens = try expectValue(try await signIn(name).outcome.tokens, "tokens")
    let started = try await backend.startMfaEnrollment(
      StartMfaEnrollmentRequest(idToken: tokens.idToken, factor: .totp), context: context)
    guard case .totp(let secret) = started else { throw ContractViolation("the response has no secret: \(started)") }
    let code = try await appCode(secret.sharedSecretKey)
    let request = FinalizeMfaEnrollmentRequest(
      idToken: tokens.idToken, displayName: "app", proof: .totp(sessionInfo: secret.sessionInfo, code: code))
    _ = try await backend.finalizeMfaEnrollment(request, context: context)
    return secret.sharedSecretKey
  }

  /// Signs in with the password and the code of an app.
  func signIn(_ name: String, app id: String, secret: String) async throws {
    let pending = try expectValue(try await signIn(name).outcome.pending, "a sign-in that waits for a factor")
    let proof = FinalizeMfaSignInRequest.Proof.totp(mfaEnrollmentID: id, code: try await appCode(secret))
    let request = FinalizeMfaSignInRequest(mfaPendingCredential: pending.mfaPendingCredential, proof: proof)
    _ = try await backend.finalizeMfaSignIn(request, context: context)
  }
}
