public import VestaAuthInterop
public import VestaConcurrency
import VestaTesting

/// An `AuthInterop` for tests: the test signs users in and out, tokens are counted.
///
/// ```swift
/// let auth = FakeAuth()
/// auth.signIn("ada")
/// try await auth.getToken(forcingRefresh: false)  // "token-1-of-ada"
/// try await auth.getToken(forcingRefresh: true)  // "token-2-of-ada"
/// ```
public final class FakeAuth: AuthInterop {
  private struct State: Sendable {
    var user: String?
    var tokens = 0
    var error: AuthInteropError?

    var current: AuthTokenChange {
      user.map { AuthTokenChange(userID: $0, token: "token-\(tokens)-of-\($0)") } ?? .signedOut
    }
  }

  private let source = StateSource<State, AuthTokenChange>(State(), greeting: \.current)
  private let gate = Gate(isOpen: true)

  /// A fake with no user signed in.
  public init() {}

  /// How many token listeners there are.
  public var listenerCount: Int { source.listenerCount }

  /// The current token; `nil` when no user is signed in.
  ///
  /// - Parameter forcingRefresh: Whether to make a new one.
  /// - Returns: The token.
  /// - Throws: The error of `failRefreshes(with:)`, or `CancellationError`.
  public func getToken(forcingRefresh: Bool) async throws -> String? {
    let current = source.read { $0.current }
    guard forcingRefresh, current.userID != nil else { return current.token }
    try await gate.pass()
    return try source.change { state, announce in
      guard state.user == current.userID else { return state.current.token }
      if let error = state.error { throw error }
      state.tokens += 1
      announce(state.current)
      return state.current.token
    }
  }

  /// The user of the last `signIn(_:)`.
  ///
  /// - Returns: The id; `nil` when no user is signed in.
  public func getUserID() -> String? { source.read { $0.user } }

  /// Adds a listener, which is first called with the current state.
  ///
  /// - Parameter listener: Called on a queue of the fake.
  /// - Returns: Removes the listener on `cancel()`.
  public func addTokenListener(_ listener: @escaping @Sendable (AuthTokenChange) -> Void) -> ListenerRegistration {
    source.add(listener)
  }

  /// Signs a user in, with a new token.
  ///
  /// - Parameter userID: The id of the user.
  public func signIn(_ userID: String) {
    source.change { state, announce in
      state.user = userID
      state.tokens += 1
      announce(state.current)
    }
  }

  /// Signs the user out; does nothing when no user is signed in.
  public func signOut() {
    source.change { state, announce in
      guard state.user != nil else { return }
      state.user = nil
      announce(state.current)
    }
  }

  /// Makes every refresh fail, or succeed again.
  ///
  /// - Parameter error: The error of every refresh from now on; `nil` lets refreshes succeed again.
  public func failRefreshes(with error: AuthInteropError?) {
    source.change { state, _ in state.error = error }
  }

  /// Holds back every refresh that begins from now on.
  public func holdRefreshes() async { gate.close() }

  /// Lets held refreshes continue.
  public func releaseRefreshes() async { gate.open() }
}
