import VestaConcurrency
import VestaServiceInterop

/// Calls the receivers of an engine's connections on threads that no task runs on, one call at a time for each
/// connection.
///
/// A message to a topic reaches many connections at once, and their receivers return quickly as a rule. So one thread
/// calls one after the other: waking a thread costs several times as much as a call. A receiver that blocks delays no
/// other for long: whenever connections wait for a patience, the number of threads that are started doubles.
///
/// Worked example, with a patience of 1 ms, and connections A to D of which A's receiver blocks:
///
/// | time | event | threads |
/// |---|---|---|
/// | 0 | A is submitted: a thread starts, and calls A | 1 |
/// | 0 | B, C and D are submitted: they wait, and the timer is set | 1 |
/// | 1 ms | the timer: B, C and D still wait, so a thread starts, and calls them | 2 |
/// | 9 ms | B is submitted: no thread has taken a connection lately, so one starts at once | 2 |
final class DeliveryRunner: Sendable {
  private struct State {
    var waiting = Fifo<Session>()
    /// The threads that call receivers, or will.
    var threads = 0
    /// When a thread has taken a connection, or was started, for the last time.
    var lastTaken = Int64.min
    /// The number of threads that the timer starts next; `nil` while it is not set.
    var next: Int?
  }

  private let pool: BlockingPool
  private let limit: Int
  private let patience: Duration
  /// The time of the machine and no engine's: it measures how long threads are held up.
  private let clock: ServiceClock
  private let state = Locked(State())

  /// A runner without threads.
  ///
  /// - Parameters:
  ///   - limit: The most threads at a time.
  ///   - patience: How long connections wait for a thread before another one starts.
  init(on pool: BlockingPool = .shared, limit: Int, patience: Duration, clock: ServiceClock = .system) {
    (self.pool, self.limit, self.patience, self.clock) = (pool, max(1, limit), patience, clock)
  }

  /// The number of threads that call receivers, or will.
  var threads: Int { state.withLock { $0.threads } }

  private enum Step { case none, start, watch }

  /// Has a thread drain a connection, later; returns at once.
  func submit(_ session: Session) {
    let (time, patience) = (clock.now(), patience.microseconds)
    let step = state.withLock { state -> Step in
      state.waiting.append(session)
      guard state.threads < limit else { return .none }
      if state.threads == 0 || state.lastTaken <= time - patience {
        (state.threads, state.lastTaken) = (state.threads + 1, time)
        return .start
      }
      guard state.next == nil else { return .none }
      state.next = 1
      return .watch
    }
    switch step {
    case .none: break
    case .start: pool.async(serve)
    case .watch: watch()
    }
  }

  /// Starts threads after a while, if connections still wait.
  private func watch() {
    _ = clock.schedule(after: patience) { [self] in
      let time = clock.now()
      let started = state.withLock { state -> Int in
        let count = min(state.next ?? 1, state.waiting.count, limit - state.threads)
        guard count > 0 else {
          state.next = nil
          return 0
        }
        (state.threads, state.lastTaken, state.next) = (state.threads + count, time, count * 2)
        return count
      }
      for _ in 0..<started { pool.async(serve) }
      if started > 0 { watch() }
    }
  }

  /// The work of one thread, until no connection waits.
  private func serve() {
    while let session = takeNext() {
      if session.drain() { state.withLock { $0.waiting.append(session) } }
      // Other work of the process waits for a thread.
      if pool.waitingCount > 0 { return pool.async(serve) }
    }
  }

  private func takeNext() -> Session? {
    let time = clock.now()
    return state.withLock { state in
      guard let session = state.waiting.popFirst() else {
        state.threads -= 1
        return nil
      }
      state.lastTaken = time
      return session
    }
  }
}
