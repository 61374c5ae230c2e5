import VestaAuthBackend
import VestaBytes
import VestaConcurrency
import VestaServiceInterop

/// Verifies who calls, for the engine itself and for the other services of its project: ID tokens that the engine has
/// signed, until they expire.
///
/// An ID token is taken as a bearer token, too, as some products send it so. Another bearer token is `UNAUTHENTICATED`;
/// in development mode see `AuthServiceOptions.usesDevelopmentTokens`. Whether the account was disabled or its sessions
/// were revoked is not looked up, as in Firebase: such a token is accepted until it expires.
struct AuthCallerVerifier: CallerVerifier {
  private let own: WeakCore

  init(_ own: WeakCore) { self.own = own }

  func verify(_ credential: Credential, project: String?) async throws(ServiceStatus) -> VerifiedCaller {
    if let answer = try verifyAtOnce(credential, project: project) { return answer }
    guard let core = own.core else {
      throw ServiceStatus(.unavailable, "The service of Auth has been shut down with its app.")
    }
    let verified = try await verify(credential.token, by: core)
    guard let claims = try? JSONObject(json: Array(verified.claims.utf8)) else { throw .unauthenticated }
    let expiry = verified.expiresAt * 1_000_000
    let user = VerifiedUser(
      uid: verified.localID, claims: claims, project: core.projectID,
      authenticationTime: verified.authTime * 1_000_000, expiry: expiry)
    return VerifiedCaller(.user(user), expiry: expiry)
  }

  private func verify(_ token: String, by core: AuthCore) async throws(ServiceStatus) -> VerifiedToken {
    do {
      return try await AuthAdministration(core).verifyIDToken(VerifyTokenRequest(token: token), context: .owner)
    } catch {
      // Where the engine cannot decide, the caller keeps its token and tries again.
      throw error.isAboutToken ? .unauthenticated : error.status
    }
  }
}

extension AuthCallerVerifier {
  /// The caller of a token of development, which proves nothing, and refusals that need no look into the token.
  func verifyAtOnce(_ credential: Credential, project: String?) throws(ServiceStatus) -> VerifiedCaller? {
    guard let core = own.core else { return nil }
    guard project ?? core.projectID == core.projectID else { throw .unauthenticated }
    guard core.options.hasDevelopmentTokens else { return nil }
    return try DevelopmentTokens.caller(credential, projectID: core.projectID).map { VerifiedCaller($0) }
  }
}

extension AuthServiceError {
  /// Whether the failure is the token's, and not that of the service which should verify it.
  fileprivate var isAboutToken: Bool { status.code == .invalidArgument }
}
