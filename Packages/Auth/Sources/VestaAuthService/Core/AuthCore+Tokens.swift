import VestaCryptoInterop
import VestaEngineInterop
import VestaServiceInterop

extension AuthCore {
  /// Makes the ID token of a session.
  func idToken(_ grant: Grant) async throws -> String {
    let claims = TokenClaims.idToken(
      of: grant.user, tenantID: grant.tenantID, session: grant.facts, projectID: projectID,
      now: options.now() / 1000, lifetime: options.idTokenLifetime.seconds)
    return try await token(claims)
  }

  /// A token of these claims: signed, or unsigned where the options say so.
  func token(_ claims: JWTObject) async throws -> String {
    if options.hasDevelopmentTokens { return try DevelopmentTokens.token(claims) }
    return try JWT.sign(claims, with: try await keyRing.signer())
  }
}
