import Foundation
import Testing
import VestaDataCoding

@Suite struct EncoderTests {
  @Test func `a struct is encoded as Foundation encodes it`() throws {
    let encoded = try FirebaseDataEncoder().encode(City.lyon)
    #expect(try comparable(encoded) == foundationJSON(City.lyon))
  }

  @Test func `scalars and arrays can stand at the top`() throws {
    let encoder = FirebaseDataEncoder()
    #expect(try encoder.encode(5) as? Int == 5)
    #expect(try encoder.encode("text") as? String == "text")
    #expect(try encoder.encode([1, 2, 3]) as? [Int] == [1, 2, 3])
    #expect(try encoder.encode(Int?.none) is NSNull)
    #expect(try encoder.encode([1, nil]) as? [NSObject] == [NSNumber(value: 1), NSNull()])
  }

  @Test func `integers stay exact at both ends of their range`() throws {
    let encoder = FirebaseDataEncoder()
    #expect(try Numeric(encoder.encode(Int64.min)) == .integer(.min))
    #expect(try Numeric(encoder.encode(Int64.max)) == .integer(.max))
    #expect(try Numeric(encoder.encode(UInt64.max)) == .unsigned(.max))
    #expect(try Numeric(encoder.encode(Int8(1))) == .integer(1))
    #expect(try Numeric(encoder.encode(true)) == .boolean(true))
    #expect(try Numeric(encoder.encode(1.0)) == .double(1))
  }

