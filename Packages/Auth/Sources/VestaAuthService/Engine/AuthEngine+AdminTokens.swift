public import VestaServiceInterop
import VestaCryptoInterop
public import VestaAuthBackend
import VestaStoreInterop

extension AuthEngine {
  // MARK: Verification

  /// Verifies an ID token; on request also its account.
  public func verifyIDToken(
    _ request: VerifyTokenRequest, context: CallContext
  ) async throws(IdentityError) -> VerifiedToken {
    try await answer {
      try await verify(request, issuer: TokenClaims.issuer(projectID), context, or: .invalidIDToken)
    }
  }

  /// Verifies a session cookie; on request also its account.
  public func verifySessionCookie(
    _ request: VerifyTokenRequest, context: CallContext
  ) async throws(IdentityError) -> VerifiedToken {
    try await answer {
      try await verify(request, issuer: TokenClaims.cookieIssuer(projectID), context, or: .invalidSessionCookie)
    }
  }

  private func verify(
    _ request: VerifyTokenRequest, issuer: String, _ context: CallContext, or invalid: IdentityError.Code
  ) async throws -> VerifiedToken {
    let claims = try await verified(request.token, issuer: issuer, or: invalid)
    let proof = try proof(of: claims, context: context, or: invalid)
    if request.checksRevocation { _ = try await read { try await self.caller(proof, in: $0, checksDisabled: false) } }
    return VerifiedToken(
      localID: proof.localID, claims: try ClaimsText.payload(of: request.token),
      authTime: claims["auth_time"]?.integer ?? 0, expiresAt: claims["exp"]?.integer ?? 0, tenantID: proof.tenantID)
  }

  // MARK: Making tokens

  /// Makes a session cookie of an ID token.
  public func createSessionCookie(
    _ request: CreateSessionCookieRequest, context: CallContext
  ) async throws(IdentityError) -> String {
    try await answer {
      let token = try Checks.present(request.idToken, or: .missingIDToken)
      guard (300...1_209_600).contains(request.validDuration) else { throw IdentityError(.invalidDuration) }
      let proof = try await proof(token, context: context)
      _ = try await read { try await self.caller(proof, in: $0, checksDisabled: false) }
      let claims = TokenClaims.sessionCookie(
        from: proof.claims, projectID: projectID, now: nowSeconds, lifetime: request.validDuration)
      return try JWT.sign(claims, with: try await keyRing.signer())
    }
  }

  /// Makes a custom token, valid for an hour.
  public func createCustomToken(
    _ request: CreateCustomTokenRequest, context: CallContext
  ) async throws(IdentityError) -> String {
    try await answer {
      let localID = try Checks.localID(request.localID)
      if let json = request.claims { try Checks.customClaims(json) }
      _ = try await keyRing.serviceAccount()
      guard let account = try await keyRing.customTokenKey() else { throw IdentityError(.internalError) }
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
  }

  /// The key with which servers of the project sign custom tokens.
  public func serviceAccountKey(context: CallContext) async throws(IdentityError) -> ServiceAccountKey {
    try await answer {
      let account = try await keyRing.serviceAccount()
      return ServiceAccountKey(
        clientEmail: account.clientEmail, privateKeyID: account.keyID, privateKey: account.pem, projectID: projectID)
    }
  }

  /// Signs tokens with a new key from now on; those of the previous key stay valid until they expire.
  public func rotateSigningKey(context: CallContext) async throws(IdentityError) {
    try await answer { try await keyRing.rotate() }
  }

  // MARK: Codes

  /// Makes a code and hands it out instead of sending it.
  public func createOobLink(
    _ request: SendOobCodeRequest, context: CallContext
  ) async throws(IdentityError) -> OobLink {
    try await answer {
      let made = try await makeOobCode(request, context, isPrivileged: true)
      guard let message = made.message else { throw IdentityError(.userNotFound) }
      return OobLink(
        email: made.email, oobCode: message.code, oobLink: link(message, settings: request.settings, context))
    }
  }

  /// The codes by e-mail that can still be used, in the order in which they were sent.
  public func sentOobCodes(context: CallContext) async throws(IdentityError) -> [SentOobCode] {
    try await answer {
      await outbox.drain()
      let recorded = sender.recordedEmails.filter { ($0.tenantID ?? "") == (context.tenantID ?? "") }
      let usable = try await areUsable(recorded.map(\.code))
      return zip(recorded, usable).filter(\.1).map { message, _ in
        SentOobCode(
          email: message.email, newEmail: message.newEmail, requestType: message.requestType, oobCode: message.code,
          oobLink: message.link)
      }
    }
  }

  /// The codes to phones that can still be used, in the order in which they were sent.
  public func sentVerificationCodes(
    context: CallContext
  ) async throws(IdentityError) -> [SentVerificationCode] {
    try await answer {
      let recorded = sender.recordedTexts.filter { ($0.tenantID ?? "") == (context.tenantID ?? "") }
      let usable = try await areUsable(recorded.map(\.sessionInfo))
      return zip(recorded, usable).filter(\.1).map { message, _ in
        SentVerificationCode(phoneNumber: message.phoneNumber, sessionInfo: message.sessionInfo, code: message.code)
      }
    }
  }

  private func areUsable(_ secrets: [String]) async throws -> [Bool] {
    let keys = try secrets.map { Keys.ticket(try hash($0)) }
    return try await read { try await $0.get(keys) }.map { row in
      try row.map { !isExpired(try RecordCodec.decode(TicketRecord.self, from: $0)) } ?? false
    }
  }
}
