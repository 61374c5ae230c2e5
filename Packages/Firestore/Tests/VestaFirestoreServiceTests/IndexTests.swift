import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreReference
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreIndexes
@testable import VestaFirestoreService

struct IndexTests {
  private func explained(_ engine: FirestoreEngine, _ query: StructuredQuery) async throws -> ExplainMetrics {
    var metrics: ExplainMetrics?
    let request = RunQueryRequest(parent: root, query: query, explain: ExplainOptions(analyze: true))
    try await engine.runQuery(request, context: owner) { metrics = $0.explainMetrics ?? metrics }
    return try #require(metrics)
  }

  @Test func `the second query costs its result`() async throws {
    let engine = makeEngine()
    for number in 0..<300 {
      try await engine.commit(
        update("rooms/\(number)", ["n": .integer(Int64(number)), "m": .integer(Int64(number % 3))]))
    }
    var query = StructuredQuery.all("rooms")
    query.filter = .field(path: "n", .greaterThanOrEqual, .integer(100))
    query.limit = 5
    #expect(try await explained(engine, query).executionStats?.readOperations == 300)
    try await engine.engine(database).indexes.settle()
    let metrics = try await explained(engine, query)
    #expect(metrics.executionStats?.readOperations == 5)
    #expect(
      metrics.indexesUsed == [["query_scope": .string("Collection"), "properties": .string("(n ASC, __name__ ASC)")]])

