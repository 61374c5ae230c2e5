import Testing
import VestaFirestoreBackend

@testable import VestaFirestoreModel

@Suite struct WriteTests {
  static let database = "projects/p/databases/(default)"
  static let name = "\(database)/documents/c/a"
  static let before = Timestamp(seconds: 10)
  static let now = Timestamp(seconds: 20, nanos: 123_456_000)

  static func document(_ fields: MapValue) -> Document {
    Document(name: name, fields: fields, createTime: before, updateTime: before)
  }

  static func apply(_ operation: FieldTransform.Operation, to value: Value?) -> Value {
    FieldTransform(fieldPath: "a", operation).applied(to: value, requestTime: now).value
  }

  @Test(
    arguments: [
      (nil, .integer(2), .integer(2)), (.string("x"), .double(1.5), .double(1.5)),
      (.integer(3), .integer(4), .integer(7)),
      (.integer(.max), .integer(1), .integer(.max)), (.integer(.min), .integer(-1), .integer(.min)),
      (.integer(1), .double(0.5), .double(1.5)), (.double(1), .integer(1), .double(2)),
      (.double(-0.0), .integer(0), .double(0)),
    ] as [(Value?, Value, Value)])
  func `increments stay in range`(value: Value?, operand: Value, sum: Value) {
    #expect(Self.apply(.increment(operand), to: value) == sum)
  }

  @Test(
    arguments: [
      (nil, .integer(2), .integer(2), .integer(2)), (.string("x"), .integer(2), .integer(2), .integer(2)),
      (.integer(3), .double(3), .integer(3), .integer(3)), (.double(-0.0), .integer(0), .double(-0.0), .double(-0.0)),
      (.integer(3), .double(3.5), .double(3.5), .integer(3)),
      (.integer(1), .double(.nan), .double(.nan), .double(.nan)),
      (.double(.nan), .integer(1), .double(.nan), .double(.nan)),
      (.integer(1 << 53 + 1), .double(0x1p53), .integer(1 << 53 + 1), .double(0x1p53)),
    ] as [(Value?, Value, Value, Value)])
  func `extrema keep what is equal`(value: Value?, operand: Value, maximum: Value, minimum: Value) {
    #expect(Self.apply(.maximum(operand), to: value) == maximum)
    #expect(Self.apply(.minimum(operand), to: value) == minimum)
  }

  @Test func `arrays take and lose elements by value`() {
    let array = Value.array([.integer(1), .integer(1), .double(.nan)])
    let added = Self.apply(.appendMissingElements([.double(1), .double(.nan), .null, .null]), to: array)
    #expect(added == .array([.integer(1), .integer(1), .double(.nan), .null]))
    #expect(Self.apply(.removeAllFromArray([.double(1)]), to: array) == .array([.double(.nan)]))
    #expect(Self.apply(.removeAllFromArray([.null]), to: .string("x")) == .array([]))
    #expect(Self.apply(.appendMissingElements([]), to: nil) == .array([]))
  }

  @Test func `server times have milliseconds`() {
    let time = Value.timestamp(Timestamp(seconds: 20, nanos: 123_000_000))
    #expect(Self.apply(.serverTimestamp, to: .null) == time)
  }

  @Test func `masks set and delete`() throws {
    let old = Self.document(["a": .integer(1), "b": .map(["x": .integer(1), "y": .integer(2)]), "c": .null])
    let update = Document(name: Self.name, fields: ["a": .integer(9), "b": .map(["x": .integer(5)]), "z": .null])
    let write = Write.update(update, mask: DocumentMask(fieldPaths: ["b.x", "b.y", "c"]))
    let outcome = try write.applied(to: old, commitTime: Self.now)
    #expect(outcome.document?.fields == ["a": .integer(1), "b": .map(["x": .integer(5)])])
    #expect(outcome.document?.createTime == Self.before && outcome.document?.updateTime == Self.now)
    let replaced = try Write.update(update).applied(to: old, commitTime: Self.now)
    #expect(replaced.document?.fields == update.fields)
    let touch = try Write.update(update, mask: DocumentMask(fieldPaths: [])).applied(to: nil, commitTime: Self.now)
    #expect(touch.document?.fields == [:] && touch.isChange)
  }

