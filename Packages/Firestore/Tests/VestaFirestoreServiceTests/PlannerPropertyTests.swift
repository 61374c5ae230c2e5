import FirestoreInterop
import FirestoreModel
import FirestoreReference
import StoreInterop
import Testing

@testable import VestaFirestoreService

extension RandomData {
  /// Values that are equal and unlike, long, mixed and nested.
  mutating func anyValue() -> Value {
    if pick([true, true, false]) { return value() }
    return pick([
      .integer(.max), .double(0x1p53), .integer(1 << 53 + 1), .double(-0.0), .integer(0), .boolean(false),
      .double(-.infinity),
      .string(""), .string("a\0b"), .string(String(repeating: "x", count: 1600)), .bytes([0, 1]),
      .geoPoint(GeoPoint(latitude: 1, longitude: 2)),
      .timestamp(Timestamp(seconds: 5)), .reference(name("rooms/a")), .array([]),
      .array([.integer(1), .integer(1), .null]),
      .map([:]), .map(["x": .string("y")]), .vector([1, 2]),
    ])
  }

  mutating func richFields() -> MapValue {
    var fields = fields()
    for name in ["f", "g", "h"] where pick([true, false, false]) { fields[name] = anyValue() }
    if pick([true, false]) { fields["t"] = .array([.integer(pick([1, 2, 3])), pick([.string("a"), .integer(2)])]) }
    return fields
  }

  mutating func operand() -> Value {
    pick([
      .integer(2), .integer(1), .double(2.5), .string("a"), .boolean(false), .boolean(true),
      .array([.integer(1), .integer(2)]),
    ])
  }

  mutating func documentName() -> Value {
    .reference(name(pick(["rooms/a", "rooms/c", "rooms/__id7__", "rooms/b/rooms/x", "halls/a", "zoo/z", "rooms/bb"])))
  }

  mutating func richFilter(_ depth: Int = 0) -> Filter {
    let path = pick(["f", "g", "h"])
    switch Int.random(in: 0..<(depth < 2 ? 11 : 8), using: &generator) {
    case 0: return .field(path: path, .equal, operand())
    case 1:
      return .field(path: path, pick([.lessThan, .greaterThan, .lessThanOrEqual, .greaterThanOrEqual]), operand())
    case 2: return .field(path: path, .notEqual, operand())
    case 3:
      return .field(
        path: path, pick([.in, .notIn]), .array([operand(), operand(), pick([.null, .double(.nan), .integer(3)])]))
    case 4: return .field(path: "t", .arrayContains, pick([.integer(2), .string("a")]))
    case 5: return .field(path: "t", .arrayContainsAny, .array([.integer(2), .integer(3), .string("a")]))
    case 6: return .unary(path: path, pick([.isNull, .isNotNull, .isNaN, .isNotNaN]))
    case 7:
      return .field(
        path: "__name__", pick([.equal, .lessThan, .greaterThan, .greaterThanOrEqual, .lessThanOrEqual, .notEqual]),
        documentName())
    default: return .composite(pick([.and, .and, .or]), [richFilter(depth + 1), richFilter(depth + 1)])
    }
  }

  mutating func cursor(for orders: [StructuredQuery.Order]) -> StructuredQuery.Cursor {
    var values: [Value] = []
    for order in orders { values.append(order.fieldPath == "__name__" ? documentName() : anyValue()) }
    let count = Int.random(in: 0...values.count, using: &generator)
    return .init(values: Array(values.prefix(count)), before: pick([true, false]))
  }

  mutating func richQuery() -> StructuredQuery {
    var query = StructuredQuery(from: [.init(collectionID: "rooms", allDescendants: pick([true, false, false]))])
    if pick([true, true, true, false]) { query.filter = richFilter() }
    for path in ["g", "f", "t"] where pick([true, false, false]) {
      query.orderBy.append(.init(fieldPath: path, pick([.ascending, .descending])))
    }
    if pick([true, false]) { query.orderBy.append(.init(fieldPath: "__name__", pick([.ascending, .descending]))) }
    if pick([true, false, false]) { query.startAt = cursor(for: query.orderBy) }
    if pick([true, false, false, false]) { query.endAt = cursor(for: query.orderBy) }
    query.offset = pick([0, 0, 1, 2])
    query.limit = pick([nil, nil, 1, 3, 0])
    return query
  }

  /// An index that some of the queries may use.
  mutating func shape() -> IndexShape {
    var paths = ["f", "g", "h", "t"]
    paths.shuffle(using: &generator)
    let parts = paths.prefix(Int.random(in: 0...3, using: &generator)).map {
      IndexShape.Part(path: FieldPath([$0]), kind: $0 == "t" ? .contains : pick([.ascending, .descending]))
    }
    return IndexShape(
      collectionID: "rooms", isGroup: pick([true, false]), parts: parts, isNameDescending: pick([true, false]))
  }
}

struct PlannerPropertyTests {
  private func answer(_ backend: any FirestoreBackend, _ query: StructuredQuery) async -> String {
    do {
      return try await backend.query(query).map { "\($0.name) \($0.fields)" }.joined(separator: "\n")
    } catch {
      return "\((error as? FirestoreError)?.code.description ?? "\(error)")"
    }
  }

