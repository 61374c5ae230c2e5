import VestaServiceInterop

/// Decides when the realtime connection is open; times are in seconds since 1970.
///
/// The connection is wanted while there are listeners. Every end of it leads to another one, after a pause: 120 s after
/// a failure, twice the last pause after another one, each time half as long or half as long again at random. After
/// eight failures without a message in between listeners get an error. A connection that ends in order after a minute
/// or more is opened again at once; one that ends earlier after 1, 2, 4, ... seconds, at most two minutes.
///
/// A pause outlasts the listeners: removing the last one and adding another does not shorten it. A clock that is set
/// back to before the pause ends it: otherwise an app could wait for years.
struct RealtimeMachine: Equatable, Sendable {
  enum Action: Equatable {
    case connect
    case disconnect
    case wait(seconds: Double)
    case fetch(version: Int64)
    case fail(RemoteConfigUpdateError.Code)
  }

  enum Link: Equatable {
    case closed
    case open
    case waiting
  }

  private(set) var link = Link.closed
  private(set) var listenerCount = 0
  private(set) var isDisabled = false
  private var retriesLeft: Int
  private var pause: Double = 0
  private var requestedPause: Double?
  private var pausedFrom: Double = 0
  private var pausedUntil: Double = 0

  private var openedAt: Double = 0
  /// The connections in a row that ended in order soon after they were opened.
  private var shortConnections = 0
  private let tuning: RemoteConfigTuning

  init(tuning: RemoteConfigTuning = RemoteConfigTuning()) {
    self.tuning = tuning
    retriesLeft = tuning.maximumRetries
  }

  mutating func listenersChanged(to count: Int, now: Double) -> [Action] {
    listenerCount = count
    if count == 0 {
      guard link != .closed else { return [] }
      link = .closed
      return [.disconnect]
    }
    if isDisabled { return link == .closed ? [.fail(.unavailable)] : [] }
    guard link == .closed else { return [] }
    if pausedFrom <= now, now < pausedUntil {
      link = .waiting
      return [.wait(seconds: pausedUntil - now)]
    }
    return open(at: now)
  }

  /// The pause is over.
  mutating func pauseEnded(now: Double) -> [Action] {
    guard link == .waiting, listenerCount > 0 else { return [] }
    return open(at: now)
  }

  private mutating func open(at now: Double) -> [Action] {
    (link, openedAt) = (.open, now)
    return [.connect]
  }

  /// A message has arrived.
  ///
  /// - Parameters:
  ///   - version: The newest version.
  ///   - known: The version that was fetched.
  ///   - isDisabled: Whether the service has switched updates off.
  ///   - retryInterval: The pause after this connection, in seconds; it does not count as a failure.
  mutating func received(version: Int64, known: Int64, isDisabled: Bool, retryInterval: Int? = nil) -> [Action] {
    guard link == .open else { return [] }
    (retriesLeft, pause) = (tuning.maximumRetries, 0)
    requestedPause = retryInterval.map { Double(min(max(0, $0), tuning.longestRequest)) }
    if isDisabled {
      self.isDisabled = true
      link = .closed
      return [.disconnect, .fail(.unavailable)]
    }
    return version > known ? [.fetch(version: version)] : []
  }

  /// The connection has ended.
  ///
  /// - Parameters:
  ///   - code: The code of the failure; `nil` for an end in order.
  ///   - now: The time.
  ///   - factor: 0.5 or 1.5, drawn at random.
  mutating func ended(_ code: ServiceCode?, now: Double, factor: Double) -> [Action] {
    guard link == .open else { return [] }
    if let requested = requestedPause.take() { return wait(requested, from: now) }
    guard let code else { return wait(max(pause, pauseAfterEnd(at: now)), from: now) }
    guard code.isTransient, retriesLeft > 1 else {
      link = .closed
      return [.fail(.streamError)]
    }
    retriesLeft -= 1
    pause = pause == 0 ? tuning.firstPause : min(pause * 2, tuning.longestPause)
    return wait(pause * factor, from: now)
  }

  /// The pause after an end in order: a service that ends each connection at once must not be asked without a pause.
  private mutating func pauseAfterEnd(at now: Double) -> Double {
    guard now < openedAt || now - openedAt < tuning.settledAfter else {
      shortConnections = 0
      return 0
    }
    shortConnections += 1
    var pause = tuning.firstShortPause
    for _ in 1..<shortConnections where pause < tuning.longestShortPause { pause *= 2 }
    return min(pause, tuning.longestShortPause)
  }

  private mutating func wait(_ seconds: Double, from now: Double) -> [Action] {
    link = .waiting
    (pausedFrom, pausedUntil) = (now, now + seconds)
    return [.wait(seconds: seconds)]
  }
}
