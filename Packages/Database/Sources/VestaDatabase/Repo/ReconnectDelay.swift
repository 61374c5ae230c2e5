/// How long to wait before the next attempt to connect.
struct ReconnectDelay: Sendable {
  private let tuning: DatabaseTuning

  init(_ tuning: DatabaseTuning = DatabaseTuning()) { self.tuning = tuning }

  /// The wait before jitter, in seconds; zero for the first attempt.
  private var seconds = 0.0

  /// The wait of the next attempt.
  mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
    let wait = seconds
    seconds = min(
      max(tuning.firstReconnectDelay, seconds * tuning.reconnectFactor), tuning.longestReconnectDelay)
    return .milliseconds(Int64(wait * 1000 * (0.3 + 0.7 * Double.random(in: 0..<1, using: &random))))
  }

  /// The connection was good: the next attempt is at once.
  mutating func reset() { seconds = 0 }
}