  @Test func `a number that is not finite is an error with its path, or the string of the strategy`() throws {
    let encoder = FirebaseDataEncoder()
    let error = #expect(throws: EncodingError.self) { try encoder.encode(["a": [1, Double.nan]]) }
    guard case .invalidValue(_, let context)? = error else { throw CocoaError(.coderInvalidValue) }
    #expect(context.codingPath.map(\.stringValue) == ["a", "Index 1"])
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "+", negativeInfinity: "-", nan: "?")
    #expect(try encoder.encode([Double.infinity, -.infinity, .nan]) as? [String] == ["+", "-", "?"])
  }

  @Test func `each date strategy encodes as Foundation's`() throws {
    let date = Date(timeIntervalSince1970: 1_234_567_890)
    let formatter = DateFormatter()
    formatter.dateFormat = "yyyy"
    let encoder = FirebaseDataEncoder()
    #expect(try encoder.encode(date) as? Double == date.timeIntervalSinceReferenceDate)
    encoder.dateEncodingStrategy = .secondsSince1970
    #expect(try encoder.encode(date) as? Double == 1_234_567_890)
    encoder.dateEncodingStrategy = .millisecondsSince1970
    #expect(try encoder.encode(date) as? Double == 1_234_567_890_000)
    encoder.dateEncodingStrategy = .iso8601
    #expect(
      try comparable(encoder.encode(date))
        == foundationJSON([date]) { $0.dateEncodingStrategy = .iso8601 }
        .flatMap { ($0 as? [String])?.first.map { $0 as NSString } })
    encoder.dateEncodingStrategy = .formatted(formatter)
    #expect(try encoder.encode(date) as? String == "2009")
    encoder.dateEncodingStrategy = .custom { _, _ in }
    #expect(try (encoder.encode(date) as? [String: Any])?.isEmpty == true)
  }

  @Test func `each data strategy encodes as it says`() throws {
    let data = Data([1, 2, 255])
    let encoder = FirebaseDataEncoder()
    #expect(try encoder.encode(data) as? String == "AQL/")
    encoder.dataEncodingStrategy = .deferredToData
    #expect(try encoder.encode(data) as? [Int] == [1, 2, 255])
    encoder.dataEncodingStrategy = .blob
    #expect(try encoder.encode(data) as? Data == data)
    encoder.dataEncodingStrategy = .custom { data, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(data.count)
    }
    #expect(try encoder.encode(data) as? Int == 3)
  }

  @Test func `snake case renames the keys of types and not the keys of dictionaries`() throws {
    let encoder = FirebaseDataEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    let expected = try foundationJSON(City.lyon) { $0.keyEncodingStrategy = .convertToSnakeCase }
    #expect(try comparable(encoder.encode(City.lyon)) == expected)
  }

  /// Encodes the largest number of every integer type, by the call for this type.
  private struct Integers: Encodable {
    enum Key: String, CodingKey { case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, list }

    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: Key.self)
      var list = fields.nestedUnkeyedContainer(forKey: .list)
      try fields.encode(Int.max, forKey: .int)
      try fields.encode(Int8.max, forKey: .int8)
      try fields.encode(Int16.max, forKey: .int16)
      try fields.encode(Int32.max, forKey: .int32)
      try fields.encode(Int64.max, forKey: .int64)
      try fields.encode(UInt(7), forKey: .uint)
      try fields.encode(UInt8.max, forKey: .uint8)
      try fields.encode(UInt16.max, forKey: .uint16)
      try fields.encode(UInt32.max, forKey: .uint32)
      try list.encode(Int8.max)
      try list.encode(Int16.max)
      try list.encode(Int32.max)
      try list.encode(Int64.max)
      try list.encode(UInt(7))
      try list.encode(UInt8.max)
      try list.encode(UInt16.max)
      try list.encode(UInt32.max)
    }
  }

  @Test func `integers of every size are encoded, in fields and in lists`() throws {
    let fields = try #require(try FirebaseDataEncoder().encode(Integers()) as? [String: Any])
    let list = try #require(fields["list"] as? [Any])
    let numbers = fields.filter { $0.key != "list" }.mapValues { ($0 as? NSNumber)?.int64Value }
    #expect(
      numbers == [
        "int": .max, "int8": 127, "int16": 32_767, "int32": 2_147_483_647, "int64": .max, "uint": 7, "uint8": 255,
        "uint16": 65_535, "uint32": 4_294_967_295,
      ])
    #expect(
      list.map { ($0 as? NSNumber)?.int64Value }
        == [127, 32_767, 2_147_483_647, .max, 7, 255, 65_535, 4_294_967_295])
  }

  private struct TwoLists: Encodable {
    enum Key: String, CodingKey { case list }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      for text in ["a", "b"] {
        var list = container.nestedUnkeyedContainer(forKey: .list)
        try list.encode(text)
      }
    }
  }

  @Test func `a list that is asked for twice under one key goes on`() throws {
    let fields = try FirebaseDataEncoder().encode(TwoLists()) as? [String: Any]
    #expect(fields?["list"] as? [String] == ["a", "b"])
  }

  @Test func `a custom strategy sees the path to each key`() throws {
    let encoder = FirebaseDataEncoder()
    encoder.keyEncodingStrategy = .custom { path in path.map(\.stringValue).joined(separator: "/").codingKey }
    let encoded = try encoder.encode(City.lyon) as? [String: Any]
    #expect((encoded?["mayor"] as? [String: Any])?["mayor/givenName"] as? String == "Ann")
  }

  @Test func `a superclass is encoded under its own key`() throws {
    let dog = Dog(legs: 3, name: "Rex")
    let encoded = try FirebaseDataEncoder().encode(dog)
    #expect(try comparable(encoded) == foundationJSON(dog))
    let back = try FirebaseDataDecoder().decode(Dog.self, from: encoded)
    #expect(back.legs == 3 && back.name == "Rex")
  }

  @Test func `leaf values pass through at every depth`() throws {
    struct Trip: Codable, Equatable {
      var start: Place
      var stops: [Place]
      var byName: [String: Place]
      var end: Place?
    }
    let place = Place(latitude: 1, longitude: 2)
    let trip = Trip(start: place, stops: [place], byName: ["a": place], end: nil)
    let encoder = FirebaseDataEncoder()
    encoder.passthroughTypeResolver = Places.self
    let encoded = try encoder.encode(trip) as? [String: Any]
    #expect(encoded?["start"] as? Place == place)
    #expect((encoded?["stops"] as? [Any])?.first as? Place == place)
    let decoder = FirebaseDataDecoder()
    decoder.passthroughTypeResolver = Places.self
    #expect(try decoder.decode(Trip.self, from: encoded ?? [:]) == trip)
  }

  @Test func `a nested value that encodes nothing is an empty dictionary, a top-level one an error`() throws {
    let encoder = FirebaseDataEncoder()
    #expect(throws: EncodingError.self) { try encoder.encode(Nothing()) }
    #expect(try comparable(encoder.encode([Nothing()])) == foundationJSON([Nothing()]))
    #expect(try comparable(encoder.encode(["a": Nothing()])) == foundationJSON(["a": Nothing()]))
  }

  @Test func `a second container of another kind at one place is an error and no crash`() {
    struct Confused: Encodable {
      func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        try list.encode(1)
        var single = encoder.singleValueContainer()
        try single.encode("a")
      }
    }
    struct Doubled: Encodable {
      func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        try list.encode(1)
        var members = encoder.container(keyedBy: City.Keys.self)
        try members.encode(1, forKey: .name)
      }
    }
    #expect(throws: EncodingError.self) { try FirebaseDataEncoder().encode(Confused()) }
    #expect(throws: EncodingError.self) { try FirebaseDataEncoder().encode([Doubled()]) }
  }

  @Test func `a key whose value is not coded is left out`() throws {
    struct Identifier: Codable, StructureCodingUncodedUnkeyed { var text: String }
    struct Document: Codable { var id: Identifier, count: Int }
    let encoded = try FirebaseDataEncoder().encode(Document(id: Identifier(text: "x"), count: 2))
    #expect((encoded as? [String: Any])?.keys.sorted() == ["count"])
  }
}

extension City {
  enum Keys: String, CodingKey { case name }
}
