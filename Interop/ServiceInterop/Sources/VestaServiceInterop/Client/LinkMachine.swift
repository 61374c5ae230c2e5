public import VestaConcurrency

/// The rules by which a link is kept open.
public struct LinkPolicy: Sendable, Hashable {
  /// The pauses after failures; its attempts count from the last message.
  public var retry: Retry

  /// The pauses after early ends in order; a service that ends each link at once must not be asked without a pause.
  public var shortEnds: Retry

  /// The time after which the end in order of a link leads to a new one at once.
  public var settledAfter: Duration

  /// The longest pause that the service can ask for.
  public var longestRequest: Duration

  /// The codes after which the link is not opened again.
  public var permanent: Set<ServiceCode>

  /// Whether `UNAUTHENTICATED` leads to one attempt at once with a refreshed credential.
  public var refreshesCredential: Bool

  /// Rules.
  ///
  /// - Parameters:
  ///   - retry: The pauses after failures.
  ///   - shortEnds: The pauses after early ends in order.
  ///   - settledAfter: The time after which the end in order of a link leads to a new one at once.
  ///   - longestRequest: The longest pause that the service can ask for.
  ///   - permanent: The codes after which the link is not opened again; all that are not transient unless given.
  ///   - refreshesCredential: Whether `UNAUTHENTICATED` leads to one attempt with a refreshed credential.
  public init(
    retry: Retry,
    shortEnds: Retry = Retry(initial: .seconds(1), factor: 2, cap: .seconds(120)),
    settledAfter: Duration = .seconds(60),
    longestRequest: Duration = .seconds(86_400),
    permanent: Set<ServiceCode> = Set(ServiceCode.allCases.filter { !$0.isTransient }),
    refreshesCredential: Bool = true
  ) {
    self.retry = retry
    self.shortEnds = shortEnds
    self.settledAfter = settledAfter
    self.longestRequest = longestRequest
    self.permanent = permanent
    self.refreshesCredential = refreshesCredential
  }
}

/// The decisions about a link to a service: when it is open; pure.
///
/// A ``LinkRunner`` performs them.
///
/// Times are microseconds since 1970. Worked example, with pauses of 1, 2, 4 s and no jitter:
///
/// | at | event | effects | phase |
/// |---|---|---|---|
/// | 0 s | `open` | connect | open |
/// | 5 s | `ended(UNAVAILABLE)` | wait 1 s | waiting |
/// | 6 s | `pauseEnded` | connect | open |
/// | 6 s | `ended(UNAVAILABLE)` | wait 2 s | waiting |
/// | 7 s | `networkLost` | disconnect | offline |
/// | 20 s | `networkFound` | connect | open |
/// | 21 s | `received` | nothing: the next failure is the first one again | open |
/// | 90 s | `ended(nil)` | connect, because it has lasted | open |
/// | 91 s | `close` | disconnect | closed |
///
/// - A pause outlasts its link: closing and opening does not shorten it. A clock that was set back to before the
///   pause ends it.
/// - The return of the network, and of the app to the foreground, end a pause, and the next failure counts as
///   the first one.
/// - A permanent failure, and one attempt too many, close the link; it stays closed until ``open(now:)``.
public struct LinkMachine: Sendable, Equatable {
  /// An action of the runner.
  public enum Effect: Sendable, Equatable {
    /// Opens a link; with a refreshed credential where the last one was refused.
    case connect(refreshesCredential: Bool)
    /// Drops the link and the timer of the pause.
    case disconnect
    /// Calls ``LinkMachine/pauseEnded(now:)`` after a time.
    case wait(Duration)
    /// Reports that the link is closed for good; `nil` is never reported.
    case fail(ServiceCode)
  }

  /// The state of the link.
  public enum Phase: Sendable, Hashable {
    /// Not wanted, or closed for good.
    case closed
    /// Opened, or being opened.
    case open
    /// Between two attempts.
    case waiting
    /// Wanted, and without a network.
    case offline
  }

  /// The state of the link.
  public private(set) var phase = Phase.closed

  /// The failures in a row, without a message in between.
  public private(set) var failures = 0

  private let policy: LinkPolicy
  private var hasNetwork = true
  /// The number of early ends in order, in a row.
  private var shortEnds = 0
  private var requestedPause: Duration?
  private var hasRefreshed = false
  private var openedAt: Int64 = 0
  private var pausedFrom: Int64 = 0
  private var pausedUntil: Int64 = 0

