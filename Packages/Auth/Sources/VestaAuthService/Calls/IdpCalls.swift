import VestaAuthBackend
import VestaBytes
import VestaCryptoInterop
import VestaServiceInterop

// Sign-in with the credential of an identity provider.

extension SignInOperation {
  func signInWithIdp(_ request: IdpSignInRequest) async throws -> IdpSignInResponse {
    let proof = try await optionalProof(request.idToken)
    let said = try await assertion(request.credential, proof)
    do {
      let result = try await writeAsking(for: proof, identity: (said, request.credential)) { call in
        try await call.signIn(said, request, try await call.caller(proof))
      }
      return try await response(result, said, request)
    } catch let error as AuthServiceError
      where request.returnIdpCredential && Self.isDecision(error, links: proof != nil)
    {
      var response = stated(said, request.credential)
      response.errorMessage = error.wireMessage
      return response
    }
  }

  /// Whether an error says what the account makes of the credential, rather than that something was wrong.
  ///
  /// That the caller's own account is disabled is wrong: it ends the caller's session.
  private static func isDecision(_ error: AuthServiceError, links: Bool) -> Bool {
    switch error.code {
    case .federatedUserIDAlreadyLinked, .emailExists: true
    case .userDisabled: !links
    default: false
    }
  }

  /// The response without what became of it.
  ///
  /// Clients make credentials of access tokens for most providers, and none without one: in development, where tokens
  /// are not a provider's, there always is one.
  private func stated(_ said: IdpAssertion, _ credential: IdpCredential) -> IdpSignInResponse {
    var response = said.response(credential)
    if options.usesDevelopmentTokens, response.oauthAccessToken == nil {
      response.oauthAccessToken = "FirebaseAuthEmulatorFakeAccessToken_\(credential.providerID)"
    }
    return response
  }

  private func response(
    _ result: IdpResult, _ said: IdpAssertion, _ request: IdpSignInRequest
  ) async throws -> IdpSignInResponse {
    var response = stated(said, request.credential)
    switch result {
    case .needsConfirmation(let owner, let hidesEmails):
      response.needsConfirmation = true
      // The address is only claimed: the id of its account stays hidden where addresses are hidden.
      if !hidesEmails { response.localID = owner.localID }
      response.verifiedProviders = owner.providers.map(\.providerID)
    case .signedIn(let first, let localID, let isNew):
      response.localID = localID
      response.isNewUser = isNew
      response.outcome = try await outcome(first)
    }
    return response
  }

  /// Revokes a token at an identity provider by the closure that `AuthServiceOptions.tokenRevokers` has for it.
  func revokeToken(_ request: RevokeTokenRequest) async throws {
    let proof = try await proof(request.idToken)
    let caller = try await read(for: proof) { call in try await call.caller(proof) as Caller }
    let providerID = try Checks.present(request.providerID, or: .missingProviderID)
    guard caller.user.providers.contains(where: { $0.providerID == providerID }) else {
      throw AuthServiceError(.invalidProviderID)
    }
    guard let revoke = options.tokenRevokers[providerID] else {
      throw AuthServiceError(.notImplemented, "AuthServiceOptions.tokenRevokers has nothing for \(providerID).")
    }
    try await revoke(request)
  }

  // MARK: Verifying credentials

  private func assertion(_ credential: IdpCredential, _ proof: Proof?) async throws -> IdpAssertion {
    guard !["", "password", "phone", "anonymous", "custom"].contains(credential.providerID) else {
      throw AuthServiceError(.invalidProviderID)
    }
    switch try await trust(in: credential.providerID, proof) {
    case .keys(let keys): return try IdpAssertion(try verified(credential, keys), credential: credential)
    case .unverified:
      if let response = credential.samlResponse, !response.isEmpty {
        return try IdpAssertion(saml: response, credential: credential)
      }
      return try IdpAssertion(try unverified(credential), credential: credential)
    }
  }

