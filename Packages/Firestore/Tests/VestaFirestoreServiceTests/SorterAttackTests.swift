import Testing
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop
import VestaTesting

@testable import VestaFirestoreService

/// A log with damage, and one that is far behind its order by collection.
struct SorterAttackTests {
  private static func sorted(_ base: DocumentDatabase) async throws -> LogPosition {
    try await base.store.read { try PositionRow.position(try #require(try await $0.get(base.keys.sorted))) }
  }

  /// Puts bytes in place of a row of the log.
  private static func damage(_ base: DocumentDatabase, at version: Int64) async throws {
    let key = base.keys.log(LogPosition(version: version))
    try await base.store.write { try await $0.put([0xFF, 0xFF, 0xFF], for: key) }
  }

  @Test func `the log before a damaged row is sorted, and after its time the rest is too`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    var versions: [Int64] = []
    func commit(_ path: String) async throws {
      clock.advance(seconds: 1)
      versions.append(try await engine.commit(update(path, ["n": .integer(1)])).commitTime.microseconds ?? 0)
    }
    for number in 0..<10 { try await commit("rooms/\(number)") }
    let base = try await engine.engine(database)
    try await Self.damage(base, at: versions[6])
    #expect(await failure { try await base.sorter?.sort() }?.code == .dataLoss)
    #expect(try await Self.sorted(base).version == versions[5])
    // Who wants to know what has changed since before the damage gets an error, and no wrong answer.
    let lost = await failure {
      try await base.reading { _ = try await $0.changes(after: versions[2], in: .collection(ResourcePath(["rooms"]))) }
    }
    #expect(lost?.code == .dataLoss)
    let rest = try await base.reading { try await $0.changes(after: versions[7], in: .everything).count }
    #expect(rest == 2)
    clock.advance(seconds: 2 * 3_600)
    try await commit("halls/a")
    await base.pruner.settle()
    try await commit("halls/b")
    await base.pruner.settle()
    let rows = try await base.store.read { try await $0.entries(in: KeyRange(prefix: base.keys.log)) }
    #expect(rows.count <= 2)
    try await base.sorter?.sort()
    #expect(try await Self.sorted(base).version == versions.last)
  }

  @Test func `a log with much to sort is sorted in steps, and has the same content before and after`() async throws {
    let engine = makeEngine()
    let first = try await engine.commit(update("rooms/0", [:])).commitTime.microseconds ?? 0
    let base = try await engine.engine(database)
    let keys = base.keys
    // As commits whose process ended before it sorted them.
    let count: Int64 = 10_000
    for part in 0..<10 {
      try await base.store.write { transaction in
        for number in Int64(part) * count / 10..<Int64(part + 1) * count / 10 {
          let path = ResourcePath(splitting: "\(number.isMultiple(of: 100) ? "rooms" : "halls")/\(number)")
          let row = LogRow(changes: [LoggedChange(pathKey: PathKey(path), before: nil)])
          try await transaction.put(row.bytes, for: keys.log(LogPosition(version: first + 1 + number)))
        }
      }
    }
    func changed(_ snapshot: Snapshot) async throws -> [[UInt8]] {
      try await snapshot.changes(after: first + 5_000, in: .collection(ResourcePath(["rooms"]))).map(\.pathKey.bytes)
    }
    let before = try await base.store.read { try await changed(Self.snapshot(base, $0)) }
    #expect(before.count == 50)
    try await base.sorter?.sort()
    #expect(try await Self.sorted(base).version == first + count)
    let after = try await base.store.read { try await changed(Self.snapshot(base, $0)) }
    #expect(after == before)
    let rows = try await base.store.read { try await $0.entries(in: KeyRange(prefix: keys.changes)) }
    // Five steps, each with few rows for each collection.
    #expect(rows.count < 40)
  }

  private static func snapshot(_ base: DocumentDatabase, _ reader: any StoreReader) -> Snapshot {
    Snapshot(
      reader: reader, keys: base.keys, name: base.name, indexes: nil, retention: .max / 32, tuning: EngineTuning())
  }
}
