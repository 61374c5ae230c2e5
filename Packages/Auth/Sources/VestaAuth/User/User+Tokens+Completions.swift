import VestaCore

extension User {
  /// Completion form of ``getIDToken(forcingRefresh:)``.
  @preconcurrency
  public func getIDToken(completion: (@Sendable (String?, (any Error)?) -> Void)?) {
    getIDTokenForcingRefresh(false, completion: completion)
  }

  /// Completion form of ``getIDToken(forcingRefresh:)``.
  @preconcurrency
  public func getIDTokenForcingRefresh(
    _ forceRefresh: Bool, completion: (@Sendable (String?, (any Error)?) -> Void)?
  ) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.getIDToken(forcingRefresh: forceRefresh) }
  }

  /// Completion form of ``getIDTokenResult(forcingRefresh:)``.
  @preconcurrency
  public func getIDTokenResult(completion: (@Sendable (AuthTokenResult?, (any Error)?) -> Void)?) {
    getIDTokenResult(forcingRefresh: false, completion: completion)
  }

  /// Completion form of ``getIDTokenResult(forcingRefresh:)``.
  @preconcurrency
  public func getIDTokenResult(
    forcingRefresh: Bool, completion: (@Sendable (AuthTokenResult?, (any Error)?) -> Void)?
  ) {
    CompletionForm.start(on: callbackQueue, completion) {
      try await self.getIDTokenResult(forcingRefresh: forcingRefresh)
    }
  }
}
