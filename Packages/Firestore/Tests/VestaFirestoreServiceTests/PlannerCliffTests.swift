import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreReference
import VestaTesting

@testable import VestaFirestoreIndexes
@testable import VestaFirestoreService

/// Queries over a skewed collection: after warming up none reads much more than it returns where an index can prevent
/// it.
struct PlannerCliffTests {
  private static let size = 600
  private static let names = (0..<size).map { "rooms/\(10_000 + $0)" }

  /// Large numbers have late names, and small ones late orders; no document is even and odd; most are of kind 0, and
  /// very few of kind 9; `u` is shuffled.
  private static func fields(_ number: Int) -> MapValue {
    let isEven = number.isMultiple(of: 2)
    let kind = number % 10 == 0 ? (number % 100 == 0 ? (number % 500 == 0 ? 9 : 5) : 1) : 0
    var fields: MapValue = [
      "n": .integer(Int64(number)), "m": .integer(Int64(size - number)), "kind": .integer(Int64(kind)),
      "even": .integer(isEven ? 0 : 1), "odd": .integer(isEven ? 1 : 0),
      "u": .integer(Int64(number * 1_237 % size)),
      "tags": .array([.integer(Int64(number % 3)), .integer(Int64(100 + number % 500))]),
    ]
    if number % 7 != 0 { fields["some"] = .string(number % 500 == 1 ? "rare" : "usual") }
    return fields
  }

  private static func fill(_ backend: some FirestoreBackend) async throws {
    for start in stride(from: 0, to: size, by: 300) {
      let writes = (start..<start + 300).map { update(names[$0], fields($0)) }
      _ = try await backend.commit(CommitRequest(database: database, writes: writes), context: owner)
    }
  }

  private static func equal(_ field: String, _ value: Int64) -> Filter { .field(path: field, .equal, .integer(value)) }

  private static func rooms(
    _ filters: [Filter], order: [StructuredQuery.Order] = [], limit: Int32? = nil
  ) -> StructuredQuery {
    let filter = filters.count == 1 ? filters[0] : Filter.composite(.and, filters)
    return StructuredQuery(from: [.init(collectionID: "rooms")], filter: filter, orderBy: order, limit: limit)
  }

  private static let late = Filter.field(path: "n", .greaterThanOrEqual, .integer(580))

  private static let cliffs: [StructuredQuery] = [
    // The order is by name, and the wanted documents are last in it.
    rooms([late], order: [.init(fieldPath: "__name__")], limit: 10),
    rooms([equal("even", 1), late], order: [.init(fieldPath: "__name__")], limit: 5),
    // The order is by another field.
    rooms([.field(path: "n", .lessThan, .integer(15))], order: [.init(fieldPath: "m")], limit: 10),
    rooms([late, .field(path: "u", .greaterThan, .integer(100))], order: [.init(fieldPath: "u")], limit: 10),
    // Two halves that have nothing in common.
    rooms([equal("even", 0), equal("odd", 0)]),
    rooms([equal("even", 0), .field(path: "tags", .arrayContains, .integer(103)), equal("odd", 1)]),
    // A few names, and an order by a field.
    rooms(
      [
        .field(path: "__name__", .greaterThan, .reference(name(names[590]))),
        .field(path: "u", .greaterThan, .integer(0)),
      ]),
    rooms([.field(path: "some", .notEqual, .string("usual")), .field(path: "n", .greaterThan, .integer(5))]),
    rooms([.field(path: "n", .greaterThan, .integer(5)), equal("kind", 9)], order: [.init(fieldPath: "u")]),
  ]

  private struct Warm {
    let store = CountingStore()
    let engine: FirestoreEngine

    init() async throws {
      engine = makeEngine(on: store)
      try await PlannerCliffTests.fill(engine)
    }

    /// Asks a query until its indexes are there; then counts the rows that it reads.
    func ask(_ query: StructuredQuery) async throws -> (rows: CountingStore.Rows, documents: [Document]) {
      for _ in 0..<4 {
        _ = try await engine.query(query)
        try await engine.engine(database).indexes.settle()
      }
      let (rows, documents) = try await store.rows { try await engine.query(query) }
      return (rows, documents)
    }
  }

  @Test func `after warming up a query reads what it returns or little more`() async throws {
    let warm = try await Warm()
    let reference = ReferenceBackend()
    try await Self.fill(reference)
    for query in Self.cliffs {
      let (rows, documents) = try await warm.ask(query)
      #expect(documents.map(\.name) == (try await reference.query(query)).map(\.name))
      #expect(rows.total <= 10 * documents.count + 250, "\(rows) for \(documents.count): \(query)")
    }
  }

  @Test func `a walk that is short is not held up by a long range`() async throws {
    let warm = try await Warm()
    let query = Self.rooms(
      [.field(path: "n", .greaterThanOrEqual, .integer(3))], order: [.init(fieldPath: "__name__")], limit: 10)
    _ = try await warm.ask(Self.rooms([Self.late]))
    let (rows, documents) = try await warm.ask(query)
    #expect(documents.count == 10)
    #expect(rows.total < 100, "\(rows)")
  }

