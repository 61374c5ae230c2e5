import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// The rows that queries read once their indexes are ready: their results and a little, never the collection.
struct QueryCostTests {
  private let store = CountingStore()
  private let engine: FirestoreEngine
  private static let size = 1000

  init() async throws {
    let clock = ManualClock()
    var options = FirestoreServiceOptions()
    options.automaticIndexUses = 1
    options.clock = clock.service
    engine = FirestoreEngine(store: store, options: options)
    for start in stride(from: 0, to: QueryCostTests.size, by: 500) {
      let writes = (start..<start + 500).map { number in
        update(
          QueryCostTests.room(number),
          [
            "n": .integer(Int64(number)), "twenty": .integer(Int64(number % 50)), "kind": .integer(Int64(number % 7)),
            "tags": .array([.integer(Int64(number % 50)), .integer(Int64(number % 40 + 100))]),
            "state": .string(number % 50 == 3 ? "open" : "done"), "hundred": .integer(Int64(number % 20)),
          ])
      }
      _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    }
  }

  private static func room(_ number: Int) -> String { "rooms/r" + String(10_000 + number) }

  private static func reference(_ number: Int) -> Value { .reference(name(room(number))) }

  /// Checks the rows that a query reads against its results, after its indexes have been made.
  private func check(
    _ query: StructuredQuery, results expected: Int, factor: Int = 2, extra: Int = 40,
    _ location: SourceLocation = #_sourceLocation
  ) async throws {
    let before = try await engine.query(query)
    try await engine.engine(database).indexes.settle()
    let (rows, documents) = try await store.rows { try await engine.query(query) }
    #expect(documents == before, sourceLocation: location)
    #expect(documents.count == expected, sourceLocation: location)
    #expect(rows.total <= factor * expected + extra, "\(rows)", sourceLocation: location)
  }

  private func rooms(
    _ filter: Filter?, order: [StructuredQuery.Order] = [], limit: Int32? = nil
  ) -> StructuredQuery {
    StructuredQuery(from: [.init(collectionID: "rooms")], filter: filter, orderBy: order, limit: limit)
  }

  @Test func `an equality with a range costs its results`() async throws {
    try await check(rooms(.field(path: "twenty", .equal, .integer(5))), results: 20)
    try await check(rooms(.field(path: "n", .greaterThan, .integer(900))), results: 99)
    try await check(rooms(.field(path: "n", .greaterThan, .integer(500)), limit: 10), results: 10)
    let both: [Filter] = [
      .field(path: "n", .greaterThan, .integer(500)), .field(path: "n", .lessThanOrEqual, .integer(530)),
    ]
    try await check(rooms(.composite(.and, both)), results: 30)
  }

  @Test func `composites with an order cost their results`() async throws {
    let filter = Filter.field(path: "twenty", .equal, .integer(5))
    try await check(rooms(filter, order: [.init(fieldPath: "n")], limit: 7), results: 7)
    try await check(rooms(filter, order: [.init(fieldPath: "n", .descending)], limit: 7), results: 7)
    try await check(rooms(filter, order: [.init(fieldPath: "twenty")]), results: 20)
    let contains = Filter.field(path: "tags", .arrayContains, .integer(3))
    try await check(rooms(contains, order: [.init(fieldPath: "n", .descending)], limit: 10), results: 10)
    try await check(
      rooms(nil, order: [.init(fieldPath: "kind"), .init(fieldPath: "n", .descending)], limit: 9), results: 9)
  }

  @Test func `alternatives cost their results`() async throws {
    let among = Filter.field(path: "twenty", .in, .array([.integer(5), .integer(7), .integer(9)]))
    try await check(rooms(among), results: 60, extra: 100)
    try await check(rooms(among, order: [.init(fieldPath: "n")], limit: 10), results: 10, factor: 4)
    let either = Filter.composite(
      .or, [.field(path: "twenty", .equal, .integer(5)), .field(path: "n", .equal, .integer(8))])
    try await check(rooms(either), results: 21)
    let any = Filter.field(path: "tags", .arrayContainsAny, .array([.integer(3), .integer(103)]))
    try await check(rooms(any, limit: 10), results: 10, factor: 4)
    // Documents that several alternatives match are returned once.
    let overlapping = Filter.composite(
      .or, [.field(path: "twenty", .equal, .integer(5)), .field(path: "hundred", .equal, .integer(5))])
    try await check(rooms(overlapping), results: 60, extra: 60)
  }

