import VestaCore

extension MultiFactorResolver {
  /// Completion form of ``resolveSignIn(with:)``.
  @preconcurrency
  public func resolveSignIn(
    with assertion: MultiFactorAssertion, completion: (@Sendable (AuthDataResult?, (any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: auth.callbackQueue, completion) { try await self.resolveSignIn(with: assertion) }
  }
}
