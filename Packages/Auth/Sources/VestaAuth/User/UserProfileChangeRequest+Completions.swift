import VestaCore

extension UserProfileChangeRequest {
  /// Completion form of ``commitChanges()``.
  @preconcurrency
  public func commitChanges(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    CompletionForm.start(on: user.callbackQueue, completion) { try await self.commitChanges() }
  }
}
