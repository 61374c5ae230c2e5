import VestaCore

extension MultiFactor {
  /// Completion form of ``session()``.
  @preconcurrency
  public func getSessionWithCompletion(_ completion: (@Sendable (MultiFactorSession?, (any Error)?) -> Void)?) {
    CompletionForm.start(on: user.callbackQueue, completion) { try await self.session() }
  }

  /// Completion form of ``enroll(with:displayName:)``.
  @preconcurrency
  public func enroll(
    with assertion: MultiFactorAssertion, displayName: String?, completion: (@Sendable ((any Error)?) -> Void)?
  ) {
    CompletionForm.start(on: user.callbackQueue, completion) {
      try await self.enroll(with: assertion, displayName: displayName)
    }
  }

  /// Completion form of ``unenroll(with:)``.
  @preconcurrency
  public func unenroll(with factorInfo: MultiFactorInfo, completion: (@Sendable ((any Error)?) -> Void)?) {
    unenroll(withFactorUID: factorInfo.uid, completion: completion)
  }

  /// Completion form of ``unenroll(withFactorUID:)``.
  @preconcurrency
  public func unenroll(withFactorUID factorUID: String, completion: (@Sendable ((any Error)?) -> Void)?) {
    CompletionForm.start(on: user.callbackQueue, completion) { try await self.unenroll(withFactorUID: factorUID) }
  }
}
