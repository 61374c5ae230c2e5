import VestaAuthBackend
import VestaCryptoInterop
import VestaServiceInterop

// Tokens as servers use them: verified, and made.

extension AdminOperation {
  // MARK: Verification

  /// Verifies an ID token; on request also its account.
  func verifyIDToken(_ request: VerifyTokenRequest) async throws -> VerifiedToken {
    try await verify(request, issuer: TokenClaims.issuer(projectID), or: .invalidIDToken)
  }

  /// Verifies a session cookie; on request also its account.
  func verifySessionCookie(_ request: VerifyTokenRequest) async throws -> VerifiedToken {
    try await verify(request, issuer: TokenClaims.cookieIssuer(projectID), or: .invalidSessionCookie)
  }

  private func verify(
    _ request: VerifyTokenRequest, issuer: String, or invalid: AuthServiceError.Code
  ) async throws -> VerifiedToken {
    let claims = try await verified(request.token, issuer: issuer, or: invalid)
    let proof = try proof(of: claims, or: invalid)
    if request.checksRevocation { try await checkAccount(of: proof) }
    return VerifiedToken(
      localID: proof.localID, claims: try ClaimsText.payload(of: request.token),
      authTime: claims["auth_time"]?.integer ?? 0, expiresAt: claims["exp"]?.integer ?? 0, tenantID: proof.tenantID)
  }

  /// Refuses a token whose account was deleted, disabled, or has ended its sessions; also in a tenant that is disabled.
  private func checkAccount(of proof: Proof) async throws {
    try await read(for: proof, checksDisabled: false) { call in _ = try await call.caller(proof) as Caller }
  }

  // MARK: Making tokens

  /// Makes a session cookie of an ID token.
  func createSessionCookie(_ request: CreateSessionCookieRequest) async throws -> String {
    let token = try Checks.present(request.idToken, or: .missingIDToken)
    guard (300...1_209_600).contains(request.validDuration) else { throw AuthServiceError(.invalidDuration) }
    let proof = try await proof(token)
    try await checkAccount(of: proof)
    let claims = TokenClaims.sessionCookie(
      from: proof.claims, projectID: projectID, now: nowSeconds, lifetime: request.validDuration)
    return try await core.token(claims)
  }

  /// Makes a custom token, valid for an hour.
  func createCustomToken(_ request: CreateCustomTokenRequest) async throws -> String {
    let localID = try Checks.localID(request.localID)
    if let json = request.claims { try Checks.customClaims(json) }
    _ = try await keyRing.serviceAccount()
    guard let account = try await keyRing.customTokenKey() else { throw AuthServiceError(.internalError) }
    // The clock is read once: a token that is valid for a second more than an hour would be refused.
    let now = nowSeconds
    var claims: JWTObject = [
      "iss": .string(account.clientEmail), "sub": .string(account.clientEmail),
      "aud": .string(TokenClaims.customTokenAudience), "iat": .integer(now),
      "exp": .integer(now + 3600), "uid": .string(localID),
    ]
    if let tenantID = context.tenantID, !tenantID.isEmpty { claims["tenant_id"] = .string(tenantID) }
    if let own = request.claims.flatMap(ClaimsText.read) { claims["claims"] = .object(own) }
    return try JWT.sign(claims, with: account.key)
  }

  /// The key with which servers of the project sign custom tokens.
  func serviceAccountKey() async throws -> ServiceAccountKey {
    let account = try await keyRing.serviceAccount()
    return ServiceAccountKey(
      clientEmail: account.clientEmail, privateKeyID: account.keyID, privateKey: account.pem, projectID: projectID)
  }
}
