import Foundation
import Testing
import VestaFirestoreBackend

@testable import VestaFirestore
@testable import VestaFirestoreModel

@Suite struct UserDataReaderTests {
  let reader = UserDataReader(database: DatabaseName(project: "p"))

  func set(_ fields: [String: Any], as kind: WriteKind = .set) throws -> WriteData {
    try reader.read(UserValue.entries(of: fields), as: kind)
  }

  func failure(_ fields: [String: Any], as kind: WriteKind = .set) -> String? {
    do {
      _ = try set(fields, as: kind)
      return nil
    } catch {
      return (error as? FirestoreErrorCode)?.message
    }
  }

  @Test func `Swift's types keep their kind`() throws {
    let data = try set([
      "int": 1, "byte": UInt8(7), "double": 1.0, "float": Float(0.5), "yes": true, "text": "x", "none": NSNull(),
      "nothing": Int?.none as Any, "some": Int?.some(3) as Any, "bytes": Data([1, 2]), "list": [1, 2], "map": ["a": 1],
    ])
    let expected: MapValue = [
      "int": .integer(1), "byte": .integer(7), "double": .double(1), "float": .double(0.5), "yes": .boolean(true),
      "text": .string("x"), "none": .null, "nothing": .null, "some": .integer(3), "bytes": .bytes([1, 2]),
      "list": .array([.integer(1), .integer(2)]), "map": .map(["a": .integer(1)]),
    ]
    #expect(data.fields == expected)
    #expect(data.mask == nil)
  }

  @Test func `containers are stored whatever the type of their elements`() throws {
    let data = try set([
      "ints": [Int32(1), 2], "flags": [true], "texts": ["a": "b"], "nested": [["x": [1.5]]], "dates": [Date](),
      "optional": [Int?.none, 3], "list": NSArray(array: [NSNull(), 1, "a"]), "map": NSDictionary(dictionary: ["k": 1]),
      "maybe": Optional([1]) as Any, "null": Optional(NSNull()) as Any,
    ])
    let expected: MapValue = [
      "ints": .array([.integer(1), .integer(2)]), "flags": .array([.boolean(true)]),
      "texts": .map(["a": .string("b")]), "nested": .array([.map(["x": .array([.double(1.5)])])]),
      "dates": .array([]), "optional": .array([.null, .integer(3)]),
      "list": .array([.null, .integer(1), .string("a")]), "map": .map(["k": .integer(1)]),
      "maybe": .array([.integer(1)]), "null": .null,
    ]
    #expect(data.fields == expected)
    #expect(failure(["set": Set([1])])?.hasPrefix("Unsupported type: Set<Int>") == true)
  }

