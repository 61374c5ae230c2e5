/// Tasks that wait until a state meets a condition; kept in that state, under its lock.
///
/// ```swift
/// struct State {
///   var readers = 0
///   var ended = Waiters()
/// }
///
/// await state.wait(in: \.ended) { $0.readers == 0 }
///
/// let ended = state.withLock { state in    // the task that changes the state
///   state.readers -= 1
///   return state.readers == 0 ? state.ended.takeAll() : Waiters()
/// }
/// ended.resume()                           // with the lock open
/// ```
///
/// For an event that happens once there is ``Latch``.
public struct Waiters: Sendable {
  private var continuations: [CheckedContinuation<Void, Never>] = []

  /// An empty list.
  public init() {}

  /// The number of tasks that wait.
  public var count: Int { continuations.count }

  /// Removes all, for the caller to resume after it has released the lock.
  public mutating func takeAll() -> Waiters {
    defer { continuations = [] }
    return self
  }

  /// Resumes all; call it once, on what ``takeAll()`` has returned.
  public func resume() {
    for continuation in continuations { continuation.resume() }
  }

  fileprivate mutating func add(_ continuation: CheckedContinuation<Void, Never>) { continuations.append(continuation) }
}

extension Locked {
  /// Returns at once when a condition holds; waits to be resumed otherwise.
  ///
  /// A cancellation does not end the wait.
  ///
  /// - Parameters:
  ///   - waiters: Where the task waits. The code that makes the condition true takes and resumes them.
  ///   - condition: The condition, which is read once, under the lock.
  public func wait(
    in waiters: any WritableKeyPath<State, Waiters> & Sendable, until condition: @Sendable (State) -> Bool
  ) async {
    await withCheckedContinuation { continuation in
      let holds = withLock { state in
        let holds = condition(state)
        if !holds { state[keyPath: waiters].add(continuation) }
        return holds
      }
      if holds { continuation.resume() }
    }
  }
}
