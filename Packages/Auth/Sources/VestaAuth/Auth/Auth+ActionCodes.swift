import VestaAuthBackend

extension Auth {
  // MARK: Passwords

  /// Sends an e-mail with a link to set a new password.
  ///
  /// Where the project hides which addresses have accounts, this succeeds for all.
  ///
  /// - Parameters:
  ///   - email: The address.
  ///   - actionCodeSettings: The settings of the link.
  /// - Throws: ``AuthError``: `userNotFound`, `invalidEmail`, `tooManyRequests`.
  public func sendPasswordReset(
    withEmail email: String, actionCodeSettings: ActionCodeSettings? = nil
  ) async throws {
    try await sendCode(.passwordReset, to: email, actionCodeSettings)
  }

  /// Sets a new password with the code from an e-mail.
  ///
  /// - Parameters:
  ///   - code: The code.
  ///   - newPassword: The new password.
  /// - Throws: ``AuthError``: `invalidActionCode`, `expiredActionCode`, `weakPassword`. The password is unchanged.
  public func confirmPasswordReset(withCode code: String, newPassword: String) async throws {
    guard !newPassword.isEmpty else { throw AuthError.emptyNewPassword }
    _ = try await perform { backend, context throws(AuthServiceError) in
      try await backend.resetPassword(
        ResetPasswordRequest(oobCode: code, newPassword: newPassword), context: context)
    }
  }

  /// Returns the e-mail address whose password a code resets; the code stays usable.
  ///
  /// - Parameter code: The code.
  /// - Returns: The e-mail address.
  /// - Throws: ``AuthError``: `invalidActionCode`, `expiredActionCode`.
  public func verifyPasswordResetCode(_ code: String) async throws -> String {
    let info = try await checkActionCode(code)
    guard info.operation == .passwordReset else {
      throw AuthError(.invalidActionCode, "The code is not one to set a new password.")
    }
    return info.email
  }

  // MARK: Any code

  /// Returns the purpose and the e-mail address of a code; the code stays usable.
  ///
  /// - Parameter code: The code.
  /// - Returns: The purpose and the address.
  /// - Throws: ``AuthError``: `invalidActionCode`, `expiredActionCode`.
  public func checkActionCode(_ code: String) async throws -> ActionCodeInfo {
    let response = try await perform { backend, context throws(AuthServiceError) in
      try await backend.resetPassword(ResetPasswordRequest(oobCode: code), context: context)
    }
    let operation = ActionCodeOperation(requestType: response.requestType.rawValue)
    return ActionCodeInfo(operation: operation, email: response.email, newEmail: response.newEmail)
  }

  /// Applies a code: verifies, changes or recovers an e-mail address.
  ///
  /// - Parameter code: The code; it is used up.
  /// - Throws: ``AuthError``: `invalidActionCode`, `expiredActionCode`, `emailAlreadyInUse`.
  public func applyActionCode(_ code: String) async throws {
    _ = try await perform { backend, context throws(AuthServiceError) in
      try await backend.update(UpdateRequest(oobCode: code), context: context)
    }
  }

  // MARK: Links to sign in

  /// Sends an e-mail with a link to sign in with.
  ///
  /// - Parameters:
  ///   - email: The address.
  ///   - actionCodeSettings: The settings of the link; `handleCodeInApp` must be set.
  /// - Throws: ``AuthError``: `invalidEmail`, `operationNotAllowed`, `invalidContinueURI`. The embedded engine also
  ///   sends a link without `url`; a service that demands it answers `missingContinueURI`.
  public func sendSignInLink(toEmail email: String, actionCodeSettings: ActionCodeSettings) async throws {
    guard actionCodeSettings.handleCodeInApp else {
      throw AuthError(.internalError, "Set actionCodeSettings.handleCodeInApp: a link to sign in is opened by the app.")
    }
    try await sendCode(.emailSignIn, to: email, actionCodeSettings)
  }

  private func sendCode(
    _ type: OobRequestType, to email: String, _ actionCodeSettings: ActionCodeSettings?
  ) async throws {
    let request = SendOobCodeRequest(requestType: type, email: email, settings: OobLinkSettings(actionCodeSettings))
    _ = try await perform { backend, context throws(AuthServiceError) in
      try await backend.sendOobCode(request, context: context)
    }
  }

  // MARK: Ways to sign in

  /// The ways to sign in that an e-mail address has; none where the project hides that.
  ///
  /// Firebase's SDK deprecates it, because it reveals to strangers who has an account.
  ///
  /// - Parameter email: The address.
  /// - Returns: Such as "password", "emailLink", "google.com".
  /// - Throws: ``AuthError``: `invalidEmail`.
  public func fetchSignInMethods(forEmail email: String) async throws -> [String] {
    try await perform { backend, context throws(AuthServiceError) in
      try await backend.createAuthURI(CreateAuthURIRequest(identifier: email), context: context).signInMethods
    }
  }

  // MARK: Tokens of providers

  /// Revokes what Apple has issued for the current user, who stays signed in.
  ///
  /// The embedded engine needs a way to Apple for it, `AuthServiceOptions.tokenRevokers["apple.com"]`.
  ///
  /// - Parameter authorizationCode: Apple's authorization code.
  /// - Throws: ``AuthError``: `nullUser` when no user is signed in, `internalError` with the cause `NOT_IMPLEMENTED`
  ///   when the backend has no way to Apple.
  public func revokeToken(withAuthorizationCode authorizationCode: String) async throws {
    try await AuthActor.run { try await self.performRevocation(authorizationCode) }
  }

  @AuthActor
  private func performRevocation(_ authorizationCode: String) async throws {
    guard let user = currentUserIfReadable() else { throw AuthError(.nullUser, "Nobody is signed in.") }
    try await user.authorized { idToken, backend, context throws(AuthServiceError) in
      let request = RevokeTokenRequest(
        idToken: idToken, providerID: AuthProviderID.apple.rawValue, token: authorizationCode, tokenType: .code)
      try await backend.revokeToken(request, context: context)
    }
  }
}
