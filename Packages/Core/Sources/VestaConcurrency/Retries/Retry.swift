/// The pauses between attempts: how long they are, how they grow, and how many attempts there are.
///
/// A value without state: the caller counts its failures. Randomness is passed in as a closure, so that a test
/// decides it.
///
/// ```swift
/// let retry = Retry(initial: .seconds(1), factor: 2, cap: .seconds(60), jitter: .between(0.5, 1.5), attempts: 5)
/// retry.pause(after: 1, random: { 0.5 })   // 1 s
/// retry.pause(after: 4, random: { 0.5 })   // 8 s
/// retry.pause(after: 5, random: { 0.5 })   // nil: five attempts have failed
/// ```
public struct Retry: Sendable, Hashable {
  /// The random part of a pause: a factor by which it is multiplied.
  public enum Jitter: Sendable, Hashable {
    /// No random part.
    case none
    /// A factor between two figures, evenly distributed, such as 0.5 and 1.5.
    case between(Double, Double)
    /// One of two factors, with equal chances.
    case either(Double, Double)

    /// The factor.
    ///
    /// - Parameter random: A random number from 0 up to 1, drawn when one is needed.
    public func factor(_ random: () -> Double) -> Double {
      switch self {
      case .none: 1
      case .between(let low, let high): low + (high - low) * random()
      case .either(let first, let second): random() < 0.5 ? first : second
      }
    }
  }

  /// The pause after the first failure, before the jitter.
  public var initial: Duration

  /// The factor from one pause to the next.
  public var factor: Double

  /// The longest pause, before the jitter.
  public var cap: Duration

  /// The random part.
  public var jitter: Jitter

  /// The number of attempts, the first one included; `nil` for no limit.
  public var attempts: Int?

  /// Whether the first attempt after a failure has no pause, as in Firestore's clients.
  public var beginsAtOnce: Bool

  /// Pauses.
  ///
  /// - Parameters:
  ///   - initial: The pause after the first failure, before the jitter.
  ///   - factor: The factor from one pause to the next.
  ///   - cap: The longest pause, before the jitter.
  ///   - jitter: The random part.
  ///   - attempts: The number of attempts, the first one included; `nil` for no limit.
  ///   - beginsAtOnce: Whether the first attempt after a failure has no pause.
  public init(
    initial: Duration, factor: Double = 2, cap: Duration, jitter: Jitter = .none, attempts: Int? = nil,
    beginsAtOnce: Bool = false
  ) {
    self.initial = initial
    self.factor = factor
    self.cap = cap
    self.jitter = jitter
    self.attempts = attempts
    self.beginsAtOnce = beginsAtOnce
  }

  /// No second attempt.
  public static let never = Retry(initial: .zero, cap: .zero, attempts: 1)

  /// Random numbers from 0 up to 1.
  public static let systemRandom: @Sendable () -> Double = { Double.random(in: 0..<1) }

  /// The pause before the next attempt.
  ///
  /// - Parameters:
  ///   - failures: The number of attempts that have failed in a row; at least 1.
  ///   - random: Returns a random number from 0 up to 1.
  /// - Returns: The pause; `nil` when there is no further attempt.
  public func pause(after failures: Int, random: () -> Double = Retry.systemRandom) -> Duration? {
    if let attempts, failures >= attempts { return nil }
    let base = pauseWithoutJitter(after: failures)
    guard base > .zero else { return .zero }
    return base * max(0, jitter.factor(random))
  }

  /// The pause before the jitter, however many attempts there are.
  ///
  /// - Parameter failures: The number of attempts that have failed in a row; at least 1.
  public func pauseWithoutJitter(after failures: Int) -> Duration {
    var steps = failures - 1
    if beginsAtOnce {
      guard steps > 0 else { return .zero }
      steps -= 1
    }
    var pause = min(initial, cap)
    // A factor that does not grow would loop for nothing.
    guard factor > 1 else { return pause }
    while steps > 0, pause > .zero, pause < cap {
      pause = min(pause * factor, cap)
      steps -= 1
    }
    return pause
  }
}
