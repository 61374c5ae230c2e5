import Foundation
import Testing
import VestaFirestore
import VestaTesting

/// Random histories of two clients against a model of the documentation, through the public API alone.
@Suite(.timeLimit(.minutes(60)))
struct OracleTests {
  /// Runs one history, and records each difference with its seed.
  static func run(seed: UInt64, steps: Int) async throws {
    let world = try OracleWorld(seed: seed)
    for _ in 0..<steps where world.faults.isEmpty {
      do {
        try await world.step()
      } catch {
        world.fault("threw \(error)")
      }
    }
    if world.faults.isEmpty { try await world.settle() }
    if !world.faults.isEmpty {
      let fault = world.faults.joined(separator: "\n")
      let history = world.history.suffix(25).joined(separator: "\n  ")
      Issue.record("seed \(seed): \(fault)\nafter\n  \(history)")
    }
    await world.close()
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6, 12, 18, 41]) func `two clients show what the documentation says`(seed: UInt64)
    async throws
  {
    try await Self.run(seed: seed, steps: 40)
  }
}

/// The same for ten minutes, or for `VESTA_SECONDS`, from a random seed on, or from `VESTA_SEED`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["VESTA_SOAK"] != nil), .timeLimit(.minutes(60)))
struct OracleSoakTests {
  @Test func `two clients show what the documentation says, for ten minutes`() async throws {
    let environment = ProcessInfo.processInfo.environment
    let end = ContinuousClock.now + .seconds(environment["VESTA_SECONDS"].flatMap(Int.init) ?? 600)
    let first = environment["VESTA_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0 ... .max)
    var seed = first
    while ContinuousClock.now < end {
      try await OracleTests.run(seed: seed, steps: 80)
      seed &+= 1
    }
    print("\(seed &- first) histories, from seed \(first) on")
  }
}
