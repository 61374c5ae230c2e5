public import VestaConcurrency

/// Virtual time: it does not move until a test advances it, and timers fire in the order of their deadlines.
///
/// Time is counted in microseconds since 1970, as in the services. Timers with the same deadline fire in the order in
/// which they were set; while a timer's work runs, the clock shows its deadline, and a timer that it sets fires in the
/// same `advance` if it is due. No lock is held while work runs.
///
/// ```swift
/// let clock = ManualClock()
/// let timer = clock.schedule(after: .seconds(30)) { retry() }
/// clock.advance(by: .seconds(30))   // retry runs here
/// ```
public final class ManualClock: Sendable {
  private struct Timer {
    let deadline: Int64
    let number: Int
    let work: @Sendable () -> Void
  }

  private struct State {
    var now: Int64
    var lastNumber = 0
    var timers: [Timer] = []
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state: Locked<State>

  /// A clock.
  ///
  /// - Parameter start: The first time, in microseconds since 1970; 2026-01-01T00:00:00Z unless given.
  public init(at start: Int64 = 1_767_225_600_000_000) { state = Locked(State(now: start)) }

  /// The time in microseconds since 1970.
  public var now: Int64 { state.withLock { $0.now } }

  /// The time in milliseconds since 1970.
  public var milliseconds: Int64 { now / 1_000 }

  /// The time in seconds since 1970.
  public var seconds: Int64 { now / 1_000_000 }

  /// The deadlines of the timers that are set, in order.
  public var deadlines: [Int64] { state.withLock { $0.timers.map(\.deadline) } }

  /// Sets a timer.
  ///
  /// - Parameters:
  ///   - delay: How far ahead; a delay of zero or less fires at the next `advance`, also at one by zero.
  ///   - work: Runs once, on the thread that advances the clock.
  /// - Returns: The registration, which stops the timer.
  @discardableResult
  public func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ListenerRegistration {
    schedule(at: now + delay.wholeMicroseconds, work)
  }

  /// Sets a timer for a time in microseconds since 1970.
  @discardableResult
  public func schedule(at deadline: Int64, _ work: @escaping @Sendable () -> Void) -> ListenerRegistration {
    let (number, watchers) = state.withLock { state in
      state.lastNumber += 1
      let index = state.timers.firstIndex { $0.deadline > deadline } ?? state.timers.count
      state.timers.insert(Timer(deadline: deadline, number: state.lastNumber, work: work), at: index)
      let count = state.timers.count
      let satisfied = state.watchers.filter { $0.count <= count }.map(\.continuation)
      state.watchers.removeAll { $0.count <= count }
      return (state.lastNumber, satisfied)
    }
    for watcher in watchers { watcher.resume() }
    return ListenerRegistration { [weak self] in
      // The timer is handed out, so that what it captured is freed with the lock open.
      _ = self?.state.withLock { state in
        state.timers.firstIndex { $0.number == number }.map { state.timers.remove(at: $0) }
      }
    }
  }

  /// Suspends the task until the clock has advanced so far.
  ///
  /// - Throws: `CancellationError`, at once, when the task is cancelled.
  public func sleep(for delay: Duration) async throws {
    let timer = Locked<ListenerRegistration?>(nil)
    try await Turn<Void>().wait { turn in
      let registration = schedule(after: delay) { turn.begin()?.resume() }
      timer.withLock { $0 = registration }
      if turn.isOver { registration.cancel() }
    } onCancel: { _ in
      timer.withLock { $0 }?.cancel()
    }
  }

  /// Moves the time on, and fires every timer that is due on the way, in order.
  public func advance(by delay: Duration) { advance(to: now + delay.wholeMicroseconds) }

  /// Moves the time on to a time in microseconds since 1970; a clock is never set back.
  public func advance(to target: Int64) {
    while let work = takeDue(upTo: target) { work() }
    state.withLock { $0.now = max($0.now, target) }
  }

  /// Sets the time without firing timers, also back: for tests of clocks that jump.
  public func jump(to time: Int64) { state.withLock { $0.now = time } }

  /// Moves the time on to the next timer and fires it.
  ///
  /// - Returns: Whether there was a timer.
  @discardableResult
  public func fireNext() -> Bool {
    guard let deadline = deadlines.first else { return false }
    guard let work = takeDue(upTo: deadline) else { return false }
    work()
    return true
  }

  /// Waits until a number of timers are set: the way to know that code under test has begun to wait.
  public func waitForTimers(_ count: Int = 1) async {
    await withCheckedContinuation { continuation in
      let isNow = state.withLock { state in
        if state.timers.count >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isNow { continuation.resume() }
    }
  }

  private func takeDue(upTo target: Int64) -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard let first = state.timers.first, first.deadline <= target else { return nil }
      state.timers.removeFirst()
      state.now = max(state.now, first.deadline)
      return first.work
    }
  }
}

extension Duration {
  /// The length in whole microseconds, rounded up, so that no timer fires early.
  var wholeMicroseconds: Int64 {
    let (seconds, attoseconds) = components
    let fraction = attoseconds / 1_000_000_000_000 + (attoseconds % 1_000_000_000_000 > 0 ? 1 : 0)
    return seconds.multipliedReportingOverflow(by: 1_000_000).partialValue + fraction
  }
}
