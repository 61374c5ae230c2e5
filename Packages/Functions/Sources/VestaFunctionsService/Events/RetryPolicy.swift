/// When a failed event is attempted again; pure.
struct RetryPolicy: Sendable, Hashable {
  /// How often an event is attempted before it becomes a dead letter.
  var maximumAttempts: Int

  /// How old a change may be to be attempted again, in microseconds.
  var maximumAge: Int64 = 86_400_000_000

  /// The delay after the first failure, in microseconds; it doubles with each further one.
  var first: Int64 = 1_000_000

  /// The longest delay, in microseconds.
  var longest: Int64 = 600_000_000

  /// The delay before the next attempt, in microseconds; `nil` when there is none.
  ///
  /// Up to a quarter more by the event, so that events that failed together do not come back together.
  ///
  /// - Parameters:
  ///   - attempts: How often the event has been attempted.
  ///   - age: How long ago the change was, in microseconds.
  ///   - position: A number that differs from event to event.
  func delay(after attempts: Int, age: Int64, spread position: Int64) -> Int64? {
    guard attempts < maximumAttempts, age < maximumAge else { return nil }
    let doubled = attempts > 40 ? longest : min(longest, first << Int64(max(0, attempts - 1)))
    let hash = UInt64(bitPattern: position) &* 0x9E37_79B9_7F4A_7C15
    return doubled + Int64(hash >> 32) * (doubled / 4) / Int64(UInt32.max)
  }
}
