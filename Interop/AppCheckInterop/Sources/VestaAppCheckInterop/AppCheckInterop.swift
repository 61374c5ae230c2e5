public import VestaConcurrency

/// App Check as other products use it: a token that proves that a call is made by the genuine app.
///
/// Products send the token along with each call when App Check is there.
///
/// Promises of every implementation (`VestaAppCheckInteropContracts` checks them):
/// - All methods may be called from any thread at any time, also from within a listener.
/// - There is always a token to send, also after a failure; `AppCheckTokenResultInterop` says why.
/// - A token stays the same until it is refreshed. A listener is called with each new one.
/// - A failure is not remembered, and leaves the current token as it is.
/// - Limited-use tokens are for one call each: they are never returned again, do not replace the current token, and no
///   listener is called for them.
/// - Listeners keep the promises of `ListenerRegistration`; they are called for changes only.
public protocol AppCheckInterop: Sendable {
  /// The current token, fetched first where there is none that is valid.
  ///
  /// Many callers at once may share one fetch. A cancelled caller leaves at once, with `CancellationError` as the
  /// result's error; the others get their token.
  ///
  /// ```swift
  /// let result = await appCheck.getToken(forcingRefresh: false)
  /// request.headers["X-Firebase-AppCheck"] = result.token
  /// ```
  ///
  /// - Parameter forcingRefresh: Whether to fetch a new token even though the current one is still valid.
  /// - Returns: The token, or a placeholder and an error.
  func getToken(forcingRefresh: Bool) async -> AppCheckTokenResultInterop

  /// A token for one call to a backend that accepts each token only once.
  ///
  /// - Returns: The token, or a placeholder and an error.
  func getLimitedUseToken() async -> AppCheckTokenResultInterop

  /// Adds a listener that is called with each new token.
  ///
  /// - Parameter listener: Called with each new token, the first one included, but not with the token that is current
  ///   when the listener is added. Never called before this method has returned.
  /// - Returns: Removes the listener on `cancel()`.
  func addTokenListener(_ listener: @escaping @Sendable (AppCheckTokenChange) -> Void) -> ListenerRegistration
}

/// A closure that is called with the result of a request for a token.
public typealias AppCheckTokenHandlerInterop = @Sendable (AppCheckTokenResultInterop) -> Void

extension AppCheckInterop {
  /// Gets the current token and hands it to a closure.
  ///
  /// - Parameters:
  ///   - forcingRefresh: Whether to fetch a new token even though the current one is still valid.
  ///   - completion: Called exactly once, on no particular thread.
  public func getToken(forcingRefresh: Bool, completion: @escaping AppCheckTokenHandlerInterop) {
    Task { completion(await getToken(forcingRefresh: forcingRefresh)) }
  }

  /// Gets a token for one call and hands it to a closure.
  ///
  /// - Parameter completion: Called exactly once, on no particular thread.
  public func getLimitedUseToken(completion: @escaping AppCheckTokenHandlerInterop) {
    Task { completion(await getLimitedUseToken()) }
  }

  /// Each new token from now on; none is dropped.
  ///
  /// Cancelling the reading task, leaving a loop over this property, or dropping the stream removes its listener.
  ///
  /// ```swift
  /// for await change in appCheck.tokenChanges {
  ///   await connection.attest(with: change.token)
  /// }
  /// ```
  public var tokenChanges: AsyncStream<AppCheckTokenChange> { .events { sink in addTokenListener { sink.send($0) } } }
}
