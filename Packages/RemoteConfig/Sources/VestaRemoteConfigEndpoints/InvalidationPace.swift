import VestaRemoteConfigBackend

/// Decides when the messages of one connection are sent; pure.
///
/// Clients read one of several messages that arrive together, so messages keep a distance and only the newest waits;
/// and the newest is sent once more, for a client that missed it.
///
/// | at | event | sent |
/// |---|---|---|
/// | 0 ms | version 7 | 7 |
/// | 10 ms | version 8 | - |
/// | 20 ms | version 9 | - |
/// | 50 ms | the timer | 9 |
/// | 5,050 ms | the timer | 9 |
struct InvalidationPace: Sendable, Equatable {
  /// An action of the connection.
  enum Effect: Sendable, Equatable {
    case send(ConfigInvalidation)
    /// Calls ``timerFired(now:)`` at a time, in place of the timer that was set.
    case setTimer(at: Int64)
  }

  private let spacing: Int64
  private let repetition: Int64
  private var newest: ConfigInvalidation?
  private var lastSent: Int64?
  private var isWaiting = false

  /// - Parameters:
  ///   - spacing: The shortest time between two messages, in microseconds.
  ///   - repetition: The time after which the newest is sent once more.
  init(spacing: Int64, repetition: Int64) {
    self.spacing = spacing
    self.repetition = max(spacing, repetition)
  }

  mutating func received(_ message: ConfigInvalidation, now: Int64) -> [Effect] {
    newest = message
    if isWaiting { return [] }
    // A clock that was set back ends a pause.
    if let lastSent, now >= lastSent, now - lastSent < spacing {
      isWaiting = true
      return [.setTimer(at: lastSent + spacing)]
    }
    return send(now, repeats: true)
  }

  mutating func timerFired(now: Int64) -> [Effect] {
    defer { isWaiting = false }
    return send(now, repeats: isWaiting)
  }

  private mutating func send(_ now: Int64, repeats: Bool) -> [Effect] {
    guard let newest else { return [] }
    lastSent = now
    return [.send(newest)] + (repeats ? [.setTimer(at: now + repetition)] : [])
  }
}