    query.orderBy = [.init(fieldPath: "n", .descending)]
    #expect(try await explained(engine, query).executionStats?.readOperations == 5)
  }

  @Test func `equalities are joined from single fields`() async throws {
    let engine = makeEngine()
    for number in 0..<200 {
      let fields: MapValue = [
        "a": .integer(Int64(number % 10)), "b": .integer(Int64(number % 7)), "x": .array([.integer(Int64(number))]),
      ]
      try await engine.commit(update("rooms/\(number)", fields))
    }
    var query = StructuredQuery.all("rooms")
    query.filter = .composite(.and, [.field(path: "a", .equal, .integer(3)), .field(path: "b", .equal, .integer(6))])
    let before = try await engine.query(query)
    try await engine.engine(database).indexes.settle()
    let metrics = try await explained(engine, query)
    #expect(metrics.executionStats?.readOperations == Int64(before.count))
    #expect(metrics.indexesUsed.count == 2)
    #expect(try await engine.query(query) == before)
  }

  @Test func `an unfinished index is finished after a restart`() async throws {
    let store = ModelStore()
    let first = makeEngine(on: store)
    for number in 0..<450 { try await first.commit(update("rooms/\(number)", ["n": .integer(Int64(number))])) }
    let keys = try await first.engine(database).keys
    let shape = IndexShape(
      collectionID: "rooms", isGroup: false, parts: [.init(path: FieldPath(["n"]), kind: .ascending)])
    _ = try await store.write { transaction in
      let catalogue = try NumberRow.number(try await transaction.get(keys.catalogue)) + 1
      let row = IndexRow(shape: shape, progress: .building(after: nil), lastUsed: 0)
      try await transaction.put(try row.bytes, for: keys.index(catalogue))
      try await transaction.put(NumberRow.bytes(catalogue), for: keys.catalogue)
    }
    let second = makeEngine(on: store)
    try await second.commit(update("rooms/0", ["n": .integer(-1)]))
    try await second.engine(database).indexes.settle()
    let query = StructuredQuery(
      from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: "n")], limit: 2)
    let metrics = try await explained(second, query)
    #expect(metrics.executionStats?.readOperations == 2)
    #expect(try await second.query(query).map(\.name) == [name("rooms/0"), name("rooms/1")])
  }

  @Test func `an unused index is dropped`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    try await engine.commit(update("rooms/a", ["n": .integer(1), "m": .integer(1)]))
    let queries = ["n", "m"].map {
      StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: $0)])
    }
    for query in queries { _ = try await engine.query(query) }
    let database = try await engine.engine(database)
    await database.indexes.settle()
    for _ in 0..<10 {
      clock.advance(seconds: 86_400)
      _ = try await engine.query(queries[0])
      await database.indexes.settle()
    }
    #expect(try await explained(engine, queries[0]).indexesUsed.count == 1)
    let entries = try await database.store.read { try await $0.entries(in: KeyRange(prefix: database.keys.entries)) }
    #expect(entries.count == 1)
  }

  @Test func `an index that only shortens a count is in use and stays`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    let writes = (0..<400).map {
      update("rooms/\($0)", ["n": .integer(Int64($0)), "m": .integer(Int64(400 - $0))])
    }
    _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    // All but the last of the order by m and n are passed over: the range of n is shorter.
    var query = StructuredQuery.all("rooms")
    query.filter = .composite(
      .and,
      [
        .field(path: "m", .greaterThan, .integer(0)), .field(path: "n", .greaterThanOrEqual, .integer(2)),
        .field(path: "n", .lessThan, .integer(22)),
      ])
    let request = RunAggregationQueryRequest(
      parent: root, query: .init(query: query, aggregations: [Aggregation(.count(upTo: nil), alias: "c")]))
    let base = try await engine.engine(database)
    func count() async throws {
      #expect(try await engine.runAggregation(request, context: owner).result == ["c": .integer(20)])
      await base.indexes.settle()
    }
    for _ in 0..<4 { try await count() }
    for _ in 0..<4 {
      clock.advance(seconds: 86_400)
      try await count()
    }
    let rows = try await base.store.read { reader in
      try await reader.entries(in: KeyRange(prefix: base.keys.indexes)).map { try IndexRow($0.value) }
    }
    let range = try #require(rows.first { $0.shape.properties == "(n ASC, __name__ ASC)" })
    #expect(range.isReady && clock.now - range.lastUsed < 2 * 86_400_000_000)
  }

  @Test(arguments: [UInt64(31), 32, 33])
  func `the planner's answer is the reference's`(seed: UInt64) async throws {
    var data = SplitMix(seed: seed)
    let engine = makeEngine()
    let reference = ReferenceBackend()
    var planned = 0
    var queries: [StructuredQuery] = []
    for round in 0..<8 {
      for _ in 0..<10 {
        let write = data.write()
        try await engine.commit(write)
        try await reference.commit(write)
      }
      for _ in 0..<10 where round < 4 { queries.append(data.query()) }
      for query in queries {
        let expected = await answer(reference, query)
        #expect(await answer(engine, query) == expected, "seed \(seed): \(query)")
      }
      try await engine.engine(database).indexes.settle()
    }
    for query in queries {
      guard let metrics = try? await explained(engine, query) else { continue }
      if !metrics.indexesUsed.isEmpty { planned += 1 }
    }
    #expect(planned > 10)
  }

  @Test func `an index that is made while others write has everything`() async throws {
    let engine = makeEngine()
    for number in 0..<500 { try await engine.commit(update("rooms/\(number)", ["n": .integer(Int64(number))])) }
    let query = StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: "n")])
    _ = try await engine.query(query)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          for number in stride(from: worker, to: 500, by: 7) {
            if number.isMultiple(of: 3) {
              try await engine.commit(.delete(name("rooms/\(number)")))
            } else {
              try await engine.commit(update("rooms/\(number)", ["n": .integer(Int64(-number))]))
            }
          }
        }
      }
      try await group.waitForAll()
    }
    try await engine.engine(database).indexes.settle()
    let all = try await engine.query(.all("rooms"))
    #expect(try await explained(engine, query).indexesUsed.count == 1)
    let sorted = all.sorted { ValueOrder.compare($0.fields["n"] ?? .null, $1.fields["n"] ?? .null) < 0 }
    #expect(try await engine.query(query) == sorted)
  }

  @Test func `making an index jumps over other collections`() async throws {
    let store = CountingStore()
    let engine = makeEngine(on: store)
    for collection in ["halls", "zones"] {
      let writes = (0..<500).map { update("\(collection)/\($0)", ["n": .integer(Int64($0))]) }
      _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    }
    for path in ["rooms/a", "halls/7/rooms/b", "zones/9/rooms/c"] {
      try await engine.commit(update(path, ["n": .integer(1)]))
    }
    var query = StructuredQuery(from: [.init(collectionID: "rooms", allDescendants: true)])
    query.filter = .field(path: "n", .equal, .integer(1))
    let (rows, scanned) = try await store.rows {
      let documents = try await engine.query(query)
      try await engine.engine(database).indexes.settle()
      return documents
    }
    #expect(scanned.count == 3)
    #expect(rows.total < 50, "\(rows)")
    let (read, found) = try await store.rows { try await engine.query(query) }
    #expect(found == scanned)
    #expect(read.total < 12, "\(read)")
  }
}
