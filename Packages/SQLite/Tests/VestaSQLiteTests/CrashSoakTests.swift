import VestaCrashTesting
import Foundation
import VestaStoreInterop
import Testing

@testable import StoreCrashWorker
@testable import VestaSQLite

extension OneAtATime {
  /// Kills a process that writes, at a random moment, and looks at what it left behind.
  ///
  /// 20 rounds; 200 with `VESTA_SOAK=1`.
  @Suite struct CrashSoakTests {
    @Test func whatWasAcknowledgedSurvivesAKillAndTheRestIsWholeOrAbsent() async throws {
      let rounds = ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1" ? 200 : 20
      let seed = UInt64.random(in: 0...UInt64.max)
      print("CrashSoakTests: seed \(seed)")
      var random = SplitMix(state: seed)
      let directory = try TemporaryDirectory()
      var acknowledged: Set<Int> = []
      var first = 1
      for round in 0..<rounds {
        let tasks = round % 2 == 0 ? 1 : 8
        let worker = try WorkerProcess("StoreCrashWorker", "write", directory.path, "\(first)", "\(tasks)")
        let delay = Int.random(in: 0...60_000, using: &random)
        let lines = try await worker.killAfter(microseconds: delay, afterLine: round % 5 == 4 ? nil : "ready")
        acknowledged.formUnion(lines.compactMap { Int($0) })
        let last = max(acknowledged.max() ?? 0, first) + tasks
        // All of them now and then, and at the end; otherwise those of this round.
        let isWhole = round % 20 == 19 || round == rounds - 1
        try await check(directory, acknowledged: acknowledged, numbers: (isWhole ? 1 : first)...last, round: round)
        first = last + 1
      }
      #expect(acknowledged.count > rounds)
    }

    private func check(_ directory: TemporaryDirectory, acknowledged: Set<Int>, numbers: ClosedRange<Int>, round: Int)
      async throws
    {
      let store = try directory.open()
      let wrong = try await store.read { reader in
        var wrong: [String] = []
        for number in numbers {
          let count = try await Numbered.count(number, in: reader)
          let isRight = acknowledged.contains(number) ? count == Numbered.keys : [0, Numbered.keys].contains(count)
          if !isRight { wrong.append("\(number): \(count) of \(Numbered.keys)") }
        }
        return wrong
      }
      #expect(wrong == [], "round \(round)")
      if numbers.lowerBound == 1 {
        let problems = try await store.checkIntegrity()
        #expect(problems == [], "round \(round)")
      }
      try await store.close()
    }
  }
}
