import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestoreSync

/// Indexes over the cache against looking at every document.
@Suite struct CacheIndexTests {
  private func document(_ id: Int, _ random: inout SplitMix) -> CachedDocument {
    var fields: MapValue = ["n": .integer(Int64.random(in: 0..<30, using: &random))]
    if Bool.random(using: &random) { fields["s"] = .string("s\(Int.random(in: 0..<5, using: &random))") }
    if Bool.random(using: &random) { fields["n"] = .double(Double.random(in: 0..<30, using: &random).rounded()) }
    if Int.random(in: 0..<9, using: &random) == 0 { fields["n"] = .null }
    fields["tags"] = .array((0..<3).map { _ in .integer(Int64.random(in: 0..<6, using: &random)) })
    let name = ResourceName(database: database, path: path("rooms/r\(id)"))
    return CachedDocument(name, .found(fields), version: Timestamp(seconds: 1))
  }

  private func randomQuery(_ random: inout SplitMix) throws -> LocalQuery {
    let filters: [Filter] = [
      .field(path: "n", .equal, .integer(7)), .field(path: "n", .greaterThan, .integer(20)),
      .field(path: "n", .lessThanOrEqual, .double(5)), .field(path: "s", .equal, .string("s1")),
      .field(path: "tags", .arrayContains, .integer(3)), .field(path: "n", .notEqual, .integer(3)),
      .field(path: "s", .in, .array([.string("s0"), .string("s2")])), .unary(path: "n", .isNull),
      .composite(.or, [.field(path: "n", .equal, .integer(1)), .field(path: "s", .equal, .string("s4"))]),
    ]
    let count = Int.random(in: 0..<3, using: &random)
    let orders = [[], [NormalQuery.Order(FieldPath(["n"]), descending: Bool.random(using: &random))]].randomElement(
      using: &random)
    let limit = Bool.random(using: &random) ? Int.random(in: 1..<12, using: &random) : nil
    let type: LocalQuery.LimitType = Bool.random(using: &random) ? .first : .last
    let start =
      Bool.random(using: &random) && orders?.isEmpty == false
      ? StructuredQuery.Cursor(values: [.integer(10)], before: Bool.random(using: &random)) : nil
    let end =
      Bool.random(using: &random) && orders?.isEmpty == false
      ? StructuredQuery.Cursor(values: [.integer(18)], before: Bool.random(using: &random)) : nil
    return try LocalQuery(
      database: database, path: path("rooms"), filters: Array(filters.shuffled(using: &random).prefix(count)),
      orders: orders ?? [], limit: limit, limitType: type, startAt: start, endAt: end)
  }

  /// The results of a query within its limit.
  private func trimmed(_ query: LocalQuery, _ documents: [DocumentKey: CachedDocument]) -> [String] {
    let sorted = documents.values.sorted { query.compare($0, $1) < 0 }.map(\.path.description)
    guard let limit = query.limit else { return sorted }
    return Array(query.limitType == .first ? sorted.prefix(limit)[...] : sorted.suffix(limit)[...])
  }

  @Test func `documents whose ids differ in their bytes alone are two`() {
    var documents = RemoteDocuments(database: database)
    let paths = [ResourcePath(["rooms", "caf\u{E9}"]), ResourcePath(["rooms", "cafe\u{301}"])]
    for (number, path) in paths.enumerated() {
      documents.insert(
        CachedDocument(
          ResourceName(database: database, path: path), .found(["n": .integer(Int64(number))]),
          version: Timestamp(seconds: 1)))
    }
    #expect(documents.count == 2)
    #expect(paths.map { documents[$0].document?.fields["n"] } == [.integer(0), .integer(1)])
    documents.remove(paths[0])
    #expect(documents[paths[0]].document == nil && documents[paths[1]].document != nil)
  }

