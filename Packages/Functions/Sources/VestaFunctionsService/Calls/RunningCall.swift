import VestaConcurrency

/// The task of a call and its timer, each of which may be added after the call has been cancelled.
final class RunningCall: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var timer: ListenerRegistration?
    var isOver = false
  }

  private let state = Locked(State())

  func begin(_ task: Task<Void, Never>) {
    let isOver = state.withLock { state in
      if !state.isOver { state.task = task }
      return state.isOver
    }
    if isOver { task.cancel() }
  }

  func watch(_ timer: ListenerRegistration) {
    let isOver = state.withLock { state in
      if !state.isOver { state.timer = timer }
      return state.isOver
    }
    if isOver { timer.cancel() }
  }

  /// The call is over: its task is notified, and its timer stops.
  func cancel() { end()?.cancel() }

  /// The call has ended by itself.
  func finish() { _ = end() }

  private func end() -> Task<Void, Never>? {
    let (task, timer) = state.withLock { state in
      state.isOver = true
      return (state.task.take(), state.timer.take())
    }
    timer?.cancel()
    return task
  }
}
