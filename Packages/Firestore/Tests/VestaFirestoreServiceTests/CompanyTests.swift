import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropContracts
import VestaTesting

@testable import VestaFirestoreIndexes
@testable import VestaFirestoreService

/// What one caller costs the others, counted: rows, rows of one transaction, and who waits for whom.
struct CompanyTests {
  private static func fill(_ engine: FirestoreEngine, _ count: Int) async throws {
    for start in stride(from: 0, to: count, by: 500) {
      let writes = (start..<min(start + 500, count)).map {
        update("rooms/\(10_000 + $0)", ["n": .integer(Int64($0))])
      }
      _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    }
  }

  @Test func `the first result of a query costs a page, however many follow`() async throws {
    let store = CountingStore()
    let engine = makeEngine(on: store)
    try await Self.fill(engine, 6_000)
    let query = StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: "n")])
    for _ in 0..<2 {
      _ = try await engine.query(query)
      try await engine.engine(database).indexes.settle()
    }
    for query in [query, .all("rooms")] {
      let (rows, _) = try await store.rows {
        struct Enough: Error {}
        await #expect(throws: Enough.self) {
          try await engine.runQuery(RunQueryRequest(parent: root, query: query), context: owner) {
            if $0.document != nil { throw Enough() }
          }
        }
      }
      #expect(rows.total <= 2 * 2_048 + 16, "\(rows): \(query)")
    }
  }

  @Test func `sixty-four receivers that stand still hold up no get, no commit and no new listener`() async throws {
    let engine = makeEngine()
    try await Self.fill(engine, 3_000)
    let (reached, go) = (Locked(0), Latch())
    let all = Latch()
    try await withThrowingTaskGroup { group in
      for _ in 0..<64 {
        group.addTask {
          let isFirst = Locked(true)
          try await engine.runQuery(RunQueryRequest(parent: root, query: .all("rooms")), context: owner) { _ in
            let counts = isFirst.withLock { first in
              defer { first = false }
              return first
            }
            guard counts else { return }
            let number = reached.withLock { count in
              count += 1
              return count
            }
            if number == 64 { all.open() }
            await go.wait()
          }
        }
      }
      defer { go.open() }
      await all.wait()
      // All of them stand still now, and only what comes next lets them go.
      try await engine.commit(update("rooms/a", ["n": .integer(-1)]))
      #expect(try await engine.get("rooms/a")?.fields["n"] == .integer(-1))
      var follower = try await Follower(engine)
      follower.add(Target(id: 1, .documents([name("rooms/a")])))
      try await follower.current([1])
      let commit = try await engine.commit(update("rooms/a", ["n": .integer(-2)]))
      try await follower.snapshot(from: commit.commitTime)
      #expect(follower.targets[1]?[name("rooms/a")]?.fields["n"] == .integer(-2))
      go.open()
      try await group.waitForAll()
    }
  }

  @Test func `what is older than the retention goes in small steps, and in no caller's commit`() async throws {
    let clock = ManualClock()
    let store = CountingStore(clock: clock.ofStore)
    var options = FirestoreServiceOptions()
    options.clock = clock.service
    let engine = FirestoreEngine(store: store, options: options)
    let base = try await engine.engine(database)
    for number in 0..<1_000 { try await engine.commit(update("rooms/\(number % 7)", ["n": .integer(Int64(number))])) }
    await base.pruner.settle()
    clock.advance(by: .seconds(2 * 3_600))
    let before = store.commitsSoFar.count
    try await engine.commit(update("rooms/a", [:]))
    let own = store.commitsSoFar[before]
    #expect(own == CountingStore.Changes(put: 3, deleted: 0), "a document, a row of the log, one of the collection")
    await base.pruner.settle()
    let pruning = store.commitsSoFar.dropFirst(before + 1)
    #expect(pruning.reduce(0) { $0 + $1.deleted } >= 2_000)
    #expect(pruning.allSatisfy { $0.deleted <= 2 * 128 + 1 }, "two rows for each of a step, and the lease")
    #expect(try await store.read { try await $0.entries(in: base.keys.log(after: 0)) }.count == 1)
  }

  @Test func `making an index writes at most a thousand entries in one transaction`() async throws {
    let store = CountingStore()
    let engine = makeEngine(on: store)
    try await Self.fill(engine, 5_000)
    let base = try await engine.engine(database)
    let before = store.commitsSoFar.count
    _ = try await engine.query(StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: "n")]))
    await base.indexes.settle()
    let building = store.commitsSoFar.dropFirst(before)
    #expect(building.reduce(0) { $0 + $1.put } >= 5_000)
    #expect(building.allSatisfy { $0.put <= WorkPace.largest + 4 }, "\(building.map(\.put))")
  }
}
