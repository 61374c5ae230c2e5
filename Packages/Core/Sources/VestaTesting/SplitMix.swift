import VestaConcurrency

/// A pseudo-random number generator (SplitMix64) that returns the same numbers for the same seed on every machine.
///
/// ```swift
/// var random = SplitMix(seed: 7)
/// let length = Int.random(in: 0..<100, using: &random)
/// ```
public struct SplitMix: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// A generator.
  ///
  /// - Parameter seed: Which sequence; name it in the message of a failed test, so that the run can be repeated.
  public init(seed: UInt64) { state = seed }

  /// The next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// A number from zero up to, and without, a bound.
  public mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<max(1, bound), using: &self) }

  /// Whether something that happens once in `count` times happens now.
  public mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

  /// A random element.
  ///
  /// - Parameter elements: One or more.
  public mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  /// Random bytes.
  public mutating func bytes(_ count: Int) -> [UInt8] {
    // Tests draw many megabytes. Without the optimiser, a closure and a range for each byte take several times as long.
    var bytes = [UInt8](repeating: 0, count: max(0, count))
    var index = 0
    while index < bytes.count {
      bytes[index] = UInt8(truncatingIfNeeded: next())
      index += 1
    }
    return bytes
  }

  /// Random fractions for what spreads its pauses, which may be drawn by any thread.
  ///
  /// - Parameter seed: Which sequence.
  /// - Returns: A closure that returns a number from zero up to, and without, one.
  public static func fractions(seed: UInt64) -> @Sendable () -> Double {
    let random = Locked(SplitMix(seed: seed))
    return { random.withLock { Double.random(in: 0..<1, using: &$0) } }
  }
}
