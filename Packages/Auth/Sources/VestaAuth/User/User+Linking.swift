import VestaAuthBackend

extension User {
  // MARK: Linking

  /// Links a provider to the account; a password ends all other sessions of the account.
  ///
  /// - Parameter credential: The new way.
  /// - Returns: The user, with the provider in ``providerData``.
  /// - Throws: ``AuthError``: `providerAlreadyLinked`; `credentialAlreadyInUse` or `emailAlreadyInUse`, with a
  ///   credential that signs in to the other account where there is one. The account is unchanged.
  @discardableResult
  public func link(with credential: AuthCredential) async throws -> AuthDataResult {
    try await AuthActor.run { try await self.performLink(credential) }
  }

  @AuthActor
  private func performLink(_ credential: AuthCredential) async throws -> AuthDataResult {
    guard !record.providers.contains(where: { $0.providerID == credential.provider }) else {
      throw AuthError(.providerAlreadyLinked, "The account has the provider \(credential.provider) already.")
    }
    return try await add(credential)
  }

  @AuthActor
  private func add(_ credential: AuthCredential) async throws -> AuthDataResult {
    let signIn = try await change(bringing: \.tokens) { idToken, backend, context throws(AuthServiceError) in
      try await FirstFactor.present(credential, idToken: idToken, to: backend, context: context)
    }
    _ = try signIn.tokensOrError(auth: try owner, tenantID: record.tenantID)
    try await lookUp()
    return AuthDataResult(user: self, additionalUserInfo: signIn.info, credential: signIn.credential)
  }

  /// Changes the phone number of the account, or adds the first one.
  ///
  /// - Parameter credential: The credential of the new number, see ``PhoneAuthProvider``.
  /// - Throws: ``AuthError``: `credentialAlreadyInUse` when another account has the number, `invalidVerificationCode`,
  ///   `requiresRecentLogin`. On failure the number is unchanged.
  public func updatePhoneNumber(_ credential: PhoneAuthCredential) async throws {
    _ = try await AuthActor.run { try await self.add(credential) }
  }

  /// Removes a provider from the account.
  ///
  /// - Parameter provider: The id of the provider, such as "password" or "google.com".
  /// - Returns: The user.
  /// - Throws: ``AuthError``: `noSuchProvider` when the account does not have it.
  public func unlink(fromProvider provider: String) async throws -> User {
    try await AuthActor.run { try await self.performUnlink(provider) }
  }

  @AuthActor
  private func performUnlink(_ provider: String) async throws -> User {
    guard record.providers.contains(where: { $0.providerID == provider }) else {
      throw AuthError(.noSuchProvider, "The account does not have the provider \(provider).")
    }
    try await update { UpdateRequest(idToken: $0, deleteProviders: [provider]) }
    return self
  }

  // MARK: Signing in again

  /// Signs the user in again, for an operation that wants a recent sign-in.
  ///
  /// - Parameter credential: A way to sign in that the account has.
  /// - Returns: The user.
  /// - Throws: ``AuthError``: `userMismatch` when the credential is another user's. No user is signed out.
  @discardableResult
  public func reauthenticate(with credential: AuthCredential) async throws -> AuthDataResult {
    try await AuthActor.run { try await self.performReauthentication(credential) }
  }

  @AuthActor
  private func performReauthentication(_ credential: AuthCredential) async throws -> AuthDataResult {
    let auth = try owner
    let signIn: FirstFactor
    do {
      signIn = try await auth.call(inTenant: record.tenantID) { backend, context throws(AuthServiceError) in
        try await FirstFactor.present(credential, idToken: nil, to: backend, context: context)
      }
    } catch AuthErrorCode.userNotFound {
      throw AuthError(.userMismatch)
    }
    let tokens = try signIn.tokensOrError(auth: auth, tenantID: record.tenantID, user: self)
    return try await finishReauthentication(tokens, signIn)
  }

  /// Takes over the tokens of a sign-in, when they are the user's.
  @AuthActor
  func finishReauthentication(_ new: AuthTokens, _ signIn: FirstFactor) async throws -> AuthDataResult {
    guard try IDToken(new.idToken).uid == uid else { throw AuthError(.userMismatch) }
    adopt(new)
    try await lookUp()
    return AuthDataResult(user: self, additionalUserInfo: signIn.info, credential: signIn.credential)
  }
}
