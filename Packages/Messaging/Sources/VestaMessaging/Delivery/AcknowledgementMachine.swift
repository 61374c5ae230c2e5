import VestaConcurrency

/// The decisions about the acknowledgements of messages: which are sent together, and which are tried again and when;
/// pure.
///
/// One acknowledgement is under way at a time; later messages are gathered for the next one. An acknowledgement that
/// fails for a passing reason is tried again after a pause, which doubles. Of one that the service refuses, each half
/// is tried separately, so that the message that is refused keeps no other one; that one is tried again after a pause
/// too. Without their acknowledgement messages keep their places among the ones that the service delivers at once.
///
/// Worked example, with pauses of 1, 2, 4 s:
///
/// | event | actions |
/// |---|---|
/// | `add(a)` | send a |
/// | `add(b, c)` | |
/// | `answered(acknowledged)` | send b, c |
/// | `answered(passing)` | wait 1 s |
/// | `ended(pause)` | send b, c |
/// | `answered(refused)` | send b |
/// | `answered(refused)` | wait 1 s for the refused ones; send c |
/// | `answered(acknowledged)` | |
/// | `ended(refused)` | send b |
struct AcknowledgementMachine: Sendable {
  /// The timers that end the pause, and that try the refused ones again.
  enum Timer: Sendable, Hashable { case pause, refused }

  /// The end of an acknowledgement.
  enum Outcome: Sendable {
    case acknowledged
    /// The registration was removed, and its messages with it.
    case unregistered
    case passing
    case refused
  }

  /// A command for the runner.
  enum Action: Sendable, Equatable {
    /// Acknowledges messages, and calls ``answered(_:)``.
    case send(token: String, [String])
    /// Calls ``ended(_:)`` after a time.
    case wait(Timer, Duration)
  }

  private let batch: Int
  private let retry: Retry
  private var token: String?
  private var waiting: [String] = []
  /// The parts of refused acknowledgements, which are tried before `waiting`.
  private var parts: [[String]] = []
  /// The messages that are refused by themselves, and how often some were in a row.
  private var refused: [String] = []
  private var refusals = 0
  /// The messages whose acknowledgement is under way.
  private var underWay: [String]?
  private var isPaused = false
  private var failures = 0
  private var waitsForRefused = false
  private var isClosed = false

  /// Nothing to acknowledge.
  ///
  /// - Parameters:
  ///   - batch: The most messages of one acknowledgement.
  ///   - retry: The pauses.
  init(batch: Int, retry: Retry) { (self.batch, self.retry) = (max(1, batch), retry) }

  // MARK: Events

  /// The registration has another token; without one there is nothing to acknowledge.
  mutating func tokenChanged(_ token: String?) -> [Action] {
    self.token = token
    if token == nil { (waiting, parts, refused) = ([], [], []) }
    return begin()
  }

  /// Messages are to be acknowledged.
  mutating func add(_ ids: [String]) -> [Action] {
    waiting += ids
    return begin()
  }

  /// The service has answered, or cannot be reached.
  mutating func answered(_ outcome: Outcome) -> [Action] {
    guard let ids = underWay.take() else { return [] }
    switch outcome {
    case .acknowledged:
      failures = 0
      return next()
    case .unregistered: return next()
    case .passing:
      parts.append(ids)
      guard !isClosed else { return [] }
      isPaused = true
      failures += 1
      return [.wait(.pause, retry.pauseWithoutJitter(after: failures))]
    case .refused: return divide(ids) + next()
    }
  }

  /// A timer has ended.
  mutating func ended(_ timer: Timer) -> [Action] {
    switch timer {
    case .pause: isPaused = false
    case .refused:
      waitsForRefused = false
      waiting = refused + waiting
      refused = []
    }
    return begin()
  }

  /// No timer is started any longer.
  mutating func close() { isClosed = true }

  // MARK: Deciding

  private mutating func begin() -> [Action] {
    let isIdle = waiting.isEmpty && parts.isEmpty
    guard !isIdle, underWay == nil, !isPaused, token != nil else { return [] }
    return next()
  }

  private mutating func next() -> [Action] {
    guard let token, !waiting.isEmpty || !parts.isEmpty else {
      if refused.isEmpty { refusals = 0 }
      return []
    }
    let ids = parts.popLast() ?? takeWaiting()
    underWay = ids
    return [.send(token: token, ids)]
  }

  private mutating func takeWaiting() -> [String] {
    defer { waiting.removeFirst(min(batch, waiting.count)) }
    return Array(waiting.prefix(batch))
  }

  /// Tries each half separately, and a message that is refused by itself again after a pause.
  private mutating func divide(_ ids: [String]) -> [Action] {
    guard ids.count == 1 else {
      parts.append(Array(ids[(ids.count / 2)...]))
      parts.append(Array(ids[..<(ids.count / 2)]))
      return []
    }
    refused += ids
    guard !waitsForRefused, !isClosed else { return [] }
    waitsForRefused = true
    refusals += 1
    return [.wait(.refused, retry.pauseWithoutJitter(after: refusals))]
  }
}
