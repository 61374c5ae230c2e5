import Foundation
import Testing
import VestaCore
import VestaFirestoreBackend
import VestaServiceInterop
import VestaStoreInteropCrashTesting
import VestaTesting

@testable import EventCrashWorker

/// Kills a process that writes documents and delivers their events, and looks for events that were lost.
///
/// 6 rounds; 100 with `VESTA_SOAK=1`.
@Suite(.serialized) struct EventCrashSoakTests {
  @Test(.timeLimit(.minutes(30)))
  func `every committed change reaches its function in order, whenever the process is killed`() async throws {
    let rounds = ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1" ? 100 : 6
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed: seed)
    let directory = try TemporaryDirectory()
    var acknowledged: Set<Int> = []
    var first = 1
    for round in 0..<rounds {
      let worker = try WorkerProcess("EventCrashWorker", directory.path, "\(first)")
      // Some are killed while they start; most are left long enough to take the lease over.
      let delay = Int.random(in: 0...(round % 4 == 3 ? 100_000 : 400_000), using: &random)
      let lines = try await worker.killAfter(
        microseconds: delay, afterLine: round % 4 == 3 ? nil : "ready", andMore: 3 + random.below(5))
      #expect(!lines.contains { $0.hasPrefix("error") }, "seed \(seed), round \(round): \(lines)")
      acknowledged.formUnion(lines.compactMap { Int($0) })
      // A number beyond the last acknowledged one may be there in part.
      first = max(acknowledged.max() ?? 0, first) + 2
    }
    #expect(acknowledged.count > rounds, "seed \(seed): too few changes to say anything")
    try await drain(directory, acknowledged)
    try check(directory, acknowledged, "seed \(seed)")
  }

  /// Lets this process deliver what is left, until nothing is missing.
  private func drain(_ directory: TemporaryDirectory, _ acknowledged: Set<Int>) async throws {
    let before = Set(try ledger(directory).map { "\($0.number) \($0.round)" })
    let missing = Set(acknowledged.flatMap { ["\($0) 1", "\($0) 2"] }).subtracting(before)
    let heard = Log<String>()
    let app = try Worker.app(in: directory.path)
    try Worker.register(app, ledger: directory.path(of: "ledger")) { heard.add("\($0) \($1)") }
    let backend = try app.container.require((any FirestoreBackend).self)
    try await Worker.set(backend, 0, round: 3)
    await heard.wait { $0.contains("0 3") && missing.isSubset(of: $0) }
    await app.delete()
  }

  private func ledger(_ directory: TemporaryDirectory) throws -> [(number: Int, round: Int, id: String)] {
    let text = String(decoding: try directory.bytes(of: "ledger"), as: UTF8.self)
    return text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ")
      guard parts.count == 3, let number = Int(parts[0]), let round = Int(parts[1]) else { return nil }
      return (number, round, String(parts[2]))
    }
  }

  private func check(_ directory: TemporaryDirectory, _ acknowledged: Set<Int>, _ label: String) throws {
    let entries = try ledger(directory)
    var rounds: [Int: [Int]] = [:]
    var ids: [String: String] = [:]
    for entry in entries {
      rounds[entry.number, default: []].append(entry.round)
      let change = "\(entry.number) \(entry.round)"
      // A redelivery has the same id, and only a redelivery has it.
      #expect(ids[entry.id, default: change] == change, "\(label): \(entry.id) is the id of two changes")
      ids[entry.id] = change
    }
    for number in acknowledged {
      let seen = rounds[number] ?? []
      #expect(seen.contains(1) && seen.contains(2), "\(label): an event of \(number) is lost; delivered: \(seen)")
    }
    for (number, seen) in rounds where seen.contains(2) {
      let (one, two) = (seen.firstIndex(of: 1) ?? .max, seen.firstIndex(of: 2) ?? .max)
      #expect(one < two, "\(label): the events of \(number) came in the order \(seen)")
    }
    #expect(Set(ids.values).count == ids.count, "\(label): a change has two ids")
  }
}
