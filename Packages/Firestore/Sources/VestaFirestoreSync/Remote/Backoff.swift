/// How long to wait before a stream is opened again.
///
/// The first attempt is immediate; then the base is 1 s, and half as long again each time up to 60 s, with a jitter of
/// half the base either way (`SyncTuning.Pauses`). The time since the last attempt counts as waiting.
package struct Backoff: Sendable {
  private let pauses: SyncTuning.Pauses
  private var base = 0.0
  private var lastAttempt: Double?

  /// A back-off whose first attempt is immediate.
  package init(_ pauses: SyncTuning.Pauses = SyncTuning.Pauses()) { self.pauses = pauses }

  /// Makes the next attempt immediate.
  package mutating func reset() { base = 0 }

  /// Makes the next attempt wait the longest time.
  package mutating func resetToMaximum() { base = pauses.maximum }

  /// The seconds to wait before the next attempt.
  ///
  /// - Parameters:
  ///   - now: A time in seconds that only grows.
  ///   - random: A number from 0 to 1.
  package mutating func next(now: Double, random: Double) -> Double {
    let wanted = base + (random - 0.5) * base
    let elapsed = max(0, now - (lastAttempt ?? now))
    let delay = max(0, wanted - elapsed)
    lastAttempt = now + delay
    base = min(max(base * pauses.factor, pauses.initial), pauses.maximum)
    return delay
  }
}
