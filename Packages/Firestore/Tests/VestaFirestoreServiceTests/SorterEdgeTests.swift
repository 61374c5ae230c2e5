import Testing
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop
import VestaStoreInteropFakes

@testable import VestaFirestoreService

/// The log by collection where something else happens while it is sorted.
struct SorterEdgeTests {
  @Test func `what is pruned while a part of the log is sorted gets no rows, the last pruned version neither`()
    async throws
  {
    let store = HeldStore()
    let base = try await makeEngine(on: store).engine(database)
    let keys = base.keys
    let sorter = LogSorter(store: store, keys: keys, waiting: 0, recent: base.recent, tuning: LogTuning())
    let first: Int64 = 1_000
    _ = try await store.write { transaction in
      try await transaction.put(PositionRow.bytes(LogPosition(version: first)), for: keys.sorted)
      for number in 1...Int64(4) {
        let pathKey = PathKey(ResourcePath(splitting: "rooms\(number)/a"))
        let row = LogRow(changes: [LoggedChange(pathKey: pathKey, before: nil)])
        try await transaction.put(row.bytes, for: keys.log(LogPosition(version: first + number)))
      }
    }
    store.hold(KeyRange(prefix: keys.log))
    async let sorted: Void = sorter.sort()
    await store.arrival()
    // The pruner, which does not wait for the sorter.
    _ = try await store.write { transaction in
      try await transaction.put(NumberRow.bytes(first + 2), for: keys.horizon)
      for number in 1...Int64(2) {
        try await transaction.delete(keys.log(LogPosition(version: first + number)))
      }
    }
    store.release()
    try await sorted
    try await LogSorterTests.check(base, "after the prune")
    let count = try await store.read { try await $0.entries(in: KeyRange(prefix: keys.changes)).count }
    #expect(count == 2)
  }

  @Test func `a database that is closed sorts no more`() async throws {
    let engine = makeEngine(on: ModelStore())
    let base = try await engine.engine(database)
    let sorter = try #require(base.sorter)
    func position() async throws -> [UInt8]? { try await base.store.read { try await $0.get(base.keys.sorted) } }
    let first = try await position()
    try await engine.commit(update("rooms/a", [:]))
    base.close()
    try await sorter.sort()
    #expect(try await position() == first)
  }
}