  @Test func `negations cost their results`() async throws {
    try await check(rooms(.field(path: "state", .notEqual, .string("done"))), results: 20)
    let others = Value.array((0..<9).map { .integer($0 * 2) })
    let few = rooms(.field(path: "hundred", .notIn, others), limit: 30)
    try await check(few, results: 30, extra: 60)
    try await check(rooms(.unary(path: "state", .isNotNull), limit: 10), results: 10)
    // Only the seventh value of the other field is wanted: the scan jumps over the rest.
    let second: [Filter] = [
      .field(path: "kind", .notEqual, .integer(3)), .field(path: "n", .greaterThanOrEqual, .integer(990)),
    ]
    try await check(rooms(.composite(.and, second)), results: 8, extra: 80)
  }

  @Test func `cursors, offsets and reversed orders cost their results`() async throws {
    var query = rooms(nil, order: [.init(fieldPath: "n")], limit: 10)
    query.startAt = .init(values: [.integer(500)], before: true)
    try await check(query, results: 10)
    query.startAt = .init(values: [.integer(500), QueryCostTests.reference(500)], before: false)
    query.endAt = .init(values: [.integer(505)], before: false)
    try await check(query, results: 5)
    query = rooms(nil, order: [.init(fieldPath: "n", .descending)], limit: 10)
    query.startAt = .init(values: [.integer(500)], before: false)
    try await check(query, results: 10)
    query = rooms(nil, order: [.init(fieldPath: "n")], limit: 5)
    query.offset = 30
    try await check(query, results: 5, factor: 2, extra: 40)
  }

  @Test func `filters on names cost their results`() async throws {
    try await check(rooms(.field(path: "__name__", .greaterThan, QueryCostTests.reference(989))), results: 10)
    try await check(
      rooms(nil, order: [.init(fieldPath: "__name__", .descending)], limit: 10), results: 10)
    try await check(rooms(.field(path: "__name__", .equal, QueryCostTests.reference(77))), results: 1)
    let names = Value.array([3, 700, 42].map(QueryCostTests.reference))
    try await check(rooms(.field(path: "__name__", .in, names)), results: 3)
    let both: [Filter] = [
      .field(path: "kind", .equal, .integer(3)), .field(path: "__name__", .greaterThan, QueryCostTests.reference(950)),
    ]
    try await check(rooms(.composite(.and, both)), results: 7)
    var middle = rooms(nil, limit: 10)
    middle.startAt = .init(values: [QueryCostTests.reference(500)], before: false)
    try await check(middle, results: 10)
  }

  @Test func `collection groups cost their results`() async throws {
    for number in 0..<20 {
      try await engine.commit(update("halls/h\(number)/rooms/x", ["n": .integer(Int64(-number))]))
    }
    var query = rooms(nil, order: [.init(fieldPath: "n")], limit: 10)
    query.from[0].allDescendants = true
    try await check(query, results: 10)
    query = rooms(.field(path: "twenty", .equal, .integer(5)))
    query.from[0].allDescendants = true
    try await check(query, results: 20)
    query = rooms(nil, order: [.init(fieldPath: "__name__", .descending)], limit: 10)
    query.from[0].allDescendants = true
    query.startAt = .init(values: [QueryCostTests.reference(500)], before: false)
    try await check(query, results: 10)
  }

  @Test func `counts read no documents`() async throws {
    let filter = Filter.field(path: "n", .greaterThanOrEqual, .integer(500))
    let figures = [Aggregation(.count(upTo: nil), alias: "count")]
    func run(_ query: StructuredQuery, _ figures: [Aggregation]) async throws -> MapValue {
      let request = RunAggregationQueryRequest(parent: root, query: .init(query: query, aggregations: figures))
      return try await engine.runAggregation(request, context: owner).result ?? [:]
    }
    _ = try await run(rooms(filter), figures)
    try await engine.engine(database).indexes.settle()
    let (rows, result) = try await store.rows { try await run(rooms(filter), figures) }
    #expect(result == ["count": .integer(500)])
    #expect(rows.scanned <= 510 && rows.read <= 4, "\(rows)")

    let limited = [Aggregation(.count(upTo: 100), alias: "count")]
    let (few, bounded) = try await store.rows { try await run(rooms(filter), limited) }
    #expect(bounded == ["count": .integer(100)])
    #expect(few.total <= 110, "\(few)")

    let sums = [
      Aggregation(.sum(fieldPath: "n"), alias: "sum"), Aggregation(.average(fieldPath: "hundred"), alias: "mean"),
    ]
    let some = Filter.field(path: "twenty", .equal, .integer(5))
    let slow = try await run(rooms(some), sums)
    try await engine.engine(database).indexes.settle()
    let (read, fast) = try await store.rows { try await run(rooms(some), sums) }
    #expect(fast == slow)
    #expect(fast == ["sum": .integer(9_600), "mean": .double(10)])
    #expect(read.scanned <= 40 && read.read <= 4, "\(read)")
  }
}
