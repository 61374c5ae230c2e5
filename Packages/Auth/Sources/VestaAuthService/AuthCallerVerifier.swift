import VestaAuthBackend
import VestaBytes
import VestaServiceInterop

/// Verifies ID tokens of the project for the other services: what the engine has signed, until it expires.
///
/// An ID token may come as a bearer token, as most services of Firebase send it; a bearer token of another kind is
/// `UNAUTHENTICATED`. Whether the account was disabled or its sessions were revoked
/// is not looked up, as in Firebase: such a token is accepted until it expires.
struct AuthCallerVerifier: CallerVerifier {
  let engine: AuthEngine

  func verify(_ credential: Credential, project: String?) async throws(ServiceStatus) -> VerifiedCaller {
    guard project ?? engine.projectID == engine.projectID else { throw .unauthenticated }
    let token = credential.token
    let verified: VerifiedToken
    do {
      verified = try await engine.verifyIDToken(VerifyTokenRequest(token: token), context: CallContext())
    } catch {
      throw Self.status(of: error)
    }
    guard let claims = try? JSONObject(json: Array(verified.claims.utf8)) else { throw .unauthenticated }
    let expiry = verified.expiresAt * 1_000_000
    let user = VerifiedUser(
      uid: verified.localID, claims: claims, project: engine.projectID,
      authenticationTime: verified.authTime * 1_000_000, expiry: expiry)
    return VerifiedCaller(.user(user), expiry: expiry)
  }

  /// A token that is refused is `UNAUTHENTICATED`; where the engine cannot decide, the caller keeps it and tries again.
  private static func status(of error: AuthServiceError) -> ServiceStatus {
    let status = ServiceError(error).status
    return status.code.isTransient ? status : .unauthenticated
  }
}
