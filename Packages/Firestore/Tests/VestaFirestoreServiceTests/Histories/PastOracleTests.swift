import Foundation
import Testing

struct PastOracleTests {
  @Test(arguments: UInt64(1)...4)
  func `the past and its listeners are what a model of all states says`(seed: UInt64) async throws {
    var oracle = PastOracle(seed: seed)
    try await oracle.run(steps: 120)
  }
}

@Suite(.enabled(if: ProcessInfo.processInfo.environment["VESTA_SOAK"] != nil))
struct PastOracleSoakTests {
  /// A number of the environment: `VESTA_PAST_SEED`, the first seed; `VESTA_PAST_COUNT`, the number of seeds;
  /// `VESTA_PAST_STEPS`, the steps of each.
  private static func setting(_ name: String, _ standard: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard
  }

  @Test(arguments: 0..<setting("VESTA_PAST_COUNT", 1_000))
  func `Soak: the past and its listeners are what a model of all states says`(number: Int) async throws {
    var oracle = PastOracle(seed: UInt64(Self.setting("VESTA_PAST_SEED", 10_000) + number))
    try await oracle.run(steps: Self.setting("VESTA_PAST_STEPS", 300))
  }
}
