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

/// The same for ten minutes; `Soak` tells the variables.
@Suite(.enabled(if: Soak.isAsked), .timeLimit(.minutes(60)))
struct OracleSoakTests {
  @Test func `two clients show what the documentation says, for ten minutes`() async throws {
    try await Soak("Firestore").run { seed, _ in try await OracleTests.run(seed: seed, steps: 80) }
  }
}
