import VestaCore

extension Auth {
  /// Completion form of ``sendPasswordReset(withEmail:actionCodeSettings:)``.
  @preconcurrency
  public func sendPasswordReset(withEmail email: String, completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    sendPasswordReset(withEmail: email, actionCodeSettings: nil, completion: completion)
  }

  /// Completion form of ``sendPasswordReset(withEmail:actionCodeSettings:)``.
  @preconcurrency
  public func sendPasswordReset(
    withEmail email: String, actionCodeSettings: ActionCodeSettings?,
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) {
      try await self.sendPasswordReset(withEmail: email, actionCodeSettings: actionCodeSettings)
    }
  }

  /// Completion form of ``confirmPasswordReset(withCode:newPassword:)``.
  @preconcurrency
  public func confirmPasswordReset(
    withCode code: String, newPassword: String, completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    CompletionForm.start(on: callbackQueue, completion) {
      try await self.confirmPasswordReset(withCode: code, newPassword: newPassword)
    }
  }

  /// Completion form of ``verifyPasswordResetCode(_:)``.
  @preconcurrency
  public func verifyPasswordResetCode(
    _ code: String, completion: @escaping @Sendable (String?, (any Error)?) -> Void
  ) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.verifyPasswordResetCode(code) }
  }

  /// Completion form of ``checkActionCode(_:)``.
  @preconcurrency
  public func checkActionCode(
    _ code: String, completion: @escaping @Sendable (ActionCodeInfo?, (any Error)?) -> Void
  ) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.checkActionCode(code) }
  }

  /// Completion form of ``applyActionCode(_:)``.
  @preconcurrency
  public func applyActionCode(_ code: String, completion: @escaping @Sendable ((any Error)?) -> Void) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.applyActionCode(code) }
  }

  /// Completion form of ``sendSignInLink(toEmail:actionCodeSettings:)``.
  @preconcurrency
  public func sendSignInLink(
    toEmail email: String, actionCodeSettings: ActionCodeSettings,
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) {
      try await self.sendSignInLink(toEmail: email, actionCodeSettings: actionCodeSettings)
    }
  }

  /// Completion form of ``fetchSignInMethods(forEmail:)``.
  @preconcurrency
  public func fetchSignInMethods(
    forEmail email: String, completion: (@Sendable ([String]?, (any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.fetchSignInMethods(forEmail: email) }
  }

  /// Completion form of ``revokeToken(withAuthorizationCode:)``.
  @preconcurrency
  public func revokeToken(
    withAuthorizationCode authorizationCode: String, completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) {
      try await self.revokeToken(withAuthorizationCode: authorizationCode)
    }
  }
}
