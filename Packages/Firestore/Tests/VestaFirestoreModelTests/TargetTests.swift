import Testing
import VestaFirestoreBackend

@testable import VestaFirestoreModel

@Suite struct TargetTests {
  static let database = DatabaseName(project: "p")

  static func query(
    filters: [Filter] = [], orders: [NormalQuery.Order] = [], limit: Int? = nil,
    limitType: LocalQuery.LimitType = .first, startAt: StructuredQuery.Cursor? = nil,
    endAt: StructuredQuery.Cursor? = nil, group: CollectionID? = nil
  ) throws -> LocalQuery {
    try LocalQuery(
      database: database, path: group == nil ? ResourcePath(["c"]) : .root, collectionGroup: group, filters: filters,
      orders: orders, limit: limit, limitType: limitType, startAt: startAt, endAt: endAt)
  }

  static func document(_ id: String, _ fields: MapValue, in collection: [String] = ["c"]) -> CachedDocument {
    CachedDocument(ResourceName(database: database, path: ResourcePath(collection + [id])), .found(fields))
  }

  static let rank = NormalQuery.Order(FieldPath(["rank"]))
  static let rankDown = NormalQuery.Order(FieldPath(["rank"]), descending: true)

  @Test func `a limit to the last is a limit over the opposite order, and shares its target`() throws {
    let start = StructuredQuery.Cursor(values: [.integer(1)], before: true)
    let end = StructuredQuery.Cursor(values: [.integer(9)], before: true)
    let last = try Self.query(orders: [Self.rank], limit: 2, limitType: .last, startAt: start, endAt: end)
    let first = try Self.query(
      orders: [Self.rankDown], limit: 2, startAt: .init(values: [.integer(9)], before: false),
      endAt: .init(values: [.integer(1)], before: false))
    #expect(last.target == first.target && last.target.canonicalID == first.target.canonicalID)
    #expect(last != first && last.canonicalID != first.canonicalID)
  }

  @Test func `a query for figures has the orders that its user gave, and those of its cursors`() throws {
    let filter = Filter.field(path: "size", .greaterThan, .integer(1))
    func orders(_ query: LocalQuery) -> [String] {
      query.aggregated.orderBy.map { $0.fieldPath + ($0.direction == .descending ? " down" : "") }
    }
    #expect(try orders(Self.query(filters: [filter])) == [])
    #expect(try orders(Self.query(filters: [filter], orders: [Self.rank])) == ["rank"])
    #expect(try orders(Self.query(orders: [Self.rank], limit: 2, limitType: .last)) == ["rank down"])
    // A cursor that was made of a document has its name.
    let cursor = StructuredQuery.Cursor(values: [.integer(1), .reference("projects/p/x")], before: true)
    #expect(try orders(Self.query(orders: [Self.rank], startAt: cursor)) == ["rank", "__name__"])
    #expect(try orders(Self.query(orders: [Self.rankDown], endAt: cursor)) == ["rank down", "__name__ down"])
    let query = try Self.query(filters: [filter], orders: [Self.rank], limit: 3, startAt: cursor)
    #expect(query.aggregated.filter == query.target.structured.filter && query.aggregated.limit == 3)
    #expect(query.aggregated.startAt == cursor)
  }

  @Test func `targets that differ in anything have identifiers that differ`() throws {
    func cursor(_ number: Int64, before: Bool) -> StructuredQuery.Cursor {
      .init(values: [.integer(number)], before: before)
    }
    let targets = try [
      Self.query(orders: [Self.rank]), Self.query(orders: [Self.rankDown]), Self.query(orders: [Self.rank], limit: 1),
      Self.query(orders: [Self.rank], limit: 2), Self.query(orders: [Self.rank], startAt: cursor(1, before: true)),
      Self.query(orders: [Self.rank], startAt: cursor(1, before: false)),
      Self.query(orders: [Self.rank], startAt: cursor(2, before: true)),
      Self.query(orders: [Self.rank], endAt: cursor(1, before: true)),
      Self.query(orders: [Self.rank], endAt: cursor(1, before: false)),
      Self.query(orders: [Self.rank], endAt: cursor(2, before: true)),
      Self.query(filters: [.field(path: "rank", .greaterThan, .integer(1))], orders: [Self.rank]),
      Self.query(orders: [Self.rank], group: "c"),
    ].map(\.target)
    #expect(Set(targets.map(\.canonicalID)).count == targets.count && Set(targets).count == targets.count)
  }

  @Test func `a query has the orders of its inequalities, also where a part can match nothing`() throws {
    let filter = Filter.composite(
      .or, [.field(path: "b", .lessThan, .integer(0)), .field(path: "a", .greaterThan, .double(.nan))])
    let query = try Self.query(filters: [filter])
    #expect(query.orders.map(\.path.description) == ["a", "b", "__name__"])
    #expect(!query.matches(Self.document("x", ["b": .integer(-1)])))
    #expect(query.matches(Self.document("x", ["a": .null, "b": .integer(-1)])))
  }

