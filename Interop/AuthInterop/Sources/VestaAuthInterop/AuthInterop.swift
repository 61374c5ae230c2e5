public import VestaConcurrency

/// Auth as other products use it: who is signed in, and a token that proves it.
///
/// Firestore, Database, Storage and Functions use it where it is registered and act without a user otherwise.
///
/// Promises of every implementation (`VestaAuthInteropContracts` checks them):
/// - All methods may be called from any thread at any time, also from within a listener.
/// - An absent user is not an error: the user id and the token are `nil`.
/// - A token stays the same until it is refreshed. A listener is called with each new one.
/// - A refresh that fails throws, is not remembered, and leaves the user and the current token as they are: a backend
///   that cannot be reached signs no user out.
/// - A refresh that the backend rejects because of the user (deleted, disabled, revoked) throws `userRejected` and
///   signs the user out; listeners are notified as of any sign-out. The checks do not cover this one: not every
///   subject has a backend that can reject.
/// - Listeners keep the promises of `ListenerRegistration`; a new one is first called with the current state.
public protocol AuthInterop: Sendable {
  /// The ID token of the current user.
  ///
  /// Many callers at once may share one refresh. A cancelled caller leaves at once; the others get their token.
  ///
  /// ```swift
  /// if let token = try await auth.getToken(forcingRefresh: false) {
  ///   request.headers["Authorization"] = "Bearer \(token)"
  /// }
  /// ```
  ///
  /// - Parameter forcingRefresh: Whether to fetch a new token even though the current one is still valid; after a
  ///   backend turned that one down, for instance.
  /// - Returns: The token; `nil` when no user is signed in.
  /// - Throws: `AuthInteropError` when there is no valid token and none could be fetched, or when a forced refresh
  ///   failed; with `userRejected` the user has been signed out. `CancellationError` when the task was cancelled while
  ///   it waited.
  func getToken(forcingRefresh: Bool) async throws -> String?

  /// The id of the current user.
  ///
  /// - Returns: The id; `nil` when no user is signed in.
  func getUserID() -> String?

  /// Adds a listener that is called with each new user and each new token.
  ///
  /// - Parameter listener: Called with the current state first, then with each change: a sign-in, a sign-out, a new
  ///   token of the same user. Never before this method has returned.
  /// - Returns: Removes the listener on `cancel()`.
  func addTokenListener(_ listener: @escaping @Sendable (AuthTokenChange) -> Void) -> ListenerRegistration
}

extension AuthInterop {
  /// Gets the ID token of the current user and hands it to a closure.
  ///
  /// - Parameters:
  ///   - forcingRefresh: Whether to fetch a new token even though the current one is still valid.
  ///   - completion: Called exactly once, on no particular thread: with the token, with an error, or with neither when
  ///     no user is signed in.
  public func getToken(
    forcingRefresh: Bool,
    completion: @escaping @Sendable (String?, (any Error)?) -> Void
  ) {
    Task {
      do {
        completion(try await getToken(forcingRefresh: forcingRefresh), nil)
      } catch {
        completion(nil, error)
      }
    }
  }

  /// The current state, then each new user and each new token; none is dropped.
  ///
  /// Cancelling the reading task, leaving a loop over this property, or dropping the stream removes its listener.
  ///
  /// ```swift
  /// for await change in auth.tokenChanges {
  ///   await connection.authenticate(with: change.token)
  /// }
  /// ```
  public var tokenChanges: AsyncStream<AuthTokenChange> { .events { sink in addTokenListener { sink.send($0) } } }
}