  @Test func `counts take the shorter way too`() async throws {
    let warm = try await Warm()
    for filters in [
      [Self.equal("even", 0), Self.equal("odd", 0)], [Self.late, .field(path: "m", .greaterThan, .integer(2))],
    ] {
      let request = RunAggregationQueryRequest(
        parent: root,
        query: .init(query: Self.rooms(filters), aggregations: [Aggregation(.count(upTo: nil), alias: "c")]))
      for _ in 0..<4 {
        _ = try await warm.engine.runAggregation(request, context: owner)
        try await warm.engine.engine(database).indexes.settle()
      }
      let (rows, response) = try await warm.store.rows {
        try await warm.engine.runAggregation(request, context: owner)
      }
      #expect(response.result == ["c": .integer(filters.count == 2 && filters[0] == Self.late ? 18 : 0)])
      #expect(rows.total <= 250, "\(rows)")
    }
  }

  @Test func `pages of a range put in order fit together`() async throws {
    let warm = try await Warm()
    let reference = ReferenceBackend()
    try await Self.fill(reference)
    // 400 results: more than the first page, all of them in the last part of the order.
    var query = Self.rooms([.field(path: "n", .lessThan, .integer(400))], order: [.init(fieldPath: "m")])
    _ = try await warm.ask(Self.rooms([Self.late]))
    #expect(try await warm.ask(query).documents.map(\.name) == (try await reference.query(query)).map(\.name))
    (query.offset, query.limit) = (20, 300)
    #expect(try await warm.ask(query).documents.map(\.name) == (try await reference.query(query)).map(\.name))
  }

  /// The reads of the cheapest single plan: the order up to the limit, or everything that one filtered field
  /// leaves.
  private func shortestWay(_ query: NormalQuery, _ documents: [Document]) -> Int {
    func isAsked(_ predicate: Predicate) -> Bool {
      if case .contains = predicate.test { return true }
      return predicate.isEquality && !query.orders.contains { $0.path == predicate.path }
    }
    func entries(_ path: FieldPath) -> [Document] {
      documents.filter { document in
        query.filter.conjunctions.contains { conjunction in
          conjunction.allSatisfy { !isAsked($0) && $0.path != path || $0.matches(document) }
        }
      }
    }
    let first = query.orders[0].path
    let ordered = entries(first).filter { query.hasOrderedFields($0) && query.isWithinCursors($0) }
      .sorted { query.compare($0, $1) < 0 }
    var walked = ordered.count
    if let limit = query.limit {
      let matching = ordered.indices.filter { query.filter.matches(ordered[$0]) }.prefix(limit + query.offset)
      if matching.count == limit + query.offset { walked = (matching.last ?? -1) + 1 }
    }
    return query.fieldsAside.map { entries($0).count }.reduce(walked, min)
  }

  private func randomQuery(_ data: inout SplitMix) -> StructuredQuery {
    func number(_ path: String) -> Value {
      switch path {
      case "kind": .integer(data.pick([0, 1, 5, 9]))
      case "even", "odd": .integer(data.pick([0, 1]))
      case "some": .string(data.pick(["rare", "usual"]))
      case "__name__": .reference(name(Self.names[data.pick([3, 20, 300, 580, 595])]))
      default: .integer(data.pick([2, 20, 150, 300, 500, 580, 597]))
      }
    }
    func filter() -> Filter {
      let path = data.pick(["n", "m", "u", "n", "m", "u", "kind", "even", "odd", "some", "__name__", "tags"])
      let ranges: [Filter.FieldOperator] = [.lessThan, .greaterThan, .greaterThanOrEqual, .lessThanOrEqual]
      switch path {
      case "tags": return .field(path: path, .arrayContains, .integer(data.pick([1, 103])))
      case "even", "odd": return .field(path: path, .equal, number(path))
      case "some": return .field(path: path, data.pick([.equal, .notEqual]), number(path))
      case "kind": return .field(path: path, data.pick([.equal, .equal, .greaterThan]), number(path))
      default: return .field(path: path, data.pick(ranges), number(path))
      }
    }
    var filters = (0..<data.pick([1, 2, 2, 3])).map { _ in filter() }
    if data.pick([0, 0, 0, 0, 1]) == 1 { filters = [.composite(.or, [filter(), filter()])] + filters }
    var query = Self.rooms(filters, limit: data.pick([nil, 1, 10, 10, 50]))
    if data.pick([true, true, false]) {
      let direction: StructuredQuery.Direction = data.pick([.ascending, .descending])
      query.orderBy = [.init(fieldPath: data.pick(["__name__", "n", "m", "u", "kind"]), direction)]
    }
    return query
  }

  @Test(arguments: [UInt64(11), 12])
  func `random queries over a skewed collection read what the shortest way reads`(seed: UInt64) async throws {
    var data = SplitMix(seed: seed)
    let warm = try await Warm()
    let reference = ReferenceBackend()
    try await Self.fill(reference)
    let documents = try await reference.query(.all("rooms"))
    var asked = 0
    var preventable = 0
    while asked < 25 {
      let query = randomQuery(&data)
      guard let normal = try? NormalQuery(query, parent: root) else { continue }
      asked += 1
      let (rows, found) = try await warm.ask(query)
      #expect(found.map(\.name) == normal.results(in: documents).documents.map(\.name), "seed \(seed): \(query)")
      let shortest = shortestWay(normal, documents)
      if shortest <= 10 * found.count + 100 { preventable += 1 }
      let allowed = 10 * max(found.count, shortest) + 250
      #expect(
        rows.total <= allowed, "seed \(seed), shortest way \(shortest), results \(found.count), \(rows): \(query)")
    }
    #expect(preventable > 12)
  }
}