  @Test func `a pending server time is not equal to any timestamp, and matches inequality only`() throws {
    let pending = Value.pendingServerTimestamp(writeTime: Timestamp(seconds: 5), previous: nil)
    let document = Self.document("x", ["t": pending])
    let operand = Value.timestamp(Timestamp(seconds: 5))
    for (operation, isMatch) in [
      (.equal, false), (.notEqual, true), (.lessThan, false), (.greaterThanOrEqual, false),
    ] as [(Filter.FieldOperator, Bool)] {
      #expect(try Self.query(filters: [.field(path: "t", operation, operand)]).matches(document) == isMatch)
    }
  }

  @Test func `groups whose identifiers differ in their bytes alone are two`() throws {
    let (composed, decomposed) = (CollectionID("caf\u{E9}"), CollectionID("cafe\u{301}"))
    let (one, other) = (try Self.query(group: composed), try Self.query(group: decomposed))
    #expect(one != other && one.target != other.target && Set([composed, decomposed]).count == 2)
    let document = Self.document("x", [:], in: [composed.rawValue])
    #expect(one.matches(document) && !other.matches(document))
  }

  @Test func `a query selects a document, a collection or a group`() throws {
    let deep = Self.document("x", [:], in: ["c", "y", "c"])
    #expect(try Self.query().matches(Self.document("x", [:])) && !Self.query().matches(deep))
    #expect(try Self.query(group: "c").matches(deep) && !Self.query(group: "d").matches(deep))
    let one = try LocalQuery(database: Self.database, path: ResourcePath(["c", "x"]))
    #expect(one.isDocument && one.matches(Self.document("x", [:])) && !one.matches(Self.document("y", [:])))
    #expect(one.target.subject == .documents(["projects/p/databases/(default)/documents/c/x"]))
    #expect(try !Self.query().matches(CachedDocument(Self.document("x", [:], in: ["c"]).asName, .missing)))
  }

  @Test func `cursors count from the side that the user wrote`() throws {
    let documents = (0..<6).map { Self.document("d\($0)", ["rank": .integer(Int64($0))]) }
    let start = StructuredQuery.Cursor(values: [.integer(1)], before: false)
    let end = StructuredQuery.Cursor(values: [.integer(4)], before: false)
    for limitType in [LocalQuery.LimitType.first, .last] {
      let query = try Self.query(orders: [Self.rank], limit: 10, limitType: limitType, startAt: start, endAt: end)
      #expect(documents.filter(query.matches).map(\.path.lastSegment) == ["d2", "d3", "d4"])
      // The service's own matching of the target agrees.
      let normal = try query.target.normalized()
      #expect(documents.compactMap(\.document).filter(normal.matches).count == 3)
    }
  }

  @Test func `canonical ids tell targets apart and survive what is in the values`() throws {
    var seen: [String: QueryTarget] = [:]
    let texts = ["", "a", "a,b", "a|l:1", "\"", "\\", "b==\"a"]
    for text in texts {
      for limit in [nil, 1, 2] {
        for operation in [Filter.FieldOperator.equal, .lessThan, .notEqual] {
          let query = try Self.query(filters: [.field(path: "a", operation, .string(text))], limit: limit)
          #expect(seen.updateValue(query.target, forKey: query.target.canonicalID) == nil)
          #expect(try QueryTarget(query.target.bytes) == query.target)
          #expect(try LocalQuery(query.bytes) == query)
        }
      }
    }
  }

  @Test func `a target's bytes keep everything in it`() throws {
    let filter = Filter.composite(
      .or,
      [.unary(path: "a", .isNull), .composite(.and, [.field(path: "`b c`", .in, .array([.double(.nan), .null]))])])
    let cursor = StructuredQuery.Cursor(
      values: [.integer(1), .reference("projects/p/databases/d/documents/c/x")], before: true)
    let target = try Self.query(
      filters: [filter, .unary(path: "z", .isNotNaN)], orders: [Self.rankDown], limit: 3, startAt: cursor,
      endAt: cursor,
      group: "g"
    ).target
    #expect(try QueryTarget(target.bytes) == target)
    var record = TargetRecord(target, id: 4, sequenceNumber: 9).resuming(
      at: [1, 2], version: Timestamp(seconds: 3, nanos: 7))
    record.lastLimboFreeVersion = Timestamp(seconds: 2)
    #expect(try TargetRecord(record.bytes) == record)
  }

  @Test func `a record resumes by token, else by version, and counts only when it resumes`() throws {
    var record = TargetRecord(try Self.query().target, id: 2, expectedCount: 5)
    #expect(record.message.resume == nil && record.message.expectedCount == nil)
    record.snapshotVersion = Timestamp(seconds: 3)
    #expect(record.message.resume == .readTime(Timestamp(seconds: 3)) && record.message.expectedCount == 5)
    record.resumeToken = [1]
    #expect(record.message.resume == .token([1]))
    #expect(record.resuming(at: [2], version: .zero).expectedCount == nil)
  }

  @Test func `ids of users' targets are even, ids of limbo resolutions odd`() {
    var (queries, limbo) = (TargetIDs.queries(after: 6), TargetIDs.limbo)
    #expect([queries.next(), queries.next()] == [8, 10])
    #expect([limbo.next(), limbo.next()] == [1, 3])
  }
}

extension CachedDocument {
  fileprivate var asName: ResourceName { ResourceName(database: TargetTests.database, path: path) }
}
