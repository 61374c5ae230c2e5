package import VestaFirestoreBackend

/// The life of one stream: connecting, backing off, being idle.
///
/// Each connection has a number; events of an earlier one are ignored by its number.
package struct StreamMachine: Sendable {
  /// Where a stream is in its life.
  package enum State: Sendable, Hashable {
    case initial
    case starting
    case open
    case healthy
    case failed
    case backingOff
  }

  /// The timers of a stream.
  package struct Timers: Sendable, Hashable {
    let backoff: TimerName
    let idle: TimerName
    let health: TimerName

    package static let watch = Timers(backoff: .watchBackoff, idle: .watchIdle, health: .watchHealth)
    package static let write = Timers(backoff: .writeBackoff, idle: .writeIdle, health: .writeHealth)
  }

  /// A step that the owner of the stream must take.
  package enum Step: Sendable, Hashable {
    case connect(refreshesTokens: Bool)
    case disconnect
    case startTimer(TimerName, seconds: Double)
    case cancelTimer(TimerName)
  }

  /// Where the stream is in its life.
  package private(set) var state = State.initial
  /// The number of the connection.
  package private(set) var connection = 0
  private let timers: Timers
  private let tuning: SyncTuning
  private var backoff: Backoff
  private var refreshesTokens = false
  private var hasIdleTimer = false

  /// A stream that was never started.
  ///
  /// - Parameters:
  ///   - timers: Its timers.
  ///   - tuning: When it is idle and healthy.
  ///   - pauses: The pauses between its attempts; by default a remote backend's.
  package init(_ timers: Timers, _ tuning: SyncTuning = SyncTuning(), pauses: SyncTuning.Pauses? = nil) {
    self.timers = timers
    self.tuning = tuning
    backoff = Backoff(pauses ?? tuning.pauses)
  }

  /// Whether the stream is connected or on its way there.
  package var isStarted: Bool { state != .initial && state != .failed }
  /// Whether there is a connection, or one is being made.
  package var isConnected: Bool { state == .starting || isOpen }
  /// Whether requests can be sent.
  package var isOpen: Bool { state == .open || state == .healthy }

  /// Starts the stream; after a failure it backs off first.
  package mutating func start(now: Double, random: Double) -> [Step] {
    guard state == .failed else { return connect() }
    let delay = backoff.next(now: now, random: random)
    guard delay > 0 else { return connect() }
    state = .backingOff
    return [.startTimer(timers.backoff, seconds: delay)]
  }

  /// The time of backing off is over.
  package mutating func backoffEnded() -> [Step] { state == .backingOff ? connect() : [] }

  private mutating func connect() -> [Step] {
    state = .starting
    connection += 1
    defer { refreshesTokens = false }
    return [.connect(refreshesTokens: refreshesTokens)]
  }

  /// The connection is open.
  package mutating func opened() -> [Step] {
    state = .open
    return [.startTimer(timers.health, seconds: tuning.healthySeconds)]
  }

  /// The connection has been open for long enough.
  package mutating func becomeHealthy() { if state == .open { state = .healthy } }

  /// A response has arrived: the next attempt need not wait.
  package mutating func resetBackoff() { backoff.reset() }

  /// Something is sent: the stream is not idle.
  package mutating func sending() -> [Step] {
    defer { hasIdleTimer = false }
    return hasIdleTimer ? [.cancelTimer(timers.idle)] : []
  }

  /// Nothing is left to do for now.
  package mutating func markIdle() -> [Step] {
    guard isOpen, !hasIdleTimer else { return [] }
    hasIdleTimer = true
    return [.startTimer(timers.idle, seconds: tuning.idleSeconds)]
  }

  /// Ends the stream on the client's wish.
  package mutating func stop() -> [Step] {
    guard isStarted else {
      inhibitBackoff()
      return []
    }
    backoff.reset()
    let isConnected = state != .backingOff
    state = .initial
    return cancelTimers() + (isConnected ? [.disconnect] : [])
  }

  /// The connection has failed or ended.
  package mutating func closed(_ error: FirestoreServiceError?) -> [Step] {
    switch error?.code {
    case .resourceExhausted?: backoff.resetToMaximum()
    // A message that cannot be understood will be the same the next time.
    case .dataLoss? where timers == .watch: backoff.resetToMaximum()
    case .unauthenticated? where state != .healthy: refreshesTokens = true
    default: break
    }
    state = error == nil ? .initial : .failed
    if error == nil { backoff.reset() }
    return cancelTimers()
  }

  /// Makes the next start immediate.
  package mutating func inhibitBackoff() {
    if state == .failed { state = .initial }
    backoff.reset()
  }

  private mutating func cancelTimers() -> [Step] {
    defer { hasIdleTimer = false }
    return [.cancelTimer(timers.backoff), .cancelTimer(timers.health)]
      + (hasIdleTimer ? [.cancelTimer(timers.idle)] : [])
  }
}
