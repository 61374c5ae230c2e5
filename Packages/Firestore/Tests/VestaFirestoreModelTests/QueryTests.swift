import Testing
import VestaFirestoreBackend

@testable import VestaFirestoreModel

@Suite struct QueryTests {
  static let root = "projects/p/databases/(default)/documents"

  static func normal(_ query: StructuredQuery, parent: String = root) throws -> NormalQuery {
    try NormalQuery(query, parent: parent)
  }

  static func query(_ filter: Filter? = nil, orderBy: [StructuredQuery.Order] = []) -> StructuredQuery {
    StructuredQuery(from: [.init(collectionID: "c")], filter: filter, orderBy: orderBy)
  }

  static func documents(_ fields: [String: MapValue]) -> [Document] {
    fields.map { Document(name: "\(root)/c/\($0.key)", fields: $0.value) }
  }

  static func names(_ query: StructuredQuery, in documents: [Document]) throws -> [String] {
    try normal(query).results(in: documents).documents.map { ResourcePath(splitting: $0.name).lastSegment }
  }

  @Test func `inequalities and the name are ordered by implicitly`() throws {
    let filter = Filter.composite(
      .and,
      [
        .field(path: "z", .greaterThan, .integer(1)), .field(path: "b", .notEqual, .integer(1)),
        .field(path: "e", .equal, .null),
      ]
    )
    let orders = try Self.normal(Self.query(filter, orderBy: [.init(fieldPath: "q", .descending)])).orders
    #expect(orders.map(\.path.description) == ["q", "b", "z", "__name__"])
    #expect(orders.map(\.descending) == [true, true, true, true])
    #expect(try Self.normal(Self.query()).orders == [.init(.documentName)])
    let named = try Self.normal(
      Self.query(.field(path: "__name__", .greaterThan, .reference("\(Self.root)/c/a")))
    )
    #expect(named.orders == [.init(.documentName)])
  }

  @Test func `alternatives are multiplied out`() throws {
    let filter = Filter.composite(
      .and,
      [
        .field(path: "a", .in, .array([.integer(1), .integer(2)])),
        .composite(.or, [.field(path: "b", .equal, .integer(3)), .field(path: "b", .equal, .integer(4))]),
      ]
    )
    let form = try DisjunctiveForm(filter)
    #expect(form.conjunctions.count == 4)
    #expect(try DisjunctiveForm(.field(path: "a", .in, .array([.integer(1), .integer(1)]))).conjunctions.count == 1)
    #expect(try DisjunctiveForm(.field(path: "a", .in, .array([.null]))).conjunctions.isEmpty)
    #expect(try DisjunctiveForm(nil).conjunctions == [[]])
  }

  @Test func `too many alternatives are refused`() {
    let six = Filter.field(path: "a", .in, .array((0..<6).map { .integer($0) }))
    let error = #expect(throws: FirestoreServiceError.self) { try DisjunctiveForm(.composite(.and, [six, six])) }
    #expect(error == FirestoreServiceError(.invalidArgument, "Too many disjunctions after normalization: 36 > 30."))
  }

