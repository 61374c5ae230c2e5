extension User {
  /// The ID token, refreshed first where it has less than five minutes left.
  ///
  /// Many callers at the same time share one call of the backend.
  ///
  /// - Parameter forceRefresh: Whether to fetch a new one in any case, to see new claims for instance.
  /// - Returns: The token.
  /// - Throws: ``AuthError``. With `networkError` the user and the token stay as they are; with `userTokenExpired`,
  ///   `userDisabled`, `userNotFound` or `invalidUserToken` the user is signed out.
  public func getIDToken(forcingRefresh forceRefresh: Bool = false) async throws -> String {
    try await AuthActor.run { try await self.currentTokens(forcingRefresh: forceRefresh).idToken }
  }

  /// The ID token; the same as ``getIDToken(forcingRefresh:)``.
  ///
  /// - Parameter forceRefresh: Whether to fetch a new one in any case.
  /// - Returns: The token.
  /// - Throws: ``AuthError``.
  public func idTokenForcingRefresh(_ forceRefresh: Bool) async throws -> String {
    try await getIDToken(forcingRefresh: forceRefresh)
  }

  /// The ID token and what it says.
  ///
  /// - Parameter forceRefresh: Whether to fetch a new one in any case.
  /// - Returns: The token and its claims.
  /// - Throws: ``AuthError``, as ``getIDToken(forcingRefresh:)``; `malformedJWT` when the backend's token is none.
  public func getIDTokenResult(forcingRefresh forceRefresh: Bool = false) async throws -> AuthTokenResult {
    try AuthTokenResult(token: await getIDToken(forcingRefresh: forceRefresh))
  }
}
