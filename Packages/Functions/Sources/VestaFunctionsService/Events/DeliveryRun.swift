import VestaConcurrency

/// A task that delivers events one after another, and the time limit of the one that it delivers.
///
/// A function runs in that task itself: a task for each event would cost more than most functions. So the task is
/// cancelled when a function exceeds its time limit, and takes no event after that one.
final class DeliveryRun: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var isCancelled = false
    /// The number of the event that runs, from 1 on.
    var event = 0
    var isRunning = false
    var isLate = false
  }

  private let state = Locked(State())

  /// Whether the task was cancelled, or is about to be.
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Whether the last function has exceeded its time limit.
  var isLate: Bool { state.withLock { $0.isLate } }

  /// Notes the task, which may run already.
  func begin(_ task: Task<Void, Never>) {
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.task = task }
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  /// A function begins.
  ///
  /// - Returns: The number of the event, for ``expire(_:)``.
  func functionBegins() -> Int {
    state.withLock { state in
      state.event += 1
      (state.isRunning, state.isLate) = (true, false)
      return state.event
    }
  }

  /// The function has ended: its time limit has no effect.
  ///
  /// - Returns: Whether it has exceeded its time limit.
  func functionEnds() -> Bool {
    state.withLock { state in
      state.isRunning = false
      return state.isLate
    }
  }

  /// The time limit of an event's function has passed: cancels the task if that function still runs.
  ///
  /// - Returns: Whether it does.
  func expire(_ event: Int) -> Bool {
    let (isLate, task) = state.withLock { state -> (Bool, Task<Void, Never>?) in
      guard state.isRunning, state.event == event else { return (false, nil) }
      (state.isLate, state.isCancelled) = (true, true)
      return (true, state.task.take())
    }
    task?.cancel()
    return isLate
  }

  /// Cancels the task: nothing more is delivered.
  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task.take()
    }
    task?.cancel()
  }
}