  @Test(arguments: [["b", "b.x"], ["b.x", "b"], ["b", "b"], ["b", "b.x.y", "b.q", "b"]])
  func `of paths below one another the shortest is written`(_ paths: [String]) throws {
    let old = Self.document(["a": .integer(1), "b": .map(["x": .integer(1), "y": .integer(2)])])
    for (fields, expected) in [
      (["b": .map(["x": .integer(5)])], ["a": .integer(1), "b": .map(["x": .integer(5)])]),
      (["b": .string("s")], ["a": .integer(1), "b": .string("s")]), ([:], ["a": .integer(1)]),
    ] as [(MapValue, MapValue)] {
      let update = Document(name: Self.name, fields: fields)
      let write = Write.update(update, mask: DocumentMask(fieldPaths: paths))
      try WriteRules.check([write], database: try DatabaseName(parsing: Self.database))
      #expect(try write.applied(to: old, commitTime: Self.now).document?.fields == expected, "\(fields)")
      var draft = DocumentDraft(old, name: Self.name, commitTime: Self.now)
      _ = try draft.apply(write)
      #expect(try draft.finish()?.fields == expected, "\(fields)")
    }
  }

  @Test func `writes that change nothing keep the time`() throws {
    let old = Self.document(["a": .integer(1)])
    let same = try Write.update(Document(name: Self.name, fields: ["a": .integer(1)])).applied(
      to: old, commitTime: Self.now)
    #expect(!same.isChange && same.document == old && same.result.updateTime == Self.before)
    let gone = try Write.delete(Self.name).applied(to: nil, commitTime: Self.now)
    #expect(!gone.isChange && gone.document == nil && gone.result.updateTime == nil)
  }

  @Test func `transforms see the update and each other`() throws {
    let write = Write.update(
      Document(name: Self.name, fields: ["a": .integer(1)]),
      transforms: [
        FieldTransform(fieldPath: "a", .increment(.integer(1))), .init(fieldPath: "a", .increment(.integer(5))),
      ]
    )
    let outcome = try write.applied(to: nil, commitTime: Self.now)
    #expect(outcome.document?.fields == ["a": .integer(7)])
    #expect(outcome.result.transformResults == [.integer(2), .integer(7)])
  }

  @Test func `preconditions have the codes and texts of the service`() {
    let document = Self.document([:])
    let cases: [(Precondition, Document?, FirestoreServiceError?)] = [
      (.exists(true), nil, FirestoreServiceError(.notFound, "No document to update: \(Self.name)")),
      (.exists(false), document, FirestoreServiceError(.alreadyExists, "Document already exists: \(Self.name)")),
      (
        .updateTime(Timestamp(seconds: 11)), document,
        FirestoreServiceError(
          .failedPrecondition,
          "the stored version (10000000) does not match the required base version (11000000)"
        )
      ),
      (
        .updateTime(Timestamp(seconds: 11)), nil,
        FirestoreServiceError(
          .failedPrecondition, "the stored version (0) does not match the required base version (11000000)")
      ),
      (.exists(true), document, nil), (.exists(false), nil, nil), (.updateTime(Self.before), document, nil),
    ]
    for (precondition, document, expected) in cases {
      var caught: FirestoreServiceError?
      do throws(FirestoreServiceError) { try precondition.check(document, name: Self.name) } catch { caught = error }
      #expect(caught == expected)
    }
  }

  @Test func `sizes are counted as the service does`() {
    // The example of the service's documentation: a document users/jeff/tasks/my_task_id of 147 bytes.
    let document = Document(
      name: "\(Self.database)/documents/users/jeff/tasks/my_task_id",
      fields: [
        "type": .string("Personal"), "done": .boolean(false), "priority": .integer(1),
        "description": .string("Learn Cloud Firestore"),
      ]
    )
    #expect(DocumentSize.size(of: document) == 147)
  }

  static func nested(_ depth: Int) -> Value { depth == 0 ? .null : .map(["m": nested(depth - 1)]) }

