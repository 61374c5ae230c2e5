import Testing
import VestaTesting

@testable import VestaRules

/// The random tests at length, with `make soak`.
///
/// Each is made of short pieces with seeds in a row until its goal is reached, ten million sources and requests among
/// them; with `VESTA_SECONDS` it begins no further piece when that time is over, and continues with `VESTA_SEED`. The
/// script of the tests builds them optimised: all goals together take about a quarter of an hour of one core.
@Suite(.serialized, .enabled(if: Soak.isAsked), .timeLimit(.minutes(300))) struct RulesSoakTests {
  /// The highest cost of a hostile source or request, in milliseconds of the processor; unoptimised code is slower.
  private var bound: Double {
    #if DEBUG
      100
    #else
      5
    #endif
  }

  /// Runs pieces, and says how many units they had and how fast they were.
  private func pieces(
    _ name: String, _ units: String, goal: Int, _ piece: (UInt64) throws -> Int
  ) async throws {
    let start = ContinuousClock.now
    let count = try await Soak("Rules, \(name)").run(units: goal) { seed in try piece(seed) }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    print("Soak of Rules, \(name): \(count) \(units), \(Int(Double(count) / max(seconds, 0.001))) a second")
  }

  @Test func `sources are read or refused within a bound`() async throws {
    try await pieces("sources", "sources", goal: 5_000_000) { seed in
      let worst = HostileTests.trySources(10_000, seed: 0x50_0000 &+ seed)
      #expect(worst < bound, "seed \(seed)")
      return 10_000
    }
  }

  @Test func `values are taken by every operator and method`() async throws {
    try await pieces("values", "requests", goal: 5_000_000) { seed in
      let worst = try HostileTests.tryValues(200, requests: 5, seed: 0x51_0000 &+ seed)
      #expect(worst < bound, "seed \(seed)")
      return 1_000
    }
  }

  @Test func `documents that queries return are allowed by themselves`() async throws {
    try await pieces("proofs", "pairs", goal: 1_000_000) {
      try QuerySoundnessTests().run(rounds: 500, documents: 200, seed: 0x52_0000 &+ $0)
    }
  }

  @Test func `the tree and the compiled form agree`() async throws {
    try await pieces("programs", "programs", goal: 500_000) { seed in
      try OtherOpinionTests().compare(200, seed: 0x53_0000 &+ seed)
      try OtherOpinionTests().change(20, seed: 0x54_0000 &+ seed)
      return 220
    }
  }

  @Test func `the package decides as the oracle does`() async throws {
    try await pieces("the oracle", "decisions", goal: 1_000_000) { seed in
      try OracleTests.compare(200, seed: 0x56_0000 &+ seed, requests: 10).decisions
    }
  }

  @Test func `rules of the tree are decided as the oracle does`() async throws {
    try await pieces("the oracle of the tree", "decisions", goal: 1_000_000) { seed in
      try DatabaseOracleTests.compare(200, seed: 0x57_0000 &+ seed, requests: 10).decisions
    }
  }

  @Test func `rules of the tree are read or refused`() async throws {
    try await pieces("rules of the tree", "sources", goal: 1_000_000) { seed in
      DatabaseTests().tryRules(10_000, 0x55_0000 &+ seed)
      return 10_000
    }
  }
}
