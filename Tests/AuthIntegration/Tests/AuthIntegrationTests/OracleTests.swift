import Testing
import VestaTesting

/// Who can get in, after every order of linking, unlinking, resets, recoveries, changes of the address, second factors,
/// disabling, deletion, revocation and restarts, compared with a table that knows the documentation alone.
///
/// `Soak` tells the variables of the long run.
@Suite(.timeLimit(.minutes(30)))
struct OracleTests {
  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `credentials open the accounts that the documentation says`(seed: UInt64) async throws {
    try await Self.run(seed, steps: 40)
  }

  static func run(_ seed: UInt64, steps: Int) async throws {
    let history = try await AuthHistory(seed: seed)
    for number in 0..<steps {
      try await history.act()
      if number % 4 == 3 || number == steps - 1 { await history.check() }
      if !history.problems.isEmpty { break }
    }
    await history.end()
    #expect(history.problems == [], "seed \(seed)")
  }
}

/// The same for ten minutes.
struct OracleSoakTests {
  @Test(.enabled(if: Soak.isAsked), .timeLimit(.minutes(60)))
  func `many histories of accounts agree with the oracle`() async throws {
    try await Soak("Auth").run { seed, _ in try await OracleTests.run(seed, steps: 60) }
  }
}
