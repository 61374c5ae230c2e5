import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseService
import VestaSQLite
import VestaStoreInteropCrashTesting
import VestaTesting

@testable import DatabaseCrashWorker
@testable import VestaDatabase

/// Kills processes that write, and looks at what they left behind: client and engine at once, a client, an engine.
///
/// 6 rounds each; 100 with `VESTA_SOAK=1`.
@Suite(.serialized) struct CrashSoakTests {
  private let rounds = ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1" ? 100 : 6
  private let seed = UInt64.random(in: 0...UInt64.max)
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    // The end of its output shows that a process has ended.
    signal(SIGPIPE, SIG_IGN)
  }

  @Test func `acknowledged writes survive a kill, and operations for the end run exactly once`() async throws {
    var random = SplitMix(seed: seed)
    var acknowledged: Set<Int> = []
    var first = 1
    // A kill before "registered" was said leaves open whether the operation was accepted.
    var certain = 0, possible = 0
    for round in 0..<rounds {
      let worker = try WorkerProcess("DatabaseCrashWorker", "both", directory.path, "\(first)")
      // Most kills happen after some answers, however slow the disk is; others at any time, also before the start.
      let line = round % 4 == 3 ? nil : "registered"
      let lines = try await worker.killAfter(
        microseconds: random.below(60_000), afterLine: line, andMore: random.below(20))
      acknowledged.formUnion(numbers(in: lines))
      certain += lines.contains("registered") ? 1 : 0
      possible += 1
      let app = try Worker.app(in: directory.path, name: "worker")
      let snapshot = try await Database.database(app: app).reference().getData()
      let last = check(snapshot, acknowledged, "seed \(seed), round \(round)")
      let ends = snapshot.childSnapshot(forPath: "ends").value as? Int ?? 0
      await app.delete()
      #expect((certain...possible).contains(ends), "seed \(seed), round \(round): \(ends) of \(certain)...\(possible)")
      (certain, possible) = (ends, ends)
      first = last + 1
    }
    print("CrashSoakTests, both: \(acknowledged.count) answers, \(certain) ends in \(rounds) rounds")
    #expect(!acknowledged.isEmpty)
  }

  /// The engine continues: the writes that clients have kept are in the store on their device, and have to arrive after
  /// the restart.
  @Test func `a client that is killed sends what it has kept, and its end happens exactly once`() async throws {
    var random = SplitMix(seed: seed)
    let folder = try folder("engine")
    let engine = DatabaseEngine(store: try await SQLiteStore.open(named: "engine", in: folder))
    let operations = Locked(0)
    var first = 1, acknowledged: Set<Int> = [], pending = 0
    for round in 0..<rounds {
      func process(_ mode: String, _ number: Int) throws -> LineProcess {
        try LineProcess([mode, directory.path, "\(number)"], engine, operations)
      }
      let client = try process("client", first)
      let isKilledEarly = round % 4 == 3
      let lines = await client.killAfter(microseconds: random.below(40_000), afterPrefix: isKilledEarly ? nil : "ack")
      acknowledged.formUnion(numbers(in: lines))
      let kept = try await keptWrites()
      pending += kept.count
      // Sending again is interrupted too.
      if round % 3 == 2 {
        _ = await (try process("settle", round)).killAfter(microseconds: random.below(40_000), afterPrefix: nil)
      }
      let told = await (try process("settle", round)).finish()
      #expect(told.last == "done", "seed \(seed), round \(round): \(told)")
      let left = try await keptWrites()
      #expect(left == [], "seed \(seed), round \(round): writes are still kept")
      let app = try Worker.app(in: directory.path, name: "reader", backend: engine)
      let snapshot = try await Database.database(app: app).reference().getData()
      await app.delete()
      let label = "seed \(seed), round \(round)"
      let last = check(snapshot, acknowledged.union(kept), label)
      #expect(snapshot.childSnapshot(forPath: "mark").value as? Int == round, "\(label)")
      // An older write that is sent again must not cover a newer one.
      #expect(snapshot.childSnapshot(forPath: "last").value as? Int ?? 0 == last, "\(label)")
      let ends = snapshot.childSnapshot(forPath: "ends").value as? Int ?? 0
      #expect(ends == operations.withLock { $0 }, "\(label): ends that happened, and those that were asked for")
      first = last + 1
    }
    try await engine.close()
    print("CrashSoakTests, clients: \(acknowledged.count) answers, \(pending) kept writes in \(rounds) rounds")
    #expect(!acknowledged.isEmpty)
  }

  /// The clients continue: their writes have to arrive at the next engine, and their ends happen once for each
  /// connection.
  @Test func `clients outlive an engine that is killed`() async throws {
    var random = SplitMix(seed: seed)
    let folder = try folder("engine")
    let backends = [LineBackend(), LineBackend(firstNumber: 1_000_001)]
    let apps = try backends.enumerated().map { number, backend in
      try Worker.app(in: try self.folder("client\(number)"), name: "client\(number)", backend: backend)
    }
    let roots = apps.map { Database.database(app: $0).reference() }
    let answers = Log<Int>()
    var sent = 0, ends = 0
    for round in 0..<rounds {
      let engine = try LineProcess(["engine", folder], backends)
      let before = answers.entries.count
      for root in roots {
        root.onDisconnectUpdateChildValues(["ends": ServerValue.increment(1)]) { error, _ in
          if error == nil { answers.add(0) }
        }
      }
      for number in sent + 1...sent + 40 {
        roots[number % 2].updateChildValues(Worker.values(number)) { _, _ in answers.add(number) }
      }
      sent += 40
      let wanted = round % 4 == 3 ? before : before + 1 + random.below(40)
      await answers.wait { $0.count >= wanted }
      _ = await engine.killNow()
      ends = answers.entries.count { $0 == 0 }
    }
    // The last engine lives until everything has been answered, and carries out what the others have left.
    let engine = try LineProcess(["engine", folder], backends)
    let all = sent
    await answers.wait { $0.count { $0 != 0 } >= all }
    let snapshot = try await roots[0].getData()
    let label = "seed \(seed)"
    #expect(check(snapshot, Set(1...sent), label) == sent)
    #expect(answers.entries.count { $0 != 0 } == sent, "\(label): a write was answered twice")
    let happened = snapshot.childSnapshot(forPath: "ends").value as? Int ?? 0
    #expect((ends...2 * rounds).contains(happened), "\(label): \(happened) ends of \(ends) that were accepted")
    _ = await engine.killNow()
    for app in apps { await app.delete() }
    print("CrashSoakTests, engines: \(sent) answers, \(happened) ends of \(ends) accepted in \(rounds) rounds")
  }

  // MARK: Helpers

  private func folder(_ name: String) throws -> String {
    let path = "\(directory.path)/\(name)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  private func numbers(in lines: [String]) -> Set<Int> {
    Set(lines.compactMap { $0.hasPrefix("ack ") ? Int($0.dropFirst(4)) : nil })
  }

  /// Checks that writes that must be there are, and that none is half written; returns the last one.
  private func check(_ snapshot: DataSnapshot, _ numbers: Set<Int>, _ label: String) -> Int {
    let there = snapshot.childSnapshot(forPath: "n"), twins = snapshot.childSnapshot(forPath: "twin")
    let written = Set(there.children.compactMap { ($0 as? DataSnapshot)?.value as? Int })
    let twin = Set(twins.children.compactMap { ($0 as? DataSnapshot)?.childSnapshot(forPath: "value").value as? Int })
    #expect(written == twin, "\(label): half written: \(written.symmetricDifference(twin))")
    #expect(numbers.isSubset(of: written), "\(label): lost: \(numbers.subtracting(written))")
    return written.max() ?? 0
  }

  /// The numbers of the writes that the device of the killed client keeps.
  private func keptWrites() async throws -> Set<Int> {
    let files = FileManager.default.enumerator(atPath: directory.path)?.compactMap { $0 as? String } ?? []
    guard let file = files.first(where: { $0.contains("database-cache-") && $0.hasSuffix("/store.sqlite") }) else {
      return []
    }
    let url = URL(filePath: "\(directory.path)/\(file)").deletingLastPathComponent()
    let (name, folder) = (url.lastPathComponent, url.deletingLastPathComponent().path)
    let persistence = Persistence(limit: 1 << 20) { try await SQLiteStore.open(named: name, in: folder) }
    let writes = await persistence.load(now: 0).writes
    await persistence.close()
    return Set(
      writes.compactMap { write in
        guard case .merge(let values) = write.change else { return nil }
        return values.first { $0.path == "last" }?.node.leaf?.number.map { Int($0) }
      })
  }
}
