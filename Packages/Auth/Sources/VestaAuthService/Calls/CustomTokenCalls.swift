import VestaAuthBackend
import VestaCryptoInterop
import VestaServiceInterop

// Sign-in with a token that a server of the project has signed.

/// A custom token that was verified.
private struct CustomToken: Sendable {
  var localID: String
  var claims: String?
  var tenantID: String?
}

extension SignInOperation {
  func signInWithCustomToken(_ request: CustomTokenSignInRequest) async throws -> CustomTokenSignInResponse {
    let token = try await customToken(request.token)
    var operation = self
    operation.context.tenantID = token.tenantID ?? context.tenantID
    let (grant, isNew) = try await operation.write { call in
      let old = try await call.user(token.localID)
      if old?.disabled == true { throw AuthServiceError(.userDisabled) }
      var user = try old ?? call.newAccount(token.localID)
      user.customAuth = true
      let grant = try await call.sessions.signIn(user, replacing: old, provider: "custom", claims: token.claims)
      return (grant, old == nil)
    }
    return CustomTokenSignInResponse(
      localID: grant.user.localID, isNewUser: isNew, tokens: try await tokens(grant))
  }

  private func customToken(_ text: String) async throws -> CustomToken {
    let text = try Checks.present(text, or: .missingCustomToken)
    let claims = try await verifiedClaims(text)
    let tenantID = claims["tenant_id"]?.string
    // A token that names no tenant is for the project's own users, and signs no user in to a tenant that the caller
    // names.
    try checkTenant(tenantID)
    let localID = try Checks.present(
      identifier(claims["uid"]) ?? identifier(claims["user_id"]), or: .missingIdentifier)
    return CustomToken(
      localID: try Checks.localID(localID), claims: try sessionClaims(claims["claims"]), tenantID: tenantID)
  }

  /// The id in a claim; in development it may be a number, as hand-made tokens of test suites have it.
  private func identifier(_ value: JWTValue?) -> String? {
    if options.isDevelopment, let number = value?.integer { return "\(number)" }
    return value?.string
  }

  private func sessionClaims(_ value: JWTValue?) throws -> String? {
    guard let value, value != .null else { return nil }
    guard let claims = value.object else { throw AuthServiceError(.invalidClaims) }
    try Checks.freeNames(of: claims.members.map(\.name))
    let text = try ClaimsText.write(claims)
    guard text.utf8.count <= Checks.longestClaims else { throw AuthServiceError(.claimsTooLarge) }
    return claims.members.isEmpty ? nil : text
  }

  /// The claims of a custom token, if it can be trusted.
  ///
  /// It has to be signed by the project's service account, for this service, and for an hour at the most. In
  /// development mode it needs no signature, that of another account is not looked at, nor are its times, so that test
  /// suites can keep one, and plain JSON will do.
  private func verifiedClaims(_ text: String) async throws -> JWTObject {
    if options.isDevelopment, text.hasPrefix("{") {
      guard let claims = ClaimsText.read(text) else { throw Self.badCustomToken("it is not a JSON object") }
      return claims
    }
    do {
      let token = try JWT(unverified: text)
      let time = ClockTolerance.time(for: token.claims, now: nowSeconds)
      if options.isDevelopment, try await !isSignedHere(token) {
        let verifier = JWTVerifier(
          issuers: nil, audiences: [TokenClaims.customTokenAudience], requiresExpiration: false)
        var claims = token.claims
        for name in ["exp", "iat", "nbf"] { claims[name] = nil }
        try verifier.check(claims, at: time)
        return token.claims
      }
      return try await signedClaims(text, at: time)
    } catch let error as CryptoError where error.code != .libraryFailure {
      throw Self.badCustomToken("\(error.code)")
    }
  }

  /// Whether a token says that the project's service account has signed it.
  private func isSignedHere(_ token: JWT) async throws -> Bool {
    guard token.header.algorithm != "none", let issuer = token.claims["iss"]?.string else { return false }
    return try await keyRing.customTokenKey()?.clientEmail == issuer
  }

  private func signedClaims(_ text: String, at time: Int64) async throws -> JWTObject {
    guard let account = try await keyRing.customTokenKey() else {
      throw Self.badCustomToken("the project has no service account yet")
    }
    let verifier = JWTVerifier(
      issuers: [account.clientEmail], audiences: [TokenClaims.customTokenAudience], algorithms: [.rs256])
    let claims = try verifier.verify(text, at: time, keys: [account.key.verificationKey]).claims
    guard claims["sub"]?.string == account.clientEmail, let issued = claims["iat"]?.integer,
      let expiry = claims["exp"]?.integer, issued >= 0, expiry - issued <= 3600
    else { throw Self.badCustomToken("`sub` is not its issuer, or it is valid for more than an hour") }
    return claims
  }

  private static func badCustomToken(_ why: String) -> AuthServiceError { AuthServiceError(.invalidCustomToken, why) }
}
