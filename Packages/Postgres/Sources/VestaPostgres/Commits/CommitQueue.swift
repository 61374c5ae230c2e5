import VestaConcurrency
import VestaStoreInterop

/// The transactions that wait for their commit: a value that decides which go next.
///
/// One task at a time leads them, as long as any wait; it parks here while none may commit yet.
struct CommitQueue: Sendable {
  private var requests: [CommitRequest] = []
  private var alone: [LoneTransaction] = []
  private var isLed = false
  private var isSignalled = false
  private var parked: CheckedContinuation<Void, Never>?

  /// The next thing that the leader does.
  enum Next {
    /// A transaction that runs with the lock held.
    case transaction(LoneTransaction)
    /// A unit of commits.
    case unit([CommitRequest])
    /// Some wait, and none may commit yet.
    case pause
    /// Nothing waits: the leader ends.
    case end
  }

  /// Adds a request.
  ///
  /// - Returns: Whether the caller has to start the leader; otherwise it wakes it.
  mutating func add(_ request: CommitRequest) -> Bool {
    requests.append(request)
    return lead()
  }

  /// Adds a transaction that runs alone.
  ///
  /// - Returns: Whether the caller has to start the leader; otherwise it wakes it.
  mutating func add(_ transaction: LoneTransaction) -> Bool {
    alone.append(transaction)
    return lead()
  }

  private mutating func lead() -> Bool {
    defer { isLed = true }
    return !isLed
  }

  /// Takes what is to be committed now.
  ///
  /// - Parameter running: The versions of bodies which are running.
  mutating func next(running: Set<Int64>, now: ContinuousClock.Instant, _ tuning: PostgresTuning) -> Next {
    if !alone.isEmpty { return .transaction(alone.removeFirst()) }
    requests.removeAll { $0.turn.isOver }
    let unit = Self.ready(requests, running: running, now: now, tuning)
    requests.removeAll { request in unit.contains { $0 === request } }
    if !unit.isEmpty { return .unit(unit) }
    if !requests.isEmpty { return .pause }
    isLed = false
    return .end
  }

  /// The requests that may commit: no transaction with a lower version is running, or it has had time enough.
  static func ready(
    _ requests: [CommitRequest], running: Set<Int64>, now: ContinuousClock.Instant,
    _ tuning: PostgresTuning = PostgresTuning()
  ) -> [CommitRequest] {
    let largestUnit = max(1, tuning.largestUnit)
    let sorted = requests.sorted { $0.version < $1.version }
    guard let lowest = running.min(), let oldest = sorted.map(\.since).min(), now - oldest < tuning.courtesy else {
      return Array(sorted.prefix(largestUnit))
    }
    return Array(sorted.prefix { $0.version < lowest }.prefix(largestUnit))
  }

  // MARK: Pausing

  /// Parks the leader.
  ///
  /// - Returns: Whether it is parked; if not, something has changed since it looked.
  mutating func park(_ leader: CheckedContinuation<Void, Never>) -> Bool {
    defer { isSignalled = false }
    if !isSignalled { parked = leader }
    return !isSignalled
  }

  /// Something has changed: a request was added or cancelled, or a version was abandoned.
  ///
  /// - Returns: The leader, if it is parked.
  mutating func signal() -> CheckedContinuation<Void, Never>? {
    isSignalled = parked == nil && isLed
    return parked.take()
  }
}