  @Test func `an NSNumber is a boolean, an integer or a double by what it was made of`() throws {
    let data = try set([
      "yes": NSNumber(value: true), "one": NSNumber(value: 1), "half": NSNumber(value: 0.5),
      "large": NSNumber(value: Int64.max), "unsigned": NSNumber(value: UInt64(Int64.max)),
    ])
    let expected: MapValue = [
      "yes": .boolean(true), "one": .integer(1), "half": .double(0.5), "large": .integer(.max),
      "unsigned": .integer(.max),
    ]
    #expect(data.fields == expected)
    #expect(
      failure(["n": NSNumber(value: UInt64.max)]) == "NSNumber (18446744073709551615) is too large (found in field n)")
    #expect(failure(["n": UInt64.max]) == "NSNumber (18446744073709551615) is too large (found in field n)")
  }

  @Test func `dates are stored as timestamps to the microsecond`() throws {
    let data = try set(["at": Date(timeIntervalSince1970: -0.25), "time": Timestamp(seconds: 5, nanoseconds: 1_999)])
    #expect(data.fields["at"] == .timestamp(WireTimestamp(seconds: -1, nanos: 750_000_000)))
    #expect(data.fields["time"] == .timestamp(WireTimestamp(seconds: 5, nanos: 1_000)))
  }

  @Test func `sentinels become transforms and are not among the fields`() throws {
    let data = try set([
      "a": FieldValue.serverTimestamp(), "b": ["c": FieldValue.increment(Int64(2)), "d": 1] as [String: Any],
      "e": FieldValue.arrayUnion([1, "x"]),
    ])
    let fields: MapValue = ["b": .map(["d": .integer(1)])]
    #expect(data.fields == fields)
    #expect(
      data.transforms == [
        FieldTransform(fieldPath: "a", .serverTimestamp), FieldTransform(fieldPath: "b.c", .increment(.integer(2))),
        FieldTransform(fieldPath: "e", .appendMissingElements([.integer(1), .string("x")])),
      ])
  }

  @Test func `the mask of a merge has every leaf and every empty map`() throws {
    let data = try set(
      [
        "a": 1, "b": ["c": 2, "d": [String: Any](), "e": [["x": 1]]] as [String: Any], "f": FieldValue.delete(),
        "g": FieldValue.serverTimestamp(),
      ], as: .merge)
    #expect(data.mask?.map(\.description) == ["a", "b.c", "b.d", "b.e", "f"])
  }

  @Test func `merge fields keep what they name, and transforms within it`() throws {
    let fields: [String: Any] = [
      "a": ["b": 1, "c": FieldValue.serverTimestamp(), "d": 2] as [String: Any], "e": FieldValue.increment(1.0), "f": 3,
    ]
    let data = try set(fields, as: .mergeFields([FieldPath(["a", "b"]), FieldPath(["a", "c"]), FieldPath(["f"])]))
    let expected: MapValue = ["a": .map(["b": .integer(1)]), "f": .integer(3)]
    #expect(data.fields == expected)
    #expect(data.mask?.map(\.description) == ["a.b", "f"])
    #expect(data.transforms == [FieldTransform(fieldPath: "a.c", .serverTimestamp)])
    #expect(
      failure(fields, as: .mergeFields([FieldPath(["x"])]))
        == "Field 'x' is specified in your field mask but missing from your input data.")
  }

  @Test func `an update replaces whole fields, names paths, and may delete at the top`() throws {
    let data = try reader.read(update: [
      (FieldPath(["a", "b"]), UserValue(any: ["c": 1, "t": FieldValue.serverTimestamp()] as [String: Any])),
      (FieldPath(["gone"]), UserValue(any: FieldValue.delete())),
      (FieldPath(["n"]), UserValue(any: FieldValue.increment(Int64(1)))),
    ])
    let expected: MapValue = ["a": .map(["b": .map(["c": .integer(1)])])]
    #expect(data.fields == expected)
    #expect(data.mask?.map(\.description) == ["a.b", "gone"])
    #expect(data.transforms.map(\.fieldPath) == ["a.b.t", "n"])
  }

  @Test(arguments: [
    (["a": [[1]]] as [String: any Sendable], "Nested arrays are not supported (found in field a)"),
    (["": 1], "Invalid data. Document fields must not be empty (found in field ``)"),
    (["__x__": 1], "Invalid data. Document fields cannot begin and end with \"__\" (found in field __x__)"),
    (
      ["a": URL(fileURLWithPath: "/")],
      "Unsupported type: URL (found in field a). "
        + "Write a dictionary of values that Firestore has, or pass a Codable value to setData(from:)."
    ),
    (
      ["a": [FieldValue.serverTimestamp()]],
      "FieldValue.serverTimestamp() is not currently supported inside arrays (found in field a)"
    ),
    (
      ["a": FieldValue.delete()],
      "FieldValue.delete() can only be used with updateData() and setData() with merge:true (found in field a)"
    ),
    (
      ["a": FieldValue.arrayUnion([FieldValue.increment(1.0)])],
      "FieldValue.increment() can only be used with updateData() and setData()"
    ),
  ])
  func `what Firestore does not store is refused with the field's path`(fields: [String: any Sendable], text: String) {
    #expect(failure(fields) == text)
  }

  @Test func `a deletion within the data of an update is refused`() {
    #expect(throws: FirestoreErrorCode.self) {
      try reader.read(update: [(FieldPath(["a"]), UserValue(any: ["b": FieldValue.delete()]))])
    }
  }

  @Test func `an array within a map within an array is stored`() throws {
    let data = try set(["a": [["b": [1]]]])
    #expect(data.fields["a"] == .array([.map(["b": .array([.integer(1)])])]))
  }

  @Test func `what is read is what was written`() throws {
    let fields: [String: Any] = [
      "n": 1, "d": 1.5, "b": true, "s": "x", "t": Timestamp(seconds: 1, nanoseconds: 0),
      "g": GeoPoint(latitude: 1, longitude: 2),
      "v": VectorValue([1.0, 2.0]), "l": [1, "x"] as [Any], "m": ["k": NSNull()], "y": Data([9]),
    ]
    let writer = UserDataWriter(behavior: .none) { _ in nil }
    let stored = try set(fields).fields
    let again = writer.dictionary(stored)
    #expect(again["n"] as? Int == 1)
    #expect(again["b"] as? Bool == true)
    #expect(again["t"] as? Timestamp == Timestamp(seconds: 1, nanoseconds: 0))
    #expect(again["v"] as? VectorValue == VectorValue([1.0, 2.0]))
    #expect(try set(again).fields == stored)
  }

  @Test(arguments: [ServerTimestampBehavior.none, .estimate, .previous])
  func `a pending server timestamp is shown as the behaviour says`(behavior: ServerTimestampBehavior) {
    let value = Value.pendingServerTimestamp(writeTime: WireTimestamp(seconds: 9), previous: .integer(4))
    let shown = UserDataWriter(behavior: behavior) { _ in nil }.any(value)
    switch behavior {
    case .none: #expect(shown is NSNull)
    case .estimate: #expect(shown as? Timestamp == Timestamp(seconds: 9, nanoseconds: 0))
    case .previous: #expect(shown as? Int == 4)
    }
  }
}
