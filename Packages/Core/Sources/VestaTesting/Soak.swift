import Foundation

/// A long run of histories, each from a separate seed, as `make soak` asks for it by environment variables.
///
/// ```swift
/// @Test(.enabled(if: Soak.isAsked))
/// func `many histories of notes agree with the oracle`() async throws {
///   try await Soak("Notes").run { seed, _ in try await OracleTests.run(seed) }
/// }
/// ```
///
/// | variable | meaning | without it |
/// |---|---|---|
/// | `VESTA_SOAK` | `1` asks for soaks | no soak |
/// | `VESTA_SECONDS` | how long a soak begins new histories | ten minutes, or until its goal is reached |
/// | `VESTA_SEED` | the seed of the first history | a random one |
public struct Soak: Sendable {
  /// Whether the environment asks for soaks.
  public static var isAsked: Bool { ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1" }

  /// The product, for the line at the end.
  public let name: String

  /// How long new histories begin.
  public let duration: Duration

  /// Whether the environment says how long.
  public let isTimed: Bool

  /// The seed of the first history; each later one has the next seed.
  public let firstSeed: UInt64

  /// A soak as long as the environment says.
  ///
  /// - Parameter name: The product, for the line at the end.
  public init(_ name: String) { self.init(name, environment: ProcessInfo.processInfo.environment) }

  /// A soak.
  ///
  /// - Parameters:
  ///   - name: The product, for the line at the end.
  ///   - environment: The variables that say how long and from which seed.
  public init(_ name: String, environment: [String: String]) {
    self.name = name
    let seconds = environment["VESTA_SECONDS"].flatMap { Double($0) }
    isTimed = seconds != nil
    duration = .seconds(seconds ?? 600)
    firstSeed = environment["VESTA_SEED"].flatMap { UInt64($0) } ?? .random(in: 1_000...1_000_000_000)
  }

  /// Runs histories until the time is over, and prints how many there were.
  ///
  /// - Parameters:
  ///   - elapsed: The time since the beginning, for tests.
  ///   - history: Runs the history of a seed; the second argument counts from zero.
  /// - Returns: The number of histories.
  @discardableResult
  public func run(
    elapsed: (() -> Duration)? = nil, _ history: (UInt64, Int) async throws -> Void
  ) async rethrows -> Int {
    let start = ContinuousClock.now
    let elapsed = elapsed ?? { ContinuousClock.now - start }
    var count = 0
    while elapsed() < duration {
      try await history(firstSeed &+ UInt64(count), count)
      count += 1
    }
    print("Soak of \(name): \(count) histories, from seed \(firstSeed)")
    return count
  }

  /// Runs histories until they have a number of units together; where the environment names a time, until it is over.
  ///
  /// - Parameters:
  ///   - goal: The number of units, such as requests or pairs.
  ///   - history: Runs the history of a seed, and returns the number of its units.
  /// - Returns: The number of units.
  @discardableResult
  public func run(units goal: Int, _ history: (UInt64) async throws -> Int) async rethrows -> Int {
    let (start, end) = (ContinuousClock.now, duration + .seconds(1))
    var units = 0
    let elapsed = { isTimed ? ContinuousClock.now - start : units < goal ? .zero : end }
    try await run(elapsed: elapsed) { seed, _ in units += try await history(seed) }
    return units
  }
}
