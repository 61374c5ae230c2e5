import Testing

/// Documents that are read by one call, against the engine's own history, among random other uses of the client.
@Suite(.timeLimit(.minutes(5)))
struct FetchOracleTests {
  @Test(arguments: [false, true])
  func `what is fetched is as new as what was committed before, and the cache keeps it`(isDurable: Bool) async throws {
    var taken = 0
    for seed in UInt64(0)..<20 {
      var run = Run(seed: seed, isDurable: isDurable)
      for _ in 0..<60 { try await run.step() }
      try await run.finish()
      taken += run.taken
    }
    #expect(taken > 0)
  }
}
