public import VestaServiceInterop
import VestaCryptoInterop
public import VestaAuthBackend
import VestaStoreInterop

extension AuthEngine {
  /// Signs in with the credential of an identity provider, or links it to the account of an ID token.
  public func signInWithIdp(
    _ request: IdpSignInRequest, context: CallContext
  ) async throws(IdentityError) -> IdpSignInResponse {
    try await answer {
      let said = try await assertion(request.credential)
      let proof = request.idToken == nil ? nil : try await proof(request.idToken, context: context)
      do {
        let result = try await write { try await self.signIn(said, request, proof, context, in: $0) }
        return try await response(result, said, request)
      } catch let error as IdentityError where request.returnIdpCredential && Self.isDecision(error) {
        var response = said.response(request.credential)
        response.errorMessage = error.wireMessage
        return response
      }
    }
  }

  /// Whether an error says what the account thinks of the credential, rather than that something was wrong.
  private static func isDecision(_ error: IdentityError) -> Bool {
    [.federatedUserIDAlreadyLinked, .emailExists, .userDisabled].contains(error.code)
  }

  private enum IdpResult: Sendable {
    case signedIn(FirstFactor, localID: String, isNew: Bool)
    case needsConfirmation(UserRecord, hidesEmails: Bool)
  }

  private func signIn(
    _ said: IdpAssertion, _ request: IdpSignInRequest, _ proof: Proof?, _ context: CallContext,
    in transaction: any StoreTransaction
  ) async throws -> IdpResult {
    let scope = try await scope(proof?.tenantID ?? context.tenantID, in: transaction)
    let caller = try await optionalCaller(proof, in: transaction)
    if let caller { try requireRecentSignInToLink(caller) }
    switch try await decide(said, caller, scope, in: transaction) {
    case .refuse(let error): throw error
    case .needsConfirmation(let owner): return .needsConfirmation(owner, hidesEmails: scope.config.hidesEmails)
    case .signIn(let user, let old):
      guard !user.disabled else { throw IdentityError(.userDisabled) }
      guard old != nil || request.autoCreate else { throw IdentityError(.userNotFound) }
      if let caller {
        let grant = try await link(user, to: caller, provider: said.provider.providerID, in: transaction)
        return .signedIn(.session(grant), localID: user.localID, isNew: false)
      }
      let first = try await finishFirstFactor(
        user, replacing: old, provider: said.provider.providerID, scope: scope, in: transaction)
      return .signedIn(first, localID: user.localID, isNew: old == nil)
    }
  }

  private func decide(
    _ said: IdpAssertion, _ caller: Caller?, _ scope: Scope, in reader: any StoreReader
  ) async throws -> IdpDecision {
    let bound = try await reader.user(
      scope.tenant, providerID: said.provider.providerID, rawID: said.provider.rawID)
    var owner: UserRecord?
    if let email = said.provider.email { owner = try await reader.user(scope.tenant, email: email) }
    if let caller {
      return .link(said, to: caller.user, bound: bound, owner: owner, config: scope.config)
    }
    let new = try newAccount(newLocalID())
    return .signIn(said, bound: bound, owner: owner, new: new, config: scope.config, now: now)
  }

  private func response(
    _ result: IdpResult, _ said: IdpAssertion, _ request: IdpSignInRequest
  ) async throws -> IdpSignInResponse {
    var response = said.response(request.credential)
    switch result {
    case .needsConfirmation(let owner, let hidesEmails):
      response.needsConfirmation = true
      // Who claims the address has not proven it: whose account it is stays hidden where addresses are.
      if !hidesEmails { response.localID = owner.localID }
      response.verifiedProviders = owner.providers.map(\.providerID)
    case .signedIn(let first, let localID, let isNew):
      response.localID = localID
      response.isNewUser = isNew
      response.outcome = try await outcome(first)
    }
    return response
  }

  // MARK: Believing providers

  private func assertion(_ credential: IdpCredential) async throws -> IdpAssertion {
    guard !["", "password", "phone", "anonymous", "custom"].contains(credential.providerID) else {
      throw IdentityError(.invalidProviderID)
    }
    if let keys = options.identityProviders[credential.providerID] {
      return try IdpAssertion(try verified(credential, keys), credential: credential)
    }
    guard options.isDevelopment else {
      throw IdentityError(
        .operationNotAllowed, "No keys are configured for \(credential.providerID), so nothing it says can be verified."
      )
    }
    return try IdpAssertion(try unverified(credential), credential: credential)
  }

  private func verified(_ credential: IdpCredential, _ provider: IdentityProviderKeys) throws -> JWTObject {
    guard let token = credential.idToken, !token.isEmpty else {
      throw IdentityError(.invalidIdpResponse, "An ID token of the provider is needed.")
    }
    let claims: JWTObject
    do {
      let keys = try provider.keys.keys.map { try crypto.verificationKey(jsonWebKey: $0) }
      // Providers' clocks differ a little from ours.
      let verifier = JWTVerifier(issuers: provider.issuers, audiences: provider.audiences, leeway: 60)
      claims = try verifier.verify(token, at: nowSeconds, keys: keys).claims
    } catch let error as CryptoError {
      throw IdentityError(.invalidIdpResponse, "The provider's ID token is not valid: \(error.code)")
    }
    try checkNonce(claims["nonce"]?.string, credential.rawNonce)
    return claims
  }

  /// Refuses a provider's token without proof that the app which presents it has asked for it.
  ///
  /// The token holds the SHA-256 of a number that only the app knows. The claim itself proves nothing: whoever has
  /// stolen the token can read it. Where either side has a nonce, the other needs it as well.
  private func checkNonce(_ nonce: String?, _ raw: String?) throws {
    let raw = raw ?? ""
    if nonce == nil, raw.isEmpty { return }
    guard let nonce, !raw.isEmpty,
      crypto.constantTimeEquals(Array(nonce.lowercased().utf8), Array(Hex.encode(try hash(raw)).utf8))
    else { throw IdentityError(.missingOrInvalidNonce) }
  }

  /// The claims of a credential that nobody has to have signed: a token, or plain JSON.
  private func unverified(_ credential: IdpCredential) throws -> JWTObject {
    guard let text = credential.idToken ?? credential.accessToken, !text.isEmpty else {
      throw IdentityError(.invalidIdpResponse, "There is neither an ID token nor an access token.")
    }
    if text.hasPrefix("{"), let claims = ClaimsText.read(text) { return claims }
    guard let token = try? JWT(unverified: text) else {
      throw IdentityError(.invalidIdpResponse, "The credential is neither a JSON Web Token nor a JSON object.")
    }
    return token.claims
  }
}
