import Dispatch
import VestaConcurrency

/// Calls observers and completions on the callback queue, in order.
///
/// A lane of dedicated threads hands them over and waits: a callback that blocks holds no thread that Swift's tasks
/// need, and the order stays when the callback queue is changed.
final class EventQueue: Sendable {
  private struct State {
    var target: DispatchQueue
    var waiting: [@Sendable () -> Void] = []
    var isScheduled = false
  }

  private let lane = BlockingLane()
  private let state: Locked<State>
  private let limit: Int

  /// An empty queue.
  ///
  /// - Parameters:
  ///   - target: The queue on which callbacks are called.
  ///   - limit: The most callbacks that are called before other work of that queue has its turn.
  init(_ target: DispatchQueue, limit: Int = DatabaseTuning().callsOfABatch) {
    state = Locked(State(target: target))
    self.limit = max(1, limit)
  }

  /// Has the callbacks that were not called yet, and all later ones, called on another queue.
  func setTarget(_ target: DispatchQueue) { state.withLock { $0.target = target } }

  /// Returns when everything that was posted has been called.
  func drain() {
    let end = DispatchSemaphore(value: 0)
    post([{ end.signal() }])
    end.wait()
  }

  func post(_ calls: [@Sendable () -> Void]) {
    if calls.isEmpty { return }
    let starts = state.withLock { state in
      state.waiting += calls
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if starts { schedule() }
  }

  private func schedule() { lane.async { [self] in callSome() } }

  private func callSome() {
    let (target, calls) = state.withLock { state in
      let calls = Array(state.waiting.prefix(limit))
      // All at once in most cases; a long list is moved a few times only.
      if calls.count == state.waiting.count { state.waiting = [] } else { state.waiting.removeFirst(calls.count) }
      return (state.target, calls)
    }
    target.sync { for call in calls { call() } }
    let isDone = state.withLock { state in
      if state.waiting.isEmpty { state.isScheduled = false }
      return state.waiting.isEmpty
    }
    if !isDone { schedule() }
  }
}
