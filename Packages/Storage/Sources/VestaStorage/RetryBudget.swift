import VestaConcurrency

/// The budget of retries of an operation; pure.
///
/// Delays are 1, 2, 4, … seconds, the first with up to one more second at random where the service would otherwise see
/// all clients at once. A budget of 600 s allows delays up to 512 s, one of 120 s up to 64 s: the largest power of two
/// with which 1 + 2 + 4 + … reaches the budget.
struct RetryBudget: Sendable, Equatable {
  private let retry: Retry
  /// The most that chance adds to the first delay, in seconds.
  private let spread: Double
  private var failures = 0

  /// A budget.
  ///
  /// - Parameters:
  ///   - seconds: How long an operation may be retried; nothing is retried when it is zero, less or not a number.
  ///   - first: The first delay.
  init(seconds: Double, first: Double = StorageTuning().firstRetry) {
    spread = max(first, 0.001)
    guard seconds > 0 else {
      retry = .never
      return
    }
    var (sum, largest, delays) = (spread, spread, 1)
    while sum < min(seconds, 1e9) {
      largest *= 2
      sum += largest
      delays += 1
    }
    retry = Retry(initial: .seconds(spread), cap: .seconds(largest), attempts: delays + 1)
  }

  /// The delay before the next attempt; `nil` when the budget is spent.
  ///
  /// - Parameter jitter: A random number from 0 to 1.
  mutating func delay(jitter: Double) -> Double? {
    failures += 1
    guard let pause = retry.pause(after: failures) else { return nil }
    return pause / .seconds(1) + (failures == 1 ? jitter * spread : 0)
  }

  /// The operation has made progress: a later failure is a new one.
  mutating func reset() { failures = 0 }
}