  @Test func `ranges match the type of their operand`() throws {
    let documents = Self.documents([
      "int": ["a": .integer(5)], "double": ["a": .double(5.5)], "nan": ["a": .double(.nan)], "null": ["a": .null],
      "text": ["a": .string("5")], "none": [:],
    ])
    #expect(
      try Self.names(Self.query(.field(path: "a", .greaterThan, .integer(4))), in: documents) == ["int", "double"])
    #expect(try Self.names(Self.query(.field(path: "a", .lessThan, .integer(9))), in: documents) == ["int", "double"])
    #expect(
      try Self.names(Self.query(.field(path: "a", .notEqual, .integer(5))), in: documents) == ["nan", "double", "text"])
    #expect(try Self.names(Self.query(.unary(path: "a", .isNotNaN)), in: documents) == ["int", "double", "text"])
    #expect(try Self.names(Self.query(.unary(path: "a", .isNull)), in: documents) == ["null"])
    #expect(try Self.names(Self.query(.field(path: "a", .notIn, .array([.null]))), in: documents) == [])
  }

  @Test func `alternatives leave out documents without an ordered field`() throws {
    let documents = Self.documents([
      "x": ["a": .integer(5)], "y": ["b": .integer(1)], "z": ["a": .integer(0), "b": .integer(1)],
    ])
    let filter = Filter.composite(
      .or, [.field(path: "a", .greaterThan, .integer(1)), .field(path: "b", .equal, .integer(1))])
    #expect(try Self.names(Self.query(filter), in: documents) == ["z", "x"])
  }

  @Test func `cursors take parts of the order`() throws {
    let documents = Self.documents(["x": ["a": .integer(1)], "y": ["a": .integer(1)], "z": ["a": .integer(2)]])
    func names(_ start: [Value], _ before: Bool) throws -> [String] {
      var query = Self.query(orderBy: [.init(fieldPath: "a")])
      query.startAt = .init(values: start, before: before)
      return try Self.names(query, in: documents)
    }
    #expect(try names([.integer(1)], true) == ["x", "y", "z"])
    #expect(try names([.integer(1)], false) == ["z"])
    #expect(try names([.integer(1), .reference("\(Self.root)/c/x")], false) == ["y", "z"])
    #expect(try names([], false) == [])
  }

  @Test func `offset, limit and selection are applied`() throws {
    let documents = Self.documents([
      "x": ["a": .integer(1), "b": .null], "y": ["a": .integer(2)], "z": ["a": .integer(3)],
    ])
    var query = Self.query()
    (query.offset, query.limit, query.select) = (0, 1, ["b"])
    #expect(try Self.normal(query).results(in: documents).documents.map(\.fields) == [["b": .null]])
    (query.offset, query.select) = (5, ["__name__"])
    let none = try Self.normal(query).results(in: documents)
    #expect(none.documents.isEmpty && none.skipped == 3)
  }

  @Test func `collections are selected by depth`() throws {
    let documents = ["c/1", "c/1/c/2", "d/1/c/3", "e/1"].map { Document(name: "\(Self.root)/\($0)") }
    func count(_ id: String, _ all: Bool, below: String = "") throws -> Int {
      let query = StructuredQuery(from: [.init(collectionID: id, allDescendants: all)])
      return try Self.normal(query, parent: Self.root + below).results(in: documents).documents.count
    }
    #expect(try count("c", false) == 1)
    #expect(try count("c", true) == 3)
    #expect(try count("", true) == 4)
    #expect(try count("", false) == 2)
    #expect(try count("c", false, below: "/c/1") == 1)
  }

  @Test func `nearest vectors are measured`() throws {
    let documents = Self.documents([
      "x": ["v": .vector([1, 0])], "y": ["v": .vector([3, 0])], "z": ["v": .vector([0, 2])], "w": ["v": .vector([1])],
      "n": ["v": .null],
    ])
    func names(_ measure: FindNearest.DistanceMeasure, threshold: Double? = nil) throws -> [String] {
      var query = Self.query()
      query.findNearest = FindNearest(
        vectorField: "v", queryVector: .vector([1, 0]), distanceMeasure: measure, limit: 2,
        distanceResultField: "d", distanceThreshold: threshold
      )
      return try Self.names(query, in: documents)
    }
    #expect(try names(.euclidean) == ["x", "y"])
    #expect(try names(.dotProduct) == ["y", "x"])
    #expect(try names(.cosine) == ["x", "y"])
    #expect(try names(.euclidean, threshold: 1) == ["x"])
    #expect(try names(.dotProduct, threshold: 2) == ["y"])
  }

  @Test func `figures are made of the documents that have the fields`() throws {
    var all = try Aggregator([
      Aggregation(.count(upTo: nil)), Aggregation(.sum(fieldPath: "a"), alias: "s"),
      Aggregation(.average(fieldPath: "a")),
    ])
    for value in [Value.integer(1), .integer(4), .string("x")] { all.add(Document(name: "n", fields: ["a": value])) }
    all.add(Document(name: "n"))
    #expect(all.result == ["field_1": .integer(3), "s": .integer(5), "field_2": .double(2.5)])
    var large = try Aggregator([Aggregation(.sum(fieldPath: "a")), Aggregation(.count(upTo: 1))])
    #expect(large.result == ["field_1": .integer(0), "field_2": .integer(0)])
    for _ in 0..<2 { large.add(Document(name: "n", fields: ["a": .integer(.max)])) }
    #expect(large.result == ["field_1": .double(0x1p64), "field_2": .integer(1)])
    #expect(try Aggregator([Aggregation(.average(fieldPath: "a"))]).result == ["field_1": .null])
    #expect(throws: FirestoreServiceError.self) { try Aggregator([]) }
  }

  @Test func `a query that continues has the rest of its limit`() throws {
    var query = Self.query()
    query.offset = 3
    let last = Document(name: "\(Self.root)/c/x", fields: [:])
    #expect(try Self.normal(query).continued(after: last, returned: 2, skipped: 3).limit == nil)
    query.limit = 5
    for (count, left) in [(0, 5), (2, 3), (5, 0), (7, 0)] {
      let rest = try Self.normal(query).continued(after: last, returned: count, skipped: 3)
      #expect(rest.limit == left && rest.offset == 0 && rest.after == last)
      #expect(try Self.normal(query).continued(after: last, returned: 0, skipped: 1).offset == 2)
    }
  }

  @Test func `an array contains its elements, and nothing else does`() throws {
    let documents = Self.documents([
      "one": ["a": .array([.integer(1)])], "two": ["a": .array([.integer(2), .double(1)])], "none": ["a": .array([])],
      "other": ["a": .array([.string("1"), .array([.integer(1)])])], "plain": ["a": .integer(1)], "absent": [:],
    ])
    let query = Self.query(.field(path: "a", .arrayContains, .integer(1)))
    #expect(try Self.names(query, in: documents).sorted() == ["one", "two"])
  }

  @Test func `a query that continues begins after its last result`() throws {
    let documents = Self.documents(["a": [:], "b": [:], "c": [:], "d": [:]]).sorted { $0.name < $1.name }
    let rest = try Self.normal(Self.query()).continued(after: documents[1], returned: 2)
    #expect(rest.results(in: documents).documents.map(\.name) == documents[2...].map(\.name))
  }
}

/// Operands that are longer than what counts in an index; only the cache of a client is asked for them.
@Suite struct LongOperandTests {
  @Test func `an equal text beyond 1,500 bytes is compared whole`() throws {
    let database = DatabaseName(project: "demo")
    let long = String(repeating: "x", count: 1_600)
    let query = try LocalQuery(
      database: database, path: ResourcePath(["c"]), filters: [.field(path: "s", .equal, .string(long + "1"))])
    func matches(_ text: String) -> Bool {
      let name = ResourceName(database: database, path: ResourcePath(["c", "d"]))
      return query.matches(CachedDocument(name, .found(["s": .string(text)]), version: Timestamp(seconds: 1)))
    }
    #expect(matches(long + "1") && !matches(long + "2") && !matches(long))
  }
}
