import VestaConcurrency
import VestaServiceInterop

/// The times of further attempts after a failure; pure.
struct RetryPolicy: Sendable, Hashable {
  /// The number of attempts before an event becomes a dead letter.
  var maximumAttempts: Int

  /// The age from which on a change is not attempted again, in microseconds.
  var maximumAge: Int64 = 86_400_000_000

  /// The delays; `FunctionsTuning.retry` with the first delay of the function.
  var delays = Retry.ofEvents

  /// The delay before the next attempt, in microseconds; `nil` when there is none.
  ///
  /// The spread is drawn by the event, so that events that failed together are not retried together, and each process
  /// computes the same time.
  ///
  /// - Parameters:
  ///   - attempts: How often the event has been attempted.
  ///   - age: How long ago the change was, in microseconds.
  ///   - position: A number that differs from event to event.
  func delay(after attempts: Int, age: Int64, spread position: Int64) -> Int64? {
    guard attempts < maximumAttempts, age < maximumAge else { return nil }
    let hash = UInt64(bitPattern: position) &* 0x9E37_79B9_7F4A_7C15
    return delays.pause(after: attempts, random: { Double(hash >> 32) / Double(UInt32.max) })?.microseconds
  }
}

extension Retry {
  /// The pauses between the attempts of an event: they double up to ten minutes, and a quarter is added at the most.
  static let ofEvents = Retry(
    initial: .seconds(1), factor: 2, cap: .seconds(600), jitter: .between(1, 1.25))

  /// The longest pause, in microseconds.
  var longest: Int64 { (cap * jitter.factor { 1 }).microseconds }
}
