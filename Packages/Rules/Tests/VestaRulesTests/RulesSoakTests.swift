import Testing

@testable import VestaRules

/// The random tests at length, with `make soak`.
@Suite(.enabled(if: isSoak)) struct RulesSoakTests {
  /// What a hostile source or request may cost at most, in milliseconds of the processor; unoptimised code is slower.
  private var bound: Double {
    #if DEBUG
      100
    #else
      5
    #endif
  }

  @Test(arguments: 0..<4) func `ten million sources are read or refused within a bound`(seed: UInt64) {
    let worst = HostileTests.trySources(2_500_000, seed: 0x50_0000 + seed)
    #expect(worst < bound)
  }

  @Test(arguments: 0..<4) func `a million values are taken by every operator and method`(seed: UInt64) throws {
    let worst = try HostileTests.tryValues(50_000, seed: 0x51_0000 + seed)
    #expect(worst < bound)
  }

  @Test(arguments: 0..<4) func `a million documents that queries return are allowed by themselves`(
    seed: UInt64
  ) throws {
    try QuerySoundnessTests().run(pairs: 250_000, seed: 0x52_0000 + seed)
  }

  @Test(arguments: 0..<4) func `the tree and the compiled form agree about a hundred thousand programs`(
    seed: UInt64
  ) throws {
    try OtherOpinionTests().compare(25_000, seed: 0x53_0000 + seed)
    try OtherOpinionTests().change(5_000, seed: 0x54_0000 + seed)
  }
}
