import VestaConcurrency

/// How long to wait before a stream is opened again.
///
/// `SyncTuning.Pauses` has the pauses: none before the first attempt, then 1 s, and half as long again each time up to
/// 60 s, half of it more or less at random. The time since the last attempt counts as waiting.
package struct Backoff: Sendable {
  /// The number of failures after which the pause is the longest, whatever the figures are.
  private static let most = 1_000

  private let retry: Retry
  private var failures = 0
  private var lastAttempt: Double?

  /// A back-off whose first attempt is immediate.
  package init(_ pauses: SyncTuning.Pauses = SyncTuning.Pauses()) { retry = pauses.retry }

  /// Makes the next attempt immediate.
  package mutating func reset() { failures = 0 }

  /// Makes the next attempt wait the longest time.
  package mutating func resetToMaximum() { failures = Self.most }

  /// The seconds to wait before the next attempt.
  ///
  /// - Parameters:
  ///   - now: A time in seconds that only grows.
  ///   - random: A number from 0 to 1.
  package mutating func next(now: Double, random: Double) -> Double {
    failures = min(failures + 1, Self.most)
    let wanted = (retry.pause(after: failures) { random } ?? .zero) / .seconds(1)
    let elapsed = max(0, now - (lastAttempt ?? now))
    let delay = max(0, wanted - elapsed)
    lastAttempt = now + delay
    return delay
  }
}

extension SyncTuning.Pauses {
  /// The pauses, with the first attempt at once and half of each pause at random.
  fileprivate var retry: Retry {
    Retry(
      initial: .seconds(initial), factor: factor, cap: .seconds(maximum), jitter: .between(0.5, 1.5),
      beginsAtOnce: true)
  }
}
