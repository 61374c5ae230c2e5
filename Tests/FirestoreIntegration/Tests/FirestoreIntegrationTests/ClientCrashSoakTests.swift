import Foundation
import Testing
import VestaStoreInteropCrashTesting
import VestaTesting

/// Kills a process whose clients write, at a random time, and looks at what the next one makes of it.
///
/// At least 8 rounds for each kind of client; 100 with `VESTA_SOAK=1`.
@Suite struct ClientCrashSoakTests {
  @Test(arguments: ["remote", "embedded"])
  func `a kill between local commit and answer loses no write and applies none twice`(kind: String) async throws {
    let rounds = ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1" ? 100 : 8
    let seed = UInt64.random(in: 0...UInt64.max)
    print("ClientCrashSoakTests: \(kind), seed \(seed)")
    var random = SplitMix(seed: seed)
    let directory = FileManager.default.temporaryDirectory.appending(path: "vesta-client-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    var local = 0
    var acknowledged = 0
    // On a slow machine a round may be over before its first write; the kills must hit some all the same.
    var round = 0
    while round < rounds || acknowledged <= rounds || local <= acknowledged {
      defer { round += 1 }
      func worker(_ mode: String) throws -> WorkerProcess {
        try WorkerProcess("FirestoreClientCrashWorker", mode, kind, directory.path, "\(round)")
      }
      let delay = random.below(250_000)
      let lines = try await worker("write").killAfter(microseconds: delay, afterLine: round % 5 == 4 ? nil : "ready")
      #expect(!lines.contains { $0.hasPrefix("error") }, "\(lines)")
      // Sending again is interrupted too.
      if round % 3 == 2 {
        _ = try await worker("check").killAfter(microseconds: random.below(60_000), afterLine: "ready")
      }
      let outcome = Outcome(await (try worker("check")).finish())
      local += lines.count { $0.hasPrefix("local") }
      acknowledged += lines.count { $0.hasPrefix("ack") }
      try check(outcome, lines, round)
    }
    print("ClientCrashSoakTests: \(kind), \(local) local commits, \(acknowledged) answers in \(round) rounds")
  }

  private func check(_ outcome: Outcome, _ lines: [String], _ round: Int) throws {
    try #require(outcome.lines.last == "done", "round \(round): \(outcome.lines)")
    for line in lines where line.hasPrefix("local ") || line.hasPrefix("ack ") {
      let id = String(line.split(separator: " ")[1])
      #expect(outcome.marks.contains(id), "round \(round): \(line) is lost")
    }
    #expect(outcome.counter == outcome.count, "round \(round): writes that were applied, and those that are there")
    #expect(outcome.changed == [], "round \(round): refused writes that came back")
  }

  /// The data of clients and engine when they have settled.
  private struct Outcome {
    let lines: [String]

    init(_ lines: [String]) { self.lines = lines }

    var counter: Int? { number("counter ") }
    var count: Int? { number("marks ") }
    var marks: Set<String> { Set(texts("mark ")) }
    var changed: [String] { texts("changed ") }

    private func number(_ prefix: String) -> Int? { texts(prefix).first.flatMap { Int($0) } }

    private func texts(_ prefix: String) -> [String] {
      lines.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }
  }
}
