import VestaConcurrency

/// Counts what is under way, and lets others wait for the end of it.
final class PendingCount: Sendable {
  private let state = Locked((count: 0, waiting: [CheckedContinuation<Void, Never>]()))

  func begin() { state.withLock { $0.count += 1 } }

  func end() {
    let waiting = state.withLock { state in
      state.count -= 1
      defer { if state.count == 0 { state.waiting = [] } }
      return state.count == 0 ? state.waiting : []
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Returns at once with `true` when nothing is under way; with `false` after what was has ended.
  func waitUntilZero() async -> Bool {
    if state.withLock({ $0.count == 0 }) { return true }
    await withCheckedContinuation { continuation in
      let isZero = state.withLock { state in
        if state.count > 0 { state.waiting.append(continuation) }
        return state.count == 0
      }
      if isZero { continuation.resume() }
    }
    return false
  }
}
