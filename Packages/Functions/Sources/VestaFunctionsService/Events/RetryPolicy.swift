/// The times of further attempts after a failure; pure.
struct RetryPolicy: Sendable, Hashable {
  /// The number of attempts before an event becomes a dead letter.
  var maximumAttempts: Int

  /// The age from which on a change is not attempted again, in microseconds.
  var maximumAge: Int64 = 86_400_000_000

  /// The delay after the first failure, in microseconds; it doubles with each further one.
  var first: Int64 = 1_000_000

  /// The longest delay, in microseconds, before the spread is added.
  static let longest: Int64 = 600_000_000

  /// The longest delay with its spread.
  static let longestWithSpread: Int64 = longest + longest / 4

  /// The delay before the next attempt, in microseconds; `nil` when there is none.
  ///
  /// Up to a quarter more by the event, so that events that failed together are not retried together.
  ///
  /// - Parameters:
  ///   - attempts: How often the event has been attempted.
  ///   - age: How long ago the change was, in microseconds.
  ///   - position: A number that differs from event to event.
  func delay(after attempts: Int, age: Int64, spread position: Int64) -> Int64? {
    guard attempts < maximumAttempts, age < maximumAge else { return nil }
    let doubled = attempts > 40 ? Self.longest : min(Self.longest, first << Int64(max(0, attempts - 1)))
    let hash = UInt64(bitPattern: position) &* 0x9E37_79B9_7F4A_7C15
    return doubled + Int64(hash >> 32) * (doubled / 4) / Int64(UInt32.max)
  }
}
