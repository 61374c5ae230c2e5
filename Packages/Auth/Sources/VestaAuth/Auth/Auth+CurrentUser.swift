extension Auth {
  /// Signs out.
  ///
  /// - Throws: ``AuthError`` with `keychainError` when the store could not forget the session. No user is signed in
  ///   then either, and forgetting is tried again at every occasion while the program runs; but a program that starts
  ///   again before it succeeds would find the user signed in.
  public func signOut() throws { try AuthActor.sync { try performSignOut() } }

  @AuthActor
  private func performSignOut() throws {
    try setCurrentUser(nil)
    guard machine.pendingWrite == nil else { throw AuthError(.keychainError, "The session could not be forgotten.") }
  }

  /// Sets the current user.
  ///
  /// A user of another app is looked up first, and becomes a user of this one.
  ///
  /// - Parameter user: The user.
  /// - Throws: ``AuthError``: `nullUser` for `nil`, `tenantIDMismatch`, and what a look-up throws. Who was signed in
  ///   before still is.
  public func updateCurrentUser(_ user: User?) async throws {
    try await AuthActor.run { try await self.performUpdate(user) }
  }

  @AuthActor
  private func performUpdate(_ user: User?) async throws {
    guard let user else { throw AuthError(.nullUser) }
    guard user.record.tenantID == configuration.tenantID else { throw AuthError(.tenantIDMismatch) }
    guard user.auth !== self else { return try setCurrentUser(user) }
    let copy = User(auth: self, record: user.record, tokens: user.tokens)
    try await copy.lookUp()
    try setCurrentUser(copy)
  }
}
