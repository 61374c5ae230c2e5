import Testing
import VestaConcurrency
import VestaTesting

/// An accepted message arrives in the program, once it is taken, in order, and nowhere else: compared with a model that
/// knows the documentation alone.
///
/// `Soak` tells the variables of the long run.
@Suite(.timeLimit(.minutes(30)))
struct OracleTests {
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `messages arrive as documented, however programs receive and restart`(seed: UInt64) async throws {
    try await Self.run(seed)
  }

  static func run(_ seed: UInt64) async throws {
    let history = try MessagingHistory(seed: seed)
    for round in 0..<4 {
      try await history.round(round, drains: round == 1 || round == 3)
      let problems = history.model.withLock { $0.problems }
      #expect(problems == [], "seed \(seed), round \(round)")
      if !problems.isEmpty { return }
    }
  }
}

/// The same for ten minutes.
struct OracleSoakTests {
  @Test(.enabled(if: Soak.isAsked), .timeLimit(.minutes(60)))
  func `many histories of messages agree with the oracle`() async throws {
    try await Soak("Messaging").run { seed, _ in try await OracleTests.run(seed) }
  }
}
