import Testing
import VestaFirestoreBackend
import VestaFirestoreReference
import VestaFirestoreService
import VestaTesting

/// Random documents, writes and queries.
extension SplitMix {
  mutating func value() -> Value {
    pick([
      .null, .boolean(true), .integer(1), .integer(2), .integer(3), .double(2), .double(2.5), .double(.nan),
      .string("a"), .string("b"), .array([.integer(1), .integer(2)]), .array([.string("a")]), .map(["x": .integer(1)]),
    ])
  }

  mutating func fields() -> MapValue {
    var fields = MapValue()
    for name in ["f", "g", "h"] where !oneIn(4) { fields[name] = value() }
    return fields
  }

  mutating func path() -> String {
    let room =
      "rooms/"
      + pick([
        "a", "b", "c", "d", "__id7__", "__id12__", "e\u{301}", "__id-3__", "e\u{301}/rooms/\u{301}",
        "\u{1F600}", "\u{FFFD}",
      ])
    return pick([room, room, room + "/rooms/" + pick(["a", "x"]), "halls/" + pick(["a", "b"])])
  }

  mutating func write() -> Write {
    let path = path()
    return pick([0, 1, 2, 3]) == 0 ? .delete(name(path)) : update(path, fields())
  }

  mutating func filter() -> Filter {
    let path = pick(["f", "g", "h"])
    switch pick([0, 1, 2, 3, 4, 5]) {
    case 0: return .field(path: path, .equal, pick([.integer(2), .string("a"), .boolean(true)]))
    case 1: return .field(path: path, pick([.lessThan, .greaterThan, .lessThanOrEqual, .notEqual]), .integer(2))
    case 2: return .field(path: path, .arrayContains, .integer(1))
    case 3: return .field(path: path, .in, .array([.integer(1), .string("b")]))
    case 4: return .composite(pick([.and, .or]), [filter(), filter()])
    default: return .unary(path: path, pick([.isNull, .isNotNull, .isNaN]))
    }
  }

  mutating func query() -> StructuredQuery {
    var query = StructuredQuery(from: [.init(collectionID: "rooms", allDescendants: pick([true, false]))])
    if pick([true, true, false]) { query.filter = filter() }
    if pick([true, false]) { query.orderBy = [.init(fieldPath: pick(["f", "g"]), pick([.ascending, .descending]))] }
    if pick([true, false]) { query.orderBy.append(.init(fieldPath: "__name__", pick([.ascending, .descending]))) }
    query.offset = pick([0, 0, 1])
    query.limit = pick([nil, nil, 1, 3])
    if query.orderBy.first?.fieldPath == "f", pick([true, false]) {
      query.startAt = .init(values: [value()], before: pick([true, false]))
    }
    return query
  }
}

struct QueryPropertyTests {
  @Test(arguments: UInt64(1)...8)
  func `every query is answered as by the reference`(seed: UInt64) async throws {
    var data = SplitMix(seed: seed)
    let tuning = EngineTuning.random(seed: seed)
    let engine = makeEngine { $0.tuning = tuning }
    let reference = ReferenceBackend()
    var answered = 0
    for _ in 0..<12 {
      for _ in 0..<8 {
        let write = data.write()
        try await engine.commit(write)
        try await reference.commit(write)
      }
      for _ in 0..<25 {
        let query = data.query()
        let expected = await answer(reference, query)
        #expect(await answer(engine, query) == expected, "seed \(seed), \(tuning): \(query)")
        if expected.hasPrefix("projects") { answered += 1 }
      }
    }
    #expect(answered > 50)
  }

  @Test(arguments: UInt64(11)...16)
  func `a query of the past is answered as it was then`(seed: UInt64) async throws {
    var data = SplitMix(seed: seed)
    let tuning = EngineTuning.random(seed: seed)
    let engine = makeEngine { $0.tuning = tuning }
    var moments: [(Timestamp, StructuredQuery, [Document])] = []
    for _ in 0..<40 {
      let time = try await engine.commit(data.write(), data.write()).commitTime
      let query = data.query()
      if let documents = try? await engine.query(query) { moments.append((time, query, documents)) }
    }
    for (time, query, documents) in moments {
      #expect(try await engine.query(query, .readTime(time)) == documents, "seed \(seed), \(tuning): \(query)")
    }
    #expect(moments.count > 10)
  }

  @Test func `figures equal the reference's`() async throws {
    var data = SplitMix(seed: 5)
    let engine = makeEngine { $0.tuning = .random(seed: 5) }
    let reference = ReferenceBackend()
    for _ in 0..<30 {
      let write = data.write()
      try await engine.commit(write)
      try await reference.commit(write)
    }
    let figures = [
      Aggregation(.count(upTo: nil)), Aggregation(.sum(fieldPath: "f")), Aggregation(.average(fieldPath: "f")),
    ]
    let request = RunAggregationQueryRequest(
      parent: root, query: StructuredAggregationQuery(query: .all("rooms"), aggregations: figures))
    let expected = try await reference.runAggregation(request, context: owner).result
    #expect(try await engine.runAggregation(request, context: owner).result == expected)
  }
}
