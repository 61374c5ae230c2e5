/// Counts what is under way, and lets others wait for the end of it.
///
/// ```swift
/// changes.begin()
/// defer { changes.end() }                    // the task that changes something
/// await changes.waitUntilZero()              // a task that needs a state without changes under way
/// ```
public final class PendingCount: Sendable {
  private struct State {
    var count = 0
    var waiting = Waiters()
  }

  private let state = Locked(State())

  /// A count of nothing.
  public init() {}

  /// Counts one more.
  public func begin() { state.withLock { $0.count += 1 } }

  /// Counts one less; call it once for each ``begin()``.
  public func end() {
    let waiting = state.withLock { state in
      state.count -= 1
      return state.count == 0 ? state.waiting.takeAll() : Waiters()
    }
    waiting.resume()
  }

  /// Waits while something is under way; a cancellation does not end the wait.
  ///
  /// - Returns: `true` when nothing was.
  @discardableResult
  public func waitUntilZero() async -> Bool {
    if state.withLock({ $0.count == 0 }) { return true }
    await state.wait(in: \.waiting) { $0.count == 0 }
    return false
  }
}