  /// A closed link.
  ///
  /// - Parameter policy: The rules.
  public init(_ policy: LinkPolicy) { self.policy = policy }

  // MARK: The owner of the link

  /// The link is wanted.
  ///
  /// - Parameter now: The time.
  public mutating func open(now: Int64) -> [Effect] {
    guard phase == .closed else { return [] }
    guard hasNetwork else {
      phase = .offline
      return []
    }
    if pausedFrom <= now, now < pausedUntil {
      phase = .waiting
      return [.wait(.microseconds(pausedUntil - now))]
    }
    return connect(now)
  }

  /// The link is not wanted.
  public mutating func close() -> [Effect] {
    guard phase != .closed else { return [] }
    let wasOffline = phase == .offline
    phase = .closed
    return wasOffline ? [] : [.disconnect]
  }

  // MARK: The link

  /// A message has arrived: the link works.
  ///
  /// - Parameter requestedPause: The pause that the service asks for after this link; it does not count as a failure.
  public mutating func received(requestedPause: Duration? = nil) {
    guard phase == .open else { return }
    (failures, hasRefreshed) = (0, false)
    self.requestedPause = requestedPause.map { min(max(.zero, $0), policy.longestRequest) }
  }

  /// The link has ended.
  ///
  /// - Parameters:
  ///   - code: The code of the failure; `nil` for an end in order.
  ///   - now: The time.
  ///   - random: Returns a random number from 0 up to 1.
  public mutating func ended(_ code: ServiceCode?, now: Int64, random: () -> Double) -> [Effect] {
    guard phase == .open else { return [] }
    if let requested = requestedPause.take() { return wait(requested, now) }
    guard let code else { return endedInOrder(now, random) }
    if code == .unauthenticated, policy.refreshesCredential, !hasRefreshed {
      hasRefreshed = true
      return connect(now, refreshesCredential: true)
    }
    failures += 1
    guard !policy.permanent.contains(code), let pause = policy.retry.pause(after: failures, random: random) else {
      phase = .closed
      return [.fail(code)]
    }
    return wait(pause, now)
  }

  /// The pause is over.
  ///
  /// - Parameter now: The time.
  public mutating func pauseEnded(now: Int64) -> [Effect] {
    guard phase == .waiting else { return [] }
    return connect(now)
  }

  // MARK: The surroundings

  /// The network was lost.
  public mutating func networkLost() -> [Effect] {
    hasNetwork = false
    guard phase == .open || phase == .waiting else { return [] }
    phase = .offline
    return [.disconnect]
  }

  /// The network is there.
  ///
  /// - Parameter now: The time.
  public mutating func networkFound(now: Int64) -> [Effect] {
    hasNetwork = true
    forgetPause()
    guard phase == .offline else { return [] }
    return connect(now)
  }

  /// The app is in the foreground again.
  ///
  /// - Parameter now: The time.
  public mutating func cameToForeground(now: Int64) -> [Effect] {
    guard hasNetwork else { return [] }
    forgetPause()
    guard phase == .waiting else { return [] }
    return [.disconnect] + connect(now)
  }

  // MARK: Deciding

  private mutating func connect(_ now: Int64, refreshesCredential: Bool = false) -> [Effect] {
    (phase, openedAt) = (.open, now)
    return [.connect(refreshesCredential: refreshesCredential)]
  }

  private mutating func wait(_ pause: Duration, _ now: Int64) -> [Effect] {
    phase = .waiting
    let (until, overflows) = now.addingReportingOverflow(pause.microseconds)
    (pausedFrom, pausedUntil) = (now, overflows ? .max : until)
    return [.wait(pause)]
  }

  /// After failures without a message in between, their pause counts here too.
  private mutating func endedInOrder(_ now: Int64, _ random: () -> Double) -> [Effect] {
    let afterFailures: Duration = failures == 0 ? .zero : policy.retry.pauseWithoutJitter(after: failures)
    if now >= openedAt, now - openedAt >= policy.settledAfter.microseconds {
      shortEnds = 0
      return wait(afterFailures, now)
    }
    shortEnds += 1
    return wait(max(afterFailures, policy.shortEnds.pause(after: shortEnds, random: random) ?? .zero), now)
  }

  private mutating func forgetPause() { (failures, shortEnds, pausedFrom, pausedUntil) = (0, 0, 0, 0) }
}
