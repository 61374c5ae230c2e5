import Testing
import VestaFirestoreBackend
import VestaTesting

@testable import VestaFirestoreModel

/// Rules of production that hostile tests found broken.
@Suite struct ReviewTests {
  static let root = "projects/p/databases/(default)/documents"
  static let nan = Value.double(.nan)

  static func query(_ filter: Filter, orderBy: [StructuredQuery.Order] = []) throws -> NormalQuery {
    try NormalQuery(StructuredQuery(from: [.init(collectionID: "c")], filter: filter, orderBy: orderBy), parent: root)
  }

  /// Expects `INVALID_ARGUMENT`.
  static func expectInvalid(_ sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> some Any) {
    let error = #expect(throws: FirestoreServiceError.self, sourceLocation: sourceLocation) { _ = try body() }
    #expect(error?.code == .invalidArgument, sourceLocation: sourceLocation)
  }

  static func document(_ fields: MapValue) -> Document { Document(name: "\(root)/c/a", fields: fields) }

  @Test(
    arguments: [Value.null, nan],
    [
      Filter.FieldOperator.equal, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .arrayContains,
    ])
  func `null and NaN as operands match nothing`(operand: Value, operation: Filter.FieldOperator) throws {
    let query = try Self.query(.field(path: "a", operation, operand))
    for value in [Value.null, Self.nan, .integer(1), .array([.null, Self.nan])] {
      #expect(!query.matches(Self.document(["a": value])))
    }
  }

  @Test func `unequal to NaN and not in NaN keep documents with NaN`() throws {
    let document = Self.document(["a": Self.nan])
    #expect(try Self.query(.field(path: "a", .notEqual, Self.nan)).matches(document))
    #expect(try Self.query(.field(path: "a", .notIn, .array([.integer(1), Self.nan]))).matches(document))
    #expect(try !Self.query(.field(path: "a", .notIn, .array([.integer(1), .null]))).matches(document))
    #expect(try !Self.query(.field(path: "a", .notEqual, Self.nan)).matches(Self.document(["a": .null])))
    #expect(try Self.query(.unary(path: "a", .isNaN)).matches(document))
    #expect(try !Self.query(.unary(path: "a", .isNotNaN)).matches(document))
    #expect(try Self.query(.unary(path: "a", .isNull)).matches(Self.document(["a": .null])))
  }

  @Test func `a part of a filter that can match nothing keeps its implicit order`() throws {
    let filter = Filter.composite(
      .or,
      [
        .field(path: "b", .lessThanOrEqual, .integer(0)),
        .composite(
          .and,
          [.field(path: "c", .lessThanOrEqual, .integer(1)), .field(path: "t", .arrayContainsAny, .array([.null]))]),
      ])
    let query = try Self.query(filter)
    #expect(query.orders.map(\.path.description) == ["b", "c", "__name__"])
    #expect(!query.matches(Self.document(["b": .integer(0)])))
  }

