public import VestaAppCheckInterop
public import VestaConcurrency
import VestaTesting

/// An `AppCheckInterop` for tests: tokens are counted, and fail when the test says so.
///
/// ```swift
/// let appCheck = FakeAppCheck()
/// await appCheck.getToken(forcingRefresh: false).token  // "token-1"
/// await appCheck.getToken(forcingRefresh: true).token  // "token-2"
/// await appCheck.getLimitedUseToken().token  // "limited-3"
/// ```
public final class FakeAppCheck: AppCheckInterop {
  private struct State: Sendable {
    var token: String?
    var count = 0
    var error: AppCheckInteropError?

    mutating func make(_ kind: String) throws -> String {
      if let error { throw error }
      count += 1
      return "\(kind)-\(count)"
    }
  }

  private let source = StateSource<State, AppCheckTokenChange>(State())
  private let gate = Gate(isOpen: true)

  /// A fake without a token.
  public init() {}

  /// How many token listeners there are.
  public var listenerCount: Int { source.listenerCount }

  /// The current token, or a new one.
  ///
  /// - Parameter forcingRefresh: Whether to make a new one.
  /// - Returns: The token, or a placeholder and the error of `failFetches(with:)`.
  public func getToken(forcingRefresh: Bool) async -> AppCheckTokenResultInterop {
    if !forcingRefresh, let token = source.read({ $0.token }) { return AppCheckTokenResultInterop(token: token) }
    return await result { state, announce in
      // Another call may have fetched the first token while this call waited.
      if !forcingRefresh, let token = state.token { return token }
      let token = try state.make("token")
      state.token = token
      announce(AppCheckTokenChange(token: token))
      return token
    }
  }

  /// A token that was never given before.
  ///
  /// - Returns: The token, or a placeholder and the error of `failFetches(with:)`.
  public func getLimitedUseToken() async -> AppCheckTokenResultInterop {
    await result { state, _ in try state.make("limited") }
  }

  /// Adds a listener, which is called with new tokens.
  ///
  /// - Parameter listener: Called on a queue of the fake.
  /// - Returns: Removes the listener on `cancel()`.
  public func addTokenListener(_ listener: @escaping @Sendable (AppCheckTokenChange) -> Void) -> ListenerRegistration {
    source.add(listener)
  }

  /// Makes every fetch fail, or succeed again.
  ///
  /// - Parameter error: The error from now on; `nil` ends that.
  public func failFetches(with error: AppCheckInteropError?) {
    source.change { state, _ in state.error = error }
  }

  /// Holds back every fetch that begins from now on.
  public func holdFetches() async { gate.close() }

  /// Lets held fetches continue.
  public func releaseFetches() async { gate.open() }

  private func result(
    of fetch: (_ state: inout State, _ announce: (AppCheckTokenChange) -> Void) throws -> String
  ) async -> AppCheckTokenResultInterop {
    do {
      try await gate.pass()
      return AppCheckTokenResultInterop(token: try source.change(fetch))
    } catch {
      return AppCheckTokenResultInterop(error: error)
    }
  }
}
