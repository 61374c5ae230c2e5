import Dispatch
import VestaConcurrency

/// A gate for tasks and threads: a test closes it to hold calls back, and opens it to let them continue.
///
/// ```swift
/// let gate = Gate()                     // closed
/// let call = Task { await gate.wait() }
/// gate.open()                           // the call continues, and so does every later one
/// ```
public final class Gate: Sendable {
  private struct State {
    var isOpen: Bool
    var turns: [Turn<Void>] = []
    var tasks: [CheckedContinuation<Void, Never>] = []
    var threads: [DispatchSemaphore] = []
  }

  private let state: Locked<State>

  /// A gate.
  ///
  /// - Parameter isOpen: Whether it begins open.
  public init(isOpen: Bool = false) { state = Locked(State(isOpen: isOpen)) }

  /// The number of tasks and threads that wait, without cancelled ones.
  public var waitingCount: Int {
    state.withLock { $0.turns.count { !$0.isOver } + $0.tasks.count + $0.threads.count }
  }

  /// Holds back every call from now on.
  public func close() { state.withLock { $0.isOpen = false } }

  /// Lets all waiting tasks continue.
  public func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state = State(isOpen: true) }
      return state
    }
    for turn in waiting.turns { turn.begin()?.resume() }
    for task in waiting.tasks { task.resume() }
    for thread in waiting.threads { thread.signal() }
  }

  /// Continues at once while the gate is open; otherwise waits until it opens.
  ///
  /// - Throws: `CancellationError`, at once, when the task is cancelled.
  public func pass() async throws {
    try await Turn<Void>().wait { turn in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.turns.append(turn) }
        return state.isOpen
      }
      if isOpen { turn.begin()?.resume() }
    }
  }

  /// Waits until the gate is open; a cancellation does not end the wait.
  public func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.tasks.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Blocks the calling thread until the gate is open; for callbacks that are not asynchronous.
  ///
  /// - Parameter limit: How long at most; `nil` for as long as it is closed, as a busy machine may hold up the task
  ///   that opens it for any time.
  /// - Returns: Whether the gate opened in time.
  public func passes(within limit: Duration? = nil) -> Bool {
    let semaphore = DispatchSemaphore(value: 0)
    let isOpen = state.withLock { state in
      if !state.isOpen { state.threads.append(semaphore) }
      return state.isOpen
    }
    if isOpen { return true }
    let end = limit.map { DispatchTime.now() + $0.dispatchInterval } ?? .distantFuture
    let isInTime = semaphore.wait(timeout: end) == .success
    if !isInTime { state.withLock { $0.threads.removeAll { $0 === semaphore } } }
    return isInTime
  }
}

extension Duration {
  /// The same length of time for Dispatch.
  var dispatchInterval: DispatchTimeInterval {
    .milliseconds(Int(components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000))
  }
}