  /// Maps whose names together are longer than a path may be, each of them being short.
  static func nestedNames(_ bytes: Int) -> Value {
    (0..<bytes / 149).reduce(.null) { value, _ in .map([String(repeating: "n", count: 148): value]) }
  }

  static let badFields: [(MapValue, String)] = [
    (["": .null], "must not be empty"), (["__x__": .null], "cannot begin and end with"),
    (["a": .map(["__x__": .null])], "a.__x__"), (["a": .array([.array([])])], "array directly in an array: a"),
    (["a": .array([.integer(1), .vector([1])])], "a vector value in an array"),
    (["m": .map(["a": .array([.vector([1])])])], "a vector value in an array"),
    (["a": nested(21)], "deeper than 20 levels"), (["p": .geoPoint(GeoPoint(latitude: 91, longitude: 0))], "latitude"),
    (["p": .geoPoint(GeoPoint(latitude: 0, longitude: .nan))], "longitude"),
    (["t": .timestamp(Timestamp(seconds: .max))], "timestamp of t"), (["r": .reference("x")], "\"x\""),
    (["v": .map(["__type__": .string("__vector__"), "value": .array([.string("x")])])], "v is no vector"),
    (["s": .string(String(repeating: "x", count: 1_048_576))], "exceeds the maximum allowed size of 1,048,572 bytes"),
    (["a": nestedNames(1640)], "longer than 1500 bytes"),
    (["a": .array((0..<40_001).map { .integer($0) })], "too many index entries"),
    (MapValue((0..<20_001).map { ("f\($0)", .null) }), "too many index entries"),
  ]

  @Test(arguments: badFields) func `bad documents are refused with a text that says why`(fields: MapValue, text: String)
  {
    let error = #expect(throws: FirestoreServiceError.self) { try DocumentRules.check(Self.document(fields)) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains(text) == true, "\(error?.message.suffix(200) ?? "")")
  }

  @Test func `good documents pass`() {
    let fields: MapValue = [
      "a": Self.nested(19), "v": .vector([1]), "é": .array([.map([:]), .map(["v": .vector([1])])]),
    ]
    #expect(throws: Never.self) { try DocumentRules.check(Self.document(fields)) }
  }

  @Test func `times are of the years 1 to 9999`() {
    let cases: [(Int64, Int32, Bool)] = [
      (-62_135_596_800, 0, true), (-62_135_596_801, 999_999_999, false), (253_402_300_799, 999_999_999, true),
      (253_402_300_800, 0, false), (0, -1, false), (0, 1_000_000_000, false),
    ]
    for (seconds, nanos, isValid) in cases {
      let document = Self.document(["t": .timestamp(Timestamp(seconds: seconds, nanos: nanos))])
      #expect(((try? DocumentRules.check(document)) != nil) == isValid, "\(seconds) and \(nanos)")
    }
  }

  @Test func `a string and a field name may be as long as their limits, and no longer`() {
    func refusal(_ fields: MapValue) -> String? {
      do {
        try DocumentRules.check(Self.document(fields))
        return nil
      } catch {
        return error.message
      }
    }
    // The byte that a string counts for besides is no part of its length.
    let longest = FirestoreLimits.valueSize
    #expect(refusal(["s": .string(String(repeating: "x", count: longest))]) == nil)
    #expect(refusal(["s": .string(String(repeating: "x", count: longest + 1))])?.contains("property \"s\"") == true)
    let name = String(repeating: "n", count: FirestoreLimits.fieldPathLength)
    #expect(refusal([name: .integer(1)]) == nil)
    #expect(refusal([name + "n": .integer(1)])?.contains("longer than 1500 bytes") == true)
    #expect(refusal(["__n__": .integer(1)])?.contains("cannot begin and end") == true)
  }

