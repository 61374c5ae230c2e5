import VestaCore

extension User {
  /// Completion form of ``link(with:)``.
  @preconcurrency
  public func link(
    with credential: AuthCredential, completion: (@Sendable (AuthDataResult?, (any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.link(with: credential) }
  }

  /// Completion form of ``unlink(fromProvider:)``.
  @preconcurrency
  public func unlink(
    fromProvider provider: String, completion: (@Sendable (User?, (any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.unlink(fromProvider: provider) }
  }

  /// Completion form of ``reauthenticate(with:)``.
  @preconcurrency
  public func reauthenticate(
    with credential: AuthCredential, completion: (@Sendable (AuthDataResult?, (any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.reauthenticate(with: credential) }
  }

  /// Completion form of ``updatePhoneNumber(_:)``.
  @preconcurrency
  public func updatePhoneNumber(
    _ credential: PhoneAuthCredential, completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.updatePhoneNumber(credential) }
  }
}
