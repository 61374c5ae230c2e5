import VestaCore

extension User {
  /// Completion form of ``updatePassword(to:)``.
  @preconcurrency
  public func updatePassword(to password: String, completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.updatePassword(to: password) }
  }

  /// Completion form of ``updateEmail(to:)``.
  @preconcurrency
  public func updateEmail(to email: String, completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.updateEmail(to: email) }
  }

  /// Completion form of ``reload()``.
  @preconcurrency
  public func reload(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.reload() }
  }

  /// Completion form of ``sendEmailVerification(with:)``.
  @preconcurrency
  public func sendEmailVerification(
    with actionCodeSettings: ActionCodeSettings? = nil, completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) {
      try await self.sendEmailVerification(with: actionCodeSettings)
    }
  }

  /// Completion form of ``sendEmailVerification(beforeUpdatingEmail:actionCodeSettings:)``.
  @preconcurrency
  public func sendEmailVerification(
    beforeUpdatingEmail email: String, actionCodeSettings: ActionCodeSettings? = nil,
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) {
      try await self.sendEmailVerification(beforeUpdatingEmail: email, actionCodeSettings: actionCodeSettings)
    }
  }

  /// Completion form of ``delete()``.
  @preconcurrency
  public func delete(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.delete() }
  }
}
