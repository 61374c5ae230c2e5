import Foundation
import Testing
import VestaTesting

/// Who can get in, after every order of linking, unlinking, resets, recoveries, changes of the address, second factors,
/// disabling, deletion, revocation and restarts, compared with a table that knows the documentation alone.
///
/// `VESTA_SOAK=1` runs it for `VESTA_SECONDS`, ten minutes unless it is given, from `VESTA_SEED` on.
@Suite(.timeLimit(.minutes(30)))
struct OracleTests {
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `credentials open the accounts that the documentation says`(seed: UInt64) async throws {
    try await Self.run(seed, steps: 25)
  }

  static func run(_ seed: UInt64, steps: Int) async throws {
    let history = try AuthHistory(seed: seed)
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
  @Test(.enabled(if: ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1"), .timeLimit(.minutes(60)))
  func `many histories of accounts agree with the oracle`() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seconds = environment["VESTA_SECONDS"].flatMap { Double($0) } ?? 600
    var seed = environment["VESTA_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1_000...1_000_000_000)
    let start = ContinuousClock.now
    var count = 0
    while ContinuousClock.now - start < .seconds(seconds) {
      try await OracleTests.run(seed, steps: 60)
      (seed, count) = (seed + 1, count + 1)
    }
    print("OracleSoakTests of Auth: \(count) histories, up to seed \(seed - 1)")
  }
}
