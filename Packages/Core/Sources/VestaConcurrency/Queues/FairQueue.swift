/// Lets a limited number of callers in at once; the others wait in order of arrival, without blocking a thread.
///
/// - A slot that is released is given to the caller that has waited longest; no caller overtakes.
/// - A task that is cancelled while it waits leaves at once with `CancellationError`.
/// - After ``close(throwing:)`` waiting and later callers are refused; ``drained()`` waits until the last
///   caller inside has left.
///
/// ```swift
/// let hashing = FairQueue(limit: 4)
/// let digest = try await hashing.run { try await slowHash(password) }
/// ```
public final class FairQueue: Sendable {
  private struct State {
    var running = 0
    var waiting = Fifo<Turn<Void>>()
    /// The number of cancelled turns that are still in `waiting`.
    var cancelled = 0
    var closedError: (any Error)?
    /// The callers of `drained()`.
    var drainWaiters = Waiters()
  }

  private let limit: Int
  private let state = Locked(State())

  /// An empty queue.
  ///
  /// - Parameter limit: How many callers may be inside at once; at least one.
  public init(limit: Int) { self.limit = max(1, limit) }

  /// The number of callers inside.
  public var runningCount: Int { state.withLock { $0.running } }

  /// The number of callers that wait.
  public var waitingCount: Int { state.withLock { $0.waiting.elements.count { !$0.isOver } } }

  /// The number of turns that are kept, cancelled ones included, for tests.
  var storedCount: Int { state.withLock { $0.waiting.count } }

  /// The number of callers that wait for all slots to be free, for tests.
  var drainWaiterCount: Int { state.withLock { $0.drainWaiters.count } }

  /// Waits for a slot, runs `body`, and releases the slot.
  ///
  /// - Parameter body: Runs on the calling task.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; `CancellationError` or the error of ``close(throwing:)`` while it waited.
  public func run<Result>(_ body: () async throws -> Result) async throws -> Result {
    try await enter()
    defer { leave() }
    return try await body()
  }

  /// Takes a slot if one is free.
  ///
  /// - Returns: Whether the caller is inside, and has to call ``leave()``.
  /// - Throws: The error of ``close(throwing:)``.
  public func enterIfFree() throws -> Bool {
    try state.withLock { state in
      if let error = state.closedError { throw error }
      // A slot is free only while there are no waiters, because a slot that is released is given to the next in line.
      guard state.running < limit else { return false }
      state.running += 1
      return true
    }
  }

  /// Waits for a slot; every call that returns needs one ``leave()``.
  ///
  /// - Throws: `CancellationError`, or the error of ``close(throwing:)``; the caller is not inside then.
  public func enter() async throws {
    try Task.checkCancellation()
    if try enterIfFree() { return }
    try await Turn<Void>().wait { turn in
      let outcome = state.withLock { state -> Result<Void, any Error>? in
        if let error = state.closedError { return .failure(error) }
        guard state.running < limit else {
          state.waiting.append(turn)
          return nil
        }
        state.running += 1
        return .success(())
      }
      guard let outcome else { return }
      if let continuation = turn.begin() {
        continuation.resume(with: outcome)
      } else if case .success = outcome {
        leave()
      }
    } onCancel: { [self] _ in
      forgetCancelled()
    }
  }

  /// Releases a slot: to the caller that has waited longest, if one waits.
  public func leave() {
    while true {
      let (next, drained) = state.withLock { state -> (Turn<Void>?, Waiters) in
        if let next = state.waiting.popFirst() { return (next, Waiters()) }
        state.cancelled = 0
        state.running -= 1
        return (nil, state.running == 0 ? state.drainWaiters.takeAll() : Waiters())
      }
      drained.resume()
      guard let next else { return }
      if let continuation = next.begin() { return continuation.resume() }
      state.withLock { $0.cancelled = max(0, $0.cancelled - 1) }
    }
  }

  /// Refuses waiting and later callers; a later call changes nothing.
  ///
  /// - Parameter error: The error for them.
  /// - Returns: Whether this call has closed the queue.
  @discardableResult
  public func close(throwing error: any Error) -> Bool {
    let refused = state.withLock { state -> [Turn<Void>]? in
      guard state.closedError == nil else { return nil }
      state.closedError = error
      return state.waiting.takeAll()
    }
    for turn in refused ?? [] { turn.begin()?.resume(throwing: error) }
    return refused != nil
  }

  /// Returns when all slots are free; meant for after ``close(throwing:)``.
  public func drained() async { await state.wait(in: \.drainWaiters) { $0.running == 0 } }

  /// Takes cancelled turns out of the line when they are most of it, so that memory stays bounded by the waiting ones.
  private func forgetCancelled() {
    state.withLock { state in
      state.cancelled += 1
      guard state.cancelled > 32, state.cancelled * 2 > state.waiting.count else { return }
      let live = state.waiting.takeAll().filter { !$0.isOver }
      for turn in live { state.waiting.append(turn) }
      state.cancelled = 0
    }
  }
}
