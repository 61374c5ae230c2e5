import Foundation
import Testing
import VestaCore
import VestaDatabase
import VestaStoreInteropCrashTesting
import VestaTesting

@testable import DatabaseCrashWorker

/// Kills a process that writes, client and engine at once, and looks at what it left behind.
///
/// 6 rounds; 100 with `VESTA_SOAK=1`.
@Suite(.serialized) struct CrashSoakTests {
  @Test func `acknowledged writes survive a kill, and operations for the end run exactly once`() async throws {
    let rounds = ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1" ? 100 : 6
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed: seed)
    let directory = try TemporaryDirectory()
    var acknowledged: Set<Int> = []
    var first = 1
    // A kill before "registered" was said leaves open whether the operation was accepted.
    var certain = 0, possible = 0
    for round in 0..<rounds {
      let worker = try WorkerProcess("DatabaseCrashWorker", directory.path, "\(first)")
      let line = round % 4 == 3 ? nil : "registered"
      let delay = Int.random(in: 0...60_000, using: &random)
      let lines = try await worker.killAfter(microseconds: delay, afterLine: line)
      acknowledged.formUnion(lines.compactMap { Int($0) })
      certain += lines.contains("registered") ? 1 : 0
      possible += 1
      let last = max(acknowledged.max() ?? 0, first) + 1
      let ends = try await check(directory, acknowledged, first...last, "seed \(seed), round \(round)")
      #expect((certain...possible).contains(ends), "seed \(seed), round \(round): \(ends) of \(certain)...\(possible)")
      (certain, possible) = (ends, ends)
      first = last + 1
    }
    #expect(!acknowledged.isEmpty)
  }

  /// Opens what is left, and returns how often an operation for the end has run.
  private func check(
    _ directory: TemporaryDirectory, _ acknowledged: Set<Int>, _ numbers: ClosedRange<Int>, _ label: String
  ) async throws -> Int {
    let app = try Worker.app(in: directory.path, name: "worker")
    let snapshot = try await Database.database(app: app).reference().getData()
    for number in numbers {
      let value = snapshot.childSnapshot(forPath: "n/\(number)").value as? Int
      let twin = snapshot.childSnapshot(forPath: "twin/\(number)/value").value as? Int
      #expect(value == twin, "\(label): \(number) is half written")
      if acknowledged.contains(number) { #expect(value == number, "\(label): \(number) is lost") }
    }
    await app.delete()
    return snapshot.childSnapshot(forPath: "ends").value as? Int ?? 0
  }
}
