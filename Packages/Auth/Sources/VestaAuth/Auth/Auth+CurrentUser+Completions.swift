import VestaCore

extension Auth {
  /// Completion form of ``updateCurrentUser(_:)``.
  @preconcurrency
  public func updateCurrentUser(_ user: User?, completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.updateCurrentUser(user) }
  }
}
