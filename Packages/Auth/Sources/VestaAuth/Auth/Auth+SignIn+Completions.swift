import VestaCore

extension Auth {
  /// Completion form of ``signIn(withEmail:password:)``.
  @preconcurrency
  public func signIn(
    withEmail email: String, password: String,
    completion: (@Sendable (AuthDataResult?, (any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) {
      try await self.signIn(withEmail: email, password: password)
    }
  }

  /// Completion form of ``createUser(withEmail:password:)``.
  @preconcurrency
  public func createUser(
    withEmail email: String, password: String,
    completion: (@Sendable (AuthDataResult?, (any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) {
      try await self.createUser(withEmail: email, password: password)
    }
  }

  /// Completion form of ``signIn(withEmail:link:)``.
  @preconcurrency
  public func signIn(
    withEmail email: String, link: String,
    completion: (@Sendable (AuthDataResult?, (any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.signIn(withEmail: email, link: link) }
  }

  /// Completion form of ``signIn(with:)``.
  @preconcurrency
  public func signIn(
    with credential: AuthCredential, completion: (@Sendable (AuthDataResult?, (any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.signIn(with: credential) }
  }

  /// Completion form of ``signInAnonymously()``.
  @preconcurrency
  public func signInAnonymously(completion: (@Sendable (AuthDataResult?, (any Error)?) -> Void)? = nil) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.signInAnonymously() }
  }

  /// Completion form of ``signIn(withCustomToken:)``.
  @preconcurrency
  public func signIn(
    withCustomToken token: String, completion: (@Sendable (AuthDataResult?, (any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.signIn(withCustomToken: token) }
  }
}
