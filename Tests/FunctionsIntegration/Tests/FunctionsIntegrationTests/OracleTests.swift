import Testing
import VestaConcurrency
import VestaTesting

/// Every change reaches its function, in order and until it succeeds or is a dead letter, and every call has its
/// answer, however functions fail, block, hang, call each other and are left, and programs restart: compared with a
/// model that knows the documentation alone.
///
/// `Soak` tells the variables of the long run.
@Suite(.timeLimit(.minutes(30)))
struct OracleTests {
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `functions are run as documented, however they behave and programs restart`(seed: UInt64) async throws {
    try await Self.run(seed)
  }

  static func run(_ seed: UInt64) async throws {
    let history = try FunctionsHistory(seed: seed)
    for round in 0..<4 {
      try await history.round(round, isLast: round == 3)
      let problems = history.model.withLock { $0.problems }
      #expect(problems == [], "seed \(seed), round \(round)")
      if !problems.isEmpty { return }
    }
  }
}

/// The same for ten minutes.
struct OracleSoakTests {
  @Test(.enabled(if: Soak.isAsked), .timeLimit(.minutes(60)))
  func `many histories of functions agree with the oracle`() async throws {
    try await Soak("Functions").run { seed, _ in try await OracleTests.run(seed) }
  }
}
