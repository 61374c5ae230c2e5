import Foundation
import Testing
import VestaConcurrency
import VestaTesting

/// What was accepted arrives in the program, once it is taken, in order, and nowhere else: compared with a model that
/// knows the documentation alone.
///
/// `VESTA_SOAK=1` runs it for `VESTA_SECONDS`, ten minutes unless it is given, from `VESTA_SEED` on.
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
  @Test(.enabled(if: ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1"), .timeLimit(.minutes(60)))
  func `many histories of messages agree with the oracle`() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seconds = environment["VESTA_SECONDS"].flatMap { Double($0) } ?? 600
    var seed = environment["VESTA_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1_000...1_000_000_000)
    let start = ContinuousClock.now
    var count = 0
    while ContinuousClock.now - start < .seconds(seconds) {
      try await OracleTests.run(seed)
      (seed, count) = (seed + 1, count + 1)
    }
    print("OracleSoakTests of Messaging: \(count) histories, up to seed \(seed - 1)")
  }
}