  @Test(arguments: 0..<20) func `an index returns what looking at every document returns`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var indexed = LocalStore(database: database, user: "", policy: .leastRecentlyUsed(bytes: nil))
    var plain = indexed
    plain.documents.makesIndexes = false
    for id in 0..<150 {
      let document = document(id, &random)
      indexed.documents.insert(document)
      plain.documents.insert(document)
    }
    for round in 0..<60 {
      let query = try randomQuery(&random)
      let left = trimmed(query, indexed.execute(query, usesPreviousResults: false).documents)
      #expect(
        left == trimmed(query, plain.execute(query, usesPreviousResults: false).documents), "\(query.canonicalID)")
      let changed = document(Int.random(in: 0..<170, using: &random), &random)
      indexed.documents.insert(changed)
      plain.documents.insert(changed)
      if round % 7 == 0 {
        let key = path("rooms/r\(Int.random(in: 0..<150, using: &random))")
        indexed.documents.remove(key)
        plain.documents.remove(key)
      }
      if round % 5 == 0 {
        let written = set("rooms/r\(Int.random(in: 0..<150, using: &random))", ["n": .integer(7), "s": .string("s1")])
        _ = indexed.write([written], at: Timestamp(seconds: 1))
        _ = plain.write([written], at: Timestamp(seconds: 1))
      }
    }
  }

  @Test(arguments: 0..<5) func `an index that is made in the background takes the changes in between`(
    seed: UInt64
  ) throws {
    var random = SplitMix(seed: 100 + seed)
    var store = LocalStore(database: database, user: "", policy: .leastRecentlyUsed(bytes: nil))
    store.documents.keepsIndexes = true
    var documents: [DocumentKey: CachedDocument] = [:]
    func put(_ id: Int) {
      let changed = document(id, &random)
      store.documents.insert(changed)
      documents[changed.path] = changed
    }
    for id in 0..<1_200 { put(id) }
    var tasks: [IndexTask] = []
    for round in 0..<150 {
      let query = try randomQuery(&random)
      let expected = trimmed(query, documents.filter { query.matches($0.value) })
      #expect(trimmed(query, store.execute(query, usesPreviousResults: false).documents) == expected)
      tasks += store.documents.takeWantedIndexes()
      put(random.below(1_300))
      if random.oneIn(3) {
        let key = path("rooms/r\(random.below(1_300))")
        store.documents.remove(key)
        documents[key] = nil
      }
      if round % 40 == 39 { store.documents.deleteIndexes() }
      if random.oneIn(4), let task = tasks.popLast() { store.documents.finish(task.run(), isComplete: true) }
    }
    var rows = store.takeRows()
    while store.documents.hasMoreIndexRows { rows += store.takeRows() }
    try checkRows(rows, documents)
  }

  /// The rows of durable indexes equal the rows of an index that is made again.
  private func checkRows(_ rows: [CacheRow], _ documents: [DocumentKey: CachedDocument]) throws {
    var entries: Set<[UInt8]> = []
    var indexes: [CacheIndex.ID] = []
    for row in rows {
      switch try CacheKey(row.key) {
      case .indexEntry: if row.value == nil { entries.remove(row.key) } else { entries.insert(row.key) }
      case .index(_, let id): indexes.append(id)
      default: break
      }
    }
    var expected: Set<[UInt8]> = []
    for id in indexes {
      CacheIndex(id, documents.values).forEach { bytes, key in
        expected.insert(CacheKey.indexEntry(path("rooms"), id, entry: bytes + key.lastSegment.utf8).bytes)
      }
    }
    #expect(!indexes.isEmpty)
    #expect(entries == expected)
  }

  @Test func `a range looks at the documents within all of its bounds alone`() throws {
    var documents = RemoteDocuments(database: database)
    for number in 0..<200 {
      let name = ResourceName(database: database, path: path("rooms/r\(number)"))
      documents.insert(
        CachedDocument(name, .found(["n": .integer(Int64(number))]), version: Timestamp(seconds: 1)))
    }
    let bounds: [Filter] = [
      .field(path: "n", .greaterThanOrEqual, .integer(20)), .field(path: "n", .greaterThanOrEqual, .integer(100)),
      .field(path: "n", .lessThanOrEqual, .integer(150)), .field(path: "n", .lessThanOrEqual, .integer(109)),
    ]
    let order = NormalQuery.Order(FieldPath(["n"]))
    let between = try LocalQuery(
      database: database, path: path("rooms"), orders: [order],
      startAt: StructuredQuery.Cursor(values: [.integer(100)], before: true),
      endAt: StructuredQuery.Cursor(values: [.integer(109)], before: false))
    for query in [try query("rooms", bounds), try query("rooms", bounds.reversed()), between] {
      let found = documents.candidates(for: query, in: path("rooms")) { query.matches($0) }
      #expect(found?.count == 10)
    }
  }

  @Test func `a cursor of several values counts by the first one`() throws {
    var documents = RemoteDocuments(database: database)
    for number in 0..<200 {
      let name = ResourceName(database: database, path: path("rooms/r\(number)"))
      let fields: MapValue = ["n": .integer(Int64(number)), "s": .string("s\(number % 3)")]
      documents.insert(CachedDocument(name, .found(fields), version: Timestamp(seconds: 1)))
    }
    let query = try LocalQuery(
      database: database, path: path("rooms"),
      orders: [NormalQuery.Order(FieldPath(["n"])), NormalQuery.Order(FieldPath(["s"]))],
      startAt: StructuredQuery.Cursor(values: [.integer(190), .string("s0")], before: true))
    let found = documents.candidates(for: query, in: path("rooms")) { query.matches($0) }
    #expect(found?.count == 10)
  }
}
