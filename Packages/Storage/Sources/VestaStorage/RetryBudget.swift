/// The budget of retries of an operation; pure.
///
/// Delays are 1, 2, 4, … seconds, the first with up to one more second at random where the service would otherwise see
/// all clients at once. A budget of 600 s allows delays up to 512 s, one of 120 s up to 64 s: the largest power of two
/// with which 1 + 2 + 4 + … reaches the budget.
struct RetryBudget: Sendable, Equatable {
  private let firstDelay: Double
  private let largestDelay: Double
  private var nextDelay: Double

  /// A budget.
  ///
  /// - Parameters:
  ///   - seconds: How long an operation may be retried; nothing is retried when it is zero, less or not a number.
  ///   - first: The first delay.
  init(seconds: Double, first: Double = StorageTuning().firstRetry) {
    let first = max(first, 0.001)
    (firstDelay, nextDelay) = (first, first)
    guard seconds > 0 else {
      largestDelay = 0
      return
    }
    var sum = first
    var largest = first
    while sum < min(seconds, 1e9) {
      largest *= 2
      sum += largest
    }
    largestDelay = largest
  }

  /// The delay before the next attempt; `nil` when the budget is spent.
  ///
  /// - Parameter jitter: A random number from 0 to 1.
  mutating func delay(jitter: Double) -> Double? {
    guard nextDelay <= largestDelay else { return nil }
    defer { nextDelay *= 2 }
    return nextDelay + (nextDelay == firstDelay ? jitter * firstDelay : 0)
  }

  /// The operation has made progress: a later failure is a new one.
  mutating func reset() { nextDelay = firstDelay }
}