  private func verified(_ credential: IdpCredential, _ provider: IdentityProviderKeys) throws -> JWTObject {
    guard let token = credential.idToken, !token.isEmpty else {
      throw AuthServiceError(.invalidIdpResponse, "An ID token of the provider is needed.")
    }
    let claims: JWTObject
    do {
      let keys = try provider.keys.keys.map { try crypto.verificationKey(jsonWebKey: $0) }
      // Providers' clocks differ a little from ours.
      let verifier = JWTVerifier(issuers: provider.issuers, audiences: provider.audiences, leeway: 60)
      claims = try verifier.verify(token, at: nowSeconds, keys: keys).claims
    } catch let error as CryptoError {
      throw AuthServiceError(.invalidIdpResponse, "The provider's ID token is not valid: \(error.code)")
    }
    try checkNonce(claims["nonce"]?.string, credential.rawNonce)
    return claims
  }

  /// Refuses a provider's token without proof that the app which presents it has asked for it.
  ///
  /// The token holds the SHA-256 of a number that only the app knows. The claim itself proves nothing: a thief who has
  /// stolen the token can read it. Where either side has a nonce, the other needs it as well.
  private func checkNonce(_ nonce: String?, _ raw: String?) throws {
    let raw = raw ?? ""
    if nonce == nil, raw.isEmpty { return }
    guard let nonce, !raw.isEmpty,
      crypto.constantTimeEquals(Array(nonce.lowercased().utf8), Array(Hex.encode(try core.secrets.hash(raw)).utf8))
    else { throw AuthServiceError(.missingOrInvalidNonce) }
  }

  /// The claims of a credential that needs no signature: a token, or plain JSON.
  private func unverified(_ credential: IdpCredential) throws -> JWTObject {
    guard let text = credential.idToken ?? credential.accessToken, !text.isEmpty else {
      throw AuthServiceError(.invalidIdpResponse, "There is neither an ID token nor an access token.")
    }
    if text.hasPrefix("{"), let claims = ClaimsText.read(text) { return claims }
    guard let token = try? JWT(unverified: text) else {
      throw AuthServiceError(.invalidIdpResponse, "The credential is neither a JSON Web Token nor a JSON object.")
    }
    return token.claims
  }
}

/// A sign-in with a provider's credential, within its transaction.
private enum IdpResult: Sendable {
  case signedIn(FirstFactorOutcome, localID: String, isNew: Bool)
  case needsConfirmation(UserRecord, hidesEmails: Bool)
}

extension AuthWriteCall {
  fileprivate func signIn(
    _ said: IdpAssertion, _ request: IdpSignInRequest, _ caller: Caller?
  ) async throws -> IdpResult {
    if let caller { try requireRecentSignIn(caller) }
    switch try await decide(said, caller) {
    case .refuse(let error): throw error
    case .needsConfirmation(let owner): return .needsConfirmation(owner, hidesEmails: scope.config.hidesEmails)
    case .signIn(let user, let old):
      guard !user.disabled else { throw AuthServiceError(.userDisabled) }
      guard old != nil || request.autoCreate else { throw AuthServiceError(.userNotFound) }
      let provider = said.provider.providerID
      if let caller {
        let grant = try await sessions.link(user, to: caller, provider: provider)
        return .signedIn(.session(grant), localID: user.localID, isNew: false)
      }
      let first = try await sessions.finishFirstFactor(user, replacing: old, provider: provider)
      return .signedIn(first, localID: user.localID, isNew: old == nil)
    }
  }

  private func decide(_ said: IdpAssertion, _ caller: Caller?) async throws -> IdpDecision {
    let bound = try await user(providerID: said.provider.providerID, rawID: said.provider.rawID)
    var owner: UserRecord?
    if let email = said.provider.email { owner = try await user(email: email) }
    if let caller { return .link(said, to: caller.user, bound: bound, owner: owner, config: scope.config) }
    return .signIn(said, bound: bound, owner: owner, new: try newAccount(), config: scope.config, now: now)
  }
}