  @Test func `bad writes are refused`() {
    let document = Document(name: Self.name)
    let many = Array(repeating: FieldTransform(fieldPath: "a", .increment(.integer(1))), count: 501)
    let bad: [Write] = [
      .update(Document(name: "projects/p/databases/other/documents/c/a")), .update(document, transforms: many),
      .update(document, mask: DocumentMask(fieldPaths: ["__name__"])),
      .update(document, mask: DocumentMask(fieldPaths: ["a..b"])), Write(.verify(name: Self.name)),
      .update(document, transforms: [FieldTransform(fieldPath: "a", .increment(.string("1")))]),
      .update(document, transforms: [FieldTransform(fieldPath: "__name__", .serverTimestamp)]),
      Write(.transform(name: Self.name, transforms: [])),
      .update(document, transforms: ["a.b", "a"].map { FieldTransform(fieldPath: $0, .serverTimestamp) }),
    ]
    for write in bad {
      let error = #expect(throws: FirestoreServiceError.self) {
        try WriteRules.check([write], database: try DatabaseName(parsing: Self.database))
      }
      #expect(error?.code == .invalidArgument)
    }
    #expect(throws: FirestoreServiceError.self) {
      try WriteRules.checkDistinct([.delete(Self.name), .delete(Self.name)])
    }
  }

  @Test func `entries in indexes are counted by field`() {
    let fields: MapValue = [
      "a": .integer(1), "m": .map(["x": .null, "y": .map(["z": .string("")])]), "v": .vector([1, 2]),
      "l": .array([.integer(1), .double(1), .string("1"), .map(["x": .null])]),
    ]
    #expect(IndexEntries.count(in: fields) == 2 + 4 + 0 + 3)
    let most = MapValue((0..<20_000).map { ("f\($0)", .null) })
    #expect(throws: Never.self) { try DocumentRules.check(Self.document(most)) }
  }

  @Test func `a merge cannot make a document too large`() {
    let half = Value.string(String(repeating: "x", count: 600_000))
    let old = Self.document(["a": half])
    let write = Write.update(Document(name: Self.name, fields: ["b": half]), mask: DocumentMask(fieldPaths: ["b"]))
    let error = #expect(throws: FirestoreServiceError.self) { try write.applied(to: old, commitTime: Self.now) }
    #expect(error?.code == .invalidArgument)
    #expect(throws: Never.self) { try write.applied(to: nil, commitTime: Self.now) }
  }

  @Test func `times are stored to the microsecond`() throws {
    let (fine, cut) = (Timestamp(seconds: 1, nanos: 1_234_567), Timestamp(seconds: 1, nanos: 1_234_000))
    let document = Document(
      name: Self.name, fields: ["t": .timestamp(fine), "l": .array([.map(["t": .timestamp(fine)])])])
    let append = FieldTransform(fieldPath: "u", .appendMissingElements([.timestamp(fine), .timestamp(cut)]))
    let outcome = try Write.update(document, transforms: [append]).applied(to: nil, commitTime: Self.now)
    let expected: MapValue = [
      "t": .timestamp(cut), "l": .array([.map(["t": .timestamp(cut)])]), "u": .array([.timestamp(cut)]),
    ]
    #expect(outcome.document?.fields == expected)
    let remove = FieldTransform(fieldPath: "u", .removeAllFromArray([.timestamp(fine)]))
    let rest = try Write(.transform(name: Self.name, transforms: [remove])).applied(
      to: outcome.document, commitTime: Self.now)
    #expect(rest.document?.fields["u"] == .array([]))
  }

  @Test func `a request has a separate limit`() {
    let large = Value.string(String(repeating: "x", count: 1_000_000))
    func writes(_ count: Int) -> [Write] {
      (0..<count).map { .update(Document(name: "\(Self.name)\($0)", fields: ["a": large])) }
    }
    #expect(throws: Never.self) { try WriteRules.check(writes(10), database: try DatabaseName(parsing: Self.database)) }
    for check in [
      { try WriteRules.check($0, database: try DatabaseName(parsing: Self.database)) }, WriteRules.checkDistinct,
    ] {
      let error = #expect(throws: FirestoreServiceError.self) { try check(writes(11)) }
      #expect(error?.message == "Request payload size exceeds the limit: 10485760 bytes.")
    }
    let elements = FieldTransform(fieldPath: "a", .appendMissingElements(Array(repeating: large, count: 11)))
    let transform = Write(.transform(name: Self.name, transforms: [elements]))
    #expect(throws: FirestoreServiceError.self) {
      try WriteRules.check([transform], database: try DatabaseName(parsing: Self.database))
    }
  }
}
