import VestaAuthBackend
import VestaCryptoInterop
import VestaServiceInterop

extension AuthOperation {
  /// Verifies an ID token without looking at its account.
  func proof(
    _ idToken: String?, missing: AuthServiceError.Code = .missingIDToken
  ) async throws -> Proof {
    let token = try Checks.present(idToken, or: missing)
    do {
      let claims = try await verified(token, issuer: TokenClaims.issuer(projectID), or: .invalidIDToken)
      return try proof(of: claims, or: .invalidIDToken)
    } catch let error as AuthServiceError where error.code == .invalidIDToken {
      // Clients show a text that follows the code in place of their own one, and the service sends none.
      throw AuthServiceError(.invalidIDToken)
    }
  }

  /// Verifies an ID token that may be absent.
  func optionalProof(_ idToken: String?) async throws -> Proof? {
    guard let idToken else { return nil }
    return try await proof(idToken)
  }

  /// Verifies a token of ours: its signature, issuer, audience and times; of an unsigned one, where such are taken, the
  /// issuer.
  func verified(_ token: String, issuer: String, or invalid: AuthServiceError.Code) async throws -> JWTObject {
    if options.hasDevelopmentTokens, let claims = DevelopmentTokens.claims(of: token) {
      guard claims["iss"]?.string == issuer else { throw AuthServiceError(invalid, "another issuer") }
      return claims
    }
    do {
      let unverified = try UnverifiedJWT(token)
      let key = try await keyRing.verifier(keyID: unverified.token.header.keyID)
      let verifier = JWTVerifier(issuers: [issuer], audiences: [projectID], algorithms: [.rs256])
      let time = ClockTolerance.time(for: unverified.token.claims, now: nowSeconds)
      return try verifier.verify(unverified, at: time) { _ throws(CryptoError) in key }.claims
    } catch CryptoError.Code.expired where invalid == .invalidIDToken {
      throw AuthServiceError(.tokenExpired)
    } catch let error as CryptoError where error.code != .libraryFailure {
      throw AuthServiceError(invalid, "\(error.code)")
    }
  }

  /// The account of verified claims.
  func proof(of claims: JWTObject, or invalid: AuthServiceError.Code) throws -> Proof {
    guard let localID = claims["sub"]?.string, let issuedAt = claims["iat"]?.integer else {
      throw AuthServiceError(invalid)
    }
    let firebase = claims["firebase"]?.object
    let tenantID = firebase?["tenant"]?.string
    try checkTenant(tenantID)
    return Proof(
      claims: claims, localID: localID, tenantID: tenantID, issuedAt: issuedAt,
      epoch: firebase?[TokenClaims.epoch]?.integer)
  }

  /// Refuses a token of another tenant than that of the call; absent counts as different.
  func checkTenant(_ tenantID: String?) throws {
    let wanted = TenantKey(context.tenantID)
    guard wanted == .project || wanted == TenantKey(tenantID) else { throw AuthServiceError(.tenantIDMismatch) }
  }
}
