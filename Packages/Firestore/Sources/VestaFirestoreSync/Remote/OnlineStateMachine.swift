/// Whether the client reaches its backend.
package enum OnlineState: Sendable, Hashable {
  /// Not known yet; treated as online.
  case unknown
  /// A message has arrived.
  case online
  /// Connecting failed, or the network is disabled: listeners get snapshots from the cache.
  case offline
}

/// Decides from the fate of the watch stream whether the client is online.
package struct OnlineStateMachine: Sendable {
  /// The change of the timer that ends the waiting for a first message.
  package enum TimerChange: Sendable, Hashable {
    case start
    case cancel
  }

  /// The state, and what changes about the timer.
  package struct Outcome: Sendable, Hashable {
    /// The new state; `nil` where it stays.
    package var state: OnlineState?
    /// The change of the timer.
    package var timer: TimerChange?
    /// Whether to log that the backend cannot be reached.
    package var warns = false
  }

  /// How many failures make the client offline.
  package static let failureLimit = 1

  /// The current state.
  package private(set) var state = OnlineState.unknown
  private var failures = 0
  private var hasTimer = false
  private var shouldWarn = true

  /// A machine in the unknown state.
  package init() {}

  /// The watch stream begins to connect.
  package mutating func streamStarting() -> Outcome {
    guard failures == 0 else { return Outcome() }
    var outcome = set(.unknown)
    if !hasTimer { outcome.timer = .start }
    hasTimer = true
    return outcome
  }

  /// The waiting for a first message has lasted too long.
  package mutating func timerFired() -> Outcome {
    guard hasTimer else { return Outcome() }
    hasTimer = false
    var outcome = set(.offline)
    outcome.warns = warn()
    return outcome
  }

  /// The watch stream has failed while it is still needed.
  package mutating func streamFailed() -> Outcome {
    if state == .online { return set(.unknown) }
    failures += 1
    guard failures >= Self.failureLimit else { return Outcome() }
    var outcome = cancelTimer()
    outcome.state = set(.offline).state
    outcome.warns = warn()
    return outcome
  }

  /// Sets the state for a reason outside of the stream, or because a message has arrived.
  package mutating func update(_ state: OnlineState) -> Outcome {
    var outcome = cancelTimer()
    failures = 0
    if state == .online { shouldWarn = false }
    outcome.state = set(state).state
    return outcome
  }

  private mutating func set(_ new: OnlineState) -> Outcome {
    guard new != state else { return Outcome() }
    state = new
    return Outcome(state: new)
  }

  private mutating func cancelTimer() -> Outcome {
    defer { hasTimer = false }
    return Outcome(timer: hasTimer ? .cancel : nil)
  }

  private mutating func warn() -> Bool {
    defer { shouldWarn = false }
    return shouldWarn
  }
}