  @Test func `references that agree in their first 1500 bytes tie`() {
    let long = "\(Self.root)/c/" + String(repeating: "x", count: 1400) + "/d/" + String(repeating: "y", count: 200)
    let (left, right) = (Value.reference(long + "a"), Value.reference(long + "b/e/f"))
    #expect(IndexedOrder.compare(left, right) == 0 && IndexEncoder.truncates(left))
    #expect(ValueOrder.compare(left, right) < 0)
    let short = Value.reference("\(Self.root)/c/" + String(repeating: "x", count: 1400))
    #expect(!IndexEncoder.truncates(short) && IndexedOrder.compare(short, left) < 0)
    var reader = IndexReader(IndexEncoder.encode(left) + IndexEncoder.encode(.null))
    #expect(reader.skip(descending: false) && reader.skip(descending: false))
    let numbers = (0..<160).map { "__id\($0)__" }.joined(separator: "/c/")
    #expect(
      IndexEncoder.truncates(.reference("\(Self.root)/c/\(numbers)" + "/c/" + String(repeating: "z", count: 1400))))
  }

  @Test func `the end of each string within a map or an array counts`() {
    // Three strings of 499 bytes take up 1500 with their ends; the value behind them is cut off.
    let texts = (0..<3).map { _ in Value.string(String(repeating: "x", count: 499)) }
    #expect(IndexedOrder.compare(.array(texts + [.integer(1)]), .array(texts + [.integer(2)])) == 0)
    let shorter = (0..<3).map { _ in Value.string(String(repeating: "x", count: 498)) }
    #expect(IndexedOrder.compare(.array(shorter + [.integer(1)]), .array(shorter + [.integer(2)])) < 0)
    let name = String(repeating: "n", count: 1400)
    func map(_ text: String) -> Value { .map([name: .string(text)]) }
    #expect(
      IndexedOrder.compare(map(String(repeating: "x", count: 98)), map(String(repeating: "x", count: 97) + "y")) < 0)
    #expect(
      IndexedOrder.compare(map(String(repeating: "x", count: 99)), map(String(repeating: "x", count: 99) + "y")) == 0)
  }

  @Test func `what follows an array within a map counts`() {
    let left = Value.map(["a": .array([.integer(1)]), "b": .integer(1)])
    let right = Value.map(["a": .array([.integer(1)]), "b": .integer(2)])
    #expect(IndexEncoder.encode(left).lexicographicallyPrecedes(IndexEncoder.encode(right)))
  }

  @Test func `bytes and strings of 1500 bytes are too large for a filter, and of 1499 bytes are not`() {
    #expect(IndexEncoder.truncates(.bytes(Array(repeating: 1, count: 1500))))
    #expect(!IndexEncoder.truncates(.bytes(Array(repeating: 1, count: 1499))))
    #expect(IndexEncoder.truncates(.string(String(repeating: "a", count: 1500))))
    #expect(!IndexEncoder.truncates(.string(String(repeating: "a", count: 1499))))
  }

  @Test func `nested field paths are in order name by name, then by length`() {
    let sorted = ["a", "a.a", "a.b", "a.b.c", "a.c", "aa", "b", "b.a"].map {
      FieldPath($0.split(separator: ".").map(String.init))
    }
    for (index, path) in sorted.enumerated() {
      for (other, next) in sorted.enumerated() { #expect((path < next) == (index < other), "\(path) \(next)") }
    }
    let filters = ["a.c", "a", "a.b"].map { Filter.field(path: $0, .greaterThan, .integer(0)) }
    let query = try? Self.query(.composite(.and, filters))
    #expect(query?.orders.map(\.path.description) == ["a", "a.b", "a.c", "__name__"])
  }

  @Test(arguments: [
    Value.geoPoint(GeoPoint(latitude: 91, longitude: 0)), .timestamp(Timestamp(seconds: .max)), .reference("no/name"),
    .map(["__x__": .null]), .array([.null]), .map(["": .null]),
  ])
  func `what is bad in a document is bad in an array`(value: Value) {
    Self.expectInvalid { try DocumentRules.check(Self.document(["a": .array([value])])) }
    Self.expectInvalid {
      try DocumentRules.check(Self.document(["a": .array([.map(["b": .array([value])])])]))
    }
  }

  @Test func `the dots of a path count towards its length`() throws {
    func document(_ count: Int) -> Document {
      Self.document([String(repeating: "a", count: 700): .map([String(repeating: "b", count: count): .null])])
    }
    try DocumentRules.check(document(799))
    Self.expectInvalid { try DocumentRules.check(document(800)) }
  }

  @Test func `values nested however deeply are refused and not followed`() {
    var value = Value.integer(1)
    for _ in 0..<15_000 { value = .map(["a": value]) }
    let document = Self.document(["a": value])
    let union = FieldTransform(fieldPath: "l", .appendMissingElements([value]))
    let database = DatabaseName(project: "p")
    for write in [Write.update(document), .update(Self.document([:]), transforms: [union])] {
      Self.expectInvalid { try WriteRules.check([write], database: database) }
      Self.expectInvalid { try WriteRules.checkDistinct([write]) }
    }
    for operation in [Filter.FieldOperator.equal, .lessThan, .arrayContains] {
      Self.expectInvalid { try Self.query(.field(path: "a", operation, value)) }
    }
  }

  @Test func `the depth limit is the service's: twenty maps and arrays`() throws {
    func nested(_ depth: Int) -> Document {
      var value = Value.integer(1)
      for _ in 0..<depth { value = .map(["a": value]) }
      return Self.document(["a": value])
    }
    try DocumentRules.check(nested(20))
    Self.expectInvalid { try DocumentRules.check(nested(21)) }
  }

  @Test(.timeLimit(.minutes(10)))
  func `arrays take and lose thousands of elements without comparing each with each`() {
    // A hash that is no good takes many minutes here.
    let numbers = (0..<30_000).map { Value.integer(Int64($0)) }
    let doubles = (15_000..<45_000).map { Value.double(Double($0)) }
    func apply(_ operation: FieldTransform.Operation) -> Value {
      FieldTransform(fieldPath: "a", operation).applied(to: .array(numbers), requestTime: Timestamp(seconds: 1)).value
    }
    #expect(apply(.appendMissingElements(doubles)) == .array(numbers + doubles[15_000...]))
    #expect(apply(.removeAllFromArray(doubles)) == .array(Array(numbers[..<15_000])))
  }

  @Test(arguments: [11, 12, 13, 14] as [UInt64])
  func `values that queries take for equal have one hash, and a set finds what comparing finds`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let values = (0..<300).map { _ in Generate.value(&random) }
    let set = Set(values.map(EqualValue.init))
    for value in (0..<300).map({ _ in Generate.value(&random) }) {
      #expect(set.contains(EqualValue(value)) == values.contains { ValueOrder.equal($0, value) }, "\(value)")
    }
  }

  @Test
  func
    `collection ids that begin with two underscores and esc are taken, and __type__ is reserved as a first name only`()
    throws
  {
    _ = try ResourceName(document: "\(Self.root)/__esc1__/a")
    Self.expectInvalid { try ResourceName(document: "\(Self.root)/__other__/a") }
    _ = try Self.query(.field(path: "foo.__type__", .equal, .integer(1)))
    Self.expectInvalid { try Self.query(.field(path: "__type__", .equal, .integer(1))) }
    Self.expectInvalid { try Self.query(.field(path: "__type__.a", .equal, .integer(1))) }
    Self.expectInvalid {
      try NormalQuery(StructuredQuery(select: ["foo.__type__"], from: [.init(collectionID: "c")]), parent: Self.root)
    }
  }
}