  private func figures(_ backend: any FirestoreBackend, _ query: StructuredQuery) async -> String {
    let figures = [
      Aggregation(.count(upTo: nil)), Aggregation(.sum(fieldPath: "f"), alias: "f"),
      Aggregation(.average(fieldPath: "g"), alias: "g"),
    ]
    var texts: [String] = []
    for some in [Array(figures.prefix(1)), Array(figures.prefix(2)), figures] {
      let request = RunAggregationQueryRequest(parent: root, query: .init(query: query, aggregations: some))
      do {
        texts.append("\(try await backend.runAggregation(request, context: owner).result ?? [:])")
      } catch {
        texts.append("\(error.code)")
      }
    }
    return texts.joined(separator: "; ")
  }

  /// Indexes of all kinds, ready and being built, do not change what queries come to.
  @Test(arguments: [UInt64(101), 102, 103, 104])
  func everyPlanAnswersAsTheReference(seed: UInt64) async throws {
    var data = RandomData(generator: SeededGenerator(seed: seed))
    let engine = makeEngine()
    let reference = ReferenceBackend()
    let indexes = try await engine.engine(database).indexes
    var queries: [StructuredQuery] = []
    var planned = 0
    for round in 0..<5 {
      for _ in 0..<12 {
        let path = data.path()
        let write = data.pick([0, 1, 2, 3, 4]) == 0 ? Write.delete(name(path)) : update(path, data.richFields())
        try await engine.commit(write)
        try await reference.commit(write)
      }
      if round < 3 { for _ in 0..<3 { indexes.build([data.shape()]) } }
      while round < 4, queries.count < 20 * (round + 1) {
        let query = data.richQuery()
        if (try? NormalQuery(query, parent: root)) != nil { queries.append(query) }
      }
      for query in queries {
        #expect(await answer(engine, query) == answer(reference, query), "seed \(seed): \(query)")
        #expect(await figures(engine, query) == figures(reference, query), "seed \(seed): \(query)")
      }
      await indexes.settle()
    }
    for query in queries {
      try await engine.engine(database).reading { snapshot in
        guard let needs = QueryNeeds(try NormalQuery(query, parent: root)) else { return }
        if try await QueryRunner.plan(needs, in: snapshot) != nil { planned += 1 }
      }
    }
    #expect(planned == queries.count)
  }

  /// Moments in the past are answered from the indexes of the present, and from what has changed since.
  @Test(arguments: [UInt64(201), 202])
  func thePastIsAnsweredFromIndexesToo(seed: UInt64) async throws {
    var data = RandomData(generator: SeededGenerator(seed: seed))
    let engine = makeEngine()
    var moments: [(time: Timestamp, query: StructuredQuery, documents: [Document], count: Value?)] = []
    func count(_ query: StructuredQuery, _ consistency: ReadConsistency) async throws -> Value? {
      let figures = [Aggregation(.count(upTo: nil)), Aggregation(.sum(fieldPath: "f"))]
      let request = RunAggregationQueryRequest(
        parent: root, query: .init(query: query, aggregations: figures), consistency: consistency)
      return try await engine.runAggregation(request, context: owner).result.map(Value.map)
    }
    for _ in 0..<36 {
      let path = data.path()
      let write = data.pick([0, 1, 2, 3]) == 0 ? Write.delete(name(path)) : update(path, data.richFields())
      let time = try await engine.commit(write).commitTime
      let query = data.richQuery()
      guard (try? NormalQuery(query, parent: root)) != nil else { continue }
      moments.append((time, query, try await engine.query(query), try await count(query, .latest)))
    }
    try await engine.engine(database).indexes.settle()
    for (time, query, documents, figures) in moments {
      #expect(try await engine.query(query, .readTime(time)) == documents, "seed \(seed): \(query)")
      #expect(try await count(query, .readTime(time)) == figures, "seed \(seed): \(query)")
    }
    #expect(moments.count > 12)
  }

  @Test func rangesTurnAsTheirKeysDo() {
    var data = RandomData(generator: SeededGenerator(seed: 7))
    let keys = (0..<18).map { _ in IndexEncoder.encode(data.anyValue()) }
    for lower in keys + [[]] {
      for upper in keys.map(Optional.some) + [nil] {
        let range = KeyRange(from: lower, to: upper)
        for key in keys { #expect(range.turned.contains(key.turned) == range.contains(key)) }
      }
    }
  }

  @Test func aReaderMeasuresWhatTheEncoderWrote() {
    var data = RandomData(generator: SeededGenerator(seed: 8))
    for _ in 0..<500 {
      let values = (0..<3).map { _ in (data.anyValue(), data.pick([true, false])) }
      var encoder = IndexEncoder()
      for (value, descending) in values { encoder.append(value, descending: descending) }
      var reader = IndexReader(encoder.bytes)
      for (value, descending) in values {
        let number: Value? =
          switch value {
          case .integer: value
          case .double(let double): .double(double == 0 ? 0 : double)
          default: .null
          }
        var isDouble = false
        if case .double = value { isDouble = true }
        #expect(reader.number(descending: descending, isDouble: isDouble).map { "\($0)" } == number.map { "\($0)" })
      }
      #expect(reader.position == encoder.bytes.count)
    }
  }
}
