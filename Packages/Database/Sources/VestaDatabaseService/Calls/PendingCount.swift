import VestaConcurrency

/// Counts what is under way, and lets others wait for the end of it.
final class PendingCount: Sendable {
  private let state = Locked((count: 0, waiting: Waiters()))

  func begin() { state.withLock { $0.count += 1 } }

  func end() {
    let waiting = state.withLock { state in
      state.count -= 1
      return state.count == 0 ? state.waiting.takeAll() : Waiters()
    }
    waiting.resume()
  }

  /// Returns at once with `true` when nothing is under way; with `false` after what was has ended.
  func waitUntilZero() async -> Bool {
    if state.withLock({ $0.count == 0 }) { return true }
    await state.wait(in: \.waiting) { $0.count == 0 }
    return false
  }
}
