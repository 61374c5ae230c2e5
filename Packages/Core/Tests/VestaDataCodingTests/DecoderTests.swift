import Foundation
import Testing
import VestaDataCoding

@Suite struct DecoderTests {
  @Test func `what was encoded is decoded again`() throws {
    let encoded = try FirebaseDataEncoder().encode(City.lyon)
    #expect(try FirebaseDataDecoder().decode(City.self, from: encoded) == .lyon)
  }

  @Test func `native Swift values are decoded like the bridged ones`() throws {
    let native: [String: Any] = [
      "name": "Lyon", "population": 522_250 as Int32, "isCapital": false, "area": Float(47.5), "twinTowns": ["a", "b"],
      "mayor": Optional<[String: Any]>.none as Any, "streetsByName": [String: Any](),
    ]
    let city = try FirebaseDataDecoder().decode(City.self, from: native)
    #expect(city.population == 522_250 && city.mayor == nil && city.area == 47.5)
  }

  @Test func `numbers are converted only where nothing is lost`() throws {
    let decoder = FirebaseDataDecoder()
    #expect(try decoder.decode(Int.self, from: 5.0) == 5)
    #expect(try decoder.decode(UInt64.self, from: UInt64.max) == .max)
    #expect(try decoder.decode(Double.self, from: 3) == 3)
    for (value, type) in [(5.5 as Any, "Int"), (1e300, "Int"), (UInt64.max, "Int"), (Double.infinity, "Int")] {
      #expect(throws: DecodingError.self, "\(type)") { try decoder.decode(Int.self, from: value) }
    }
    #expect(throws: DecodingError.self) { try decoder.decode(Int8.self, from: 300) }
    #expect(throws: DecodingError.self) { try decoder.decode(UInt.self, from: -1) }
    #expect(throws: DecodingError.self) { try decoder.decode(Float.self, from: 1e300) }
  }

  @Test func `a boolean is not a number, and a number is not a boolean`() {
    let decoder = FirebaseDataDecoder()
    #expect(throws: DecodingError.self) { try decoder.decode(Int.self, from: true) }
    #expect(throws: DecodingError.self) { try decoder.decode(Double.self, from: NSNumber(value: true)) }
    #expect(throws: DecodingError.self) { try decoder.decode(Bool.self, from: 1) }
    #expect(throws: DecodingError.self) { try decoder.decode(Bool.self, from: NSNumber(value: Int8(1))) }
  }

  @Test func `an error names the path to what does not fit`() throws {
    let broken: [String: Any] = ["list": [["birthYear": 1, "givenName": "A"], ["birthYear": "x", "givenName": "B"]]]
    let error = #expect(throws: DecodingError.self) {
      try FirebaseDataDecoder().decode([String: [Person]].self, from: broken)
    }
    guard case .typeMismatch(_, let context)? = error else { throw CocoaError(.coderInvalidValue) }
    #expect(context.codingPath.map(\.stringValue) == ["list", "Index 1", "birthYear"])
  }

  @Test func `a missing key and a null are distinguished`() throws {
    let decoder = FirebaseDataDecoder()
    let missing = #expect(throws: DecodingError.self) { try decoder.decode(Person.self, from: ["givenName": "A"]) }
    guard case .keyNotFound(let key, _)? = missing else { throw CocoaError(.coderInvalidValue) }
    #expect(key.stringValue == "birthYear")
    let null = #expect(throws: DecodingError.self) {
      try decoder.decode(Person.self, from: ["givenName": "A", "birthYear": NSNull()])
    }
    guard case .valueNotFound? = null else { throw CocoaError(.coderInvalidValue) }
  }

  @Test func `a short array is an error, and a failed element is not passed over`() throws {
    struct Pair: Decodable {
      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        #expect((try? list.decode(Int.self)) == nil)
        #expect(try list.decode(String.self) == "a")
        #expect(try list.decodeNil())
        #expect(list.isAtEnd)
        _ = try list.decode(String.self)
      }
    }
    #expect(throws: DecodingError.self) { try FirebaseDataDecoder().decode(Pair.self, from: ["a", NSNull()] as [Any]) }
  }

  @Test func `each date and data strategy reads what its encoding writes`() throws {
    let date = Date(timeIntervalSince1970: 1_234_567_890)
    let encoder = FirebaseDataEncoder()
    let decoder = FirebaseDataDecoder()
    let pairs: [(FirebaseDataEncoder.DateEncodingStrategy, FirebaseDataDecoder.DateDecodingStrategy)] = [
      (.deferredToDate, .deferredToDate), (.secondsSince1970, .secondsSince1970),
      (.millisecondsSince1970, .millisecondsSince1970), (.iso8601, .iso8601),
    ]
    for (encoding, decoding) in pairs {
      encoder.dateEncodingStrategy = encoding
      decoder.dateDecodingStrategy = decoding
      #expect(try decoder.decode([Date].self, from: encoder.encode([date])) == [date])
    }
    let kinds: [(FirebaseDataEncoder.DataEncodingStrategy, FirebaseDataDecoder.DataDecodingStrategy)] = [
      (.deferredToData, .deferredToData), (.base64, .base64), (.blob, .blob),
    ]
    for (encoding, decoding) in kinds {
      encoder.dataEncodingStrategy = encoding
      decoder.dataDecodingStrategy = decoding
      #expect(try decoder.decode([Data].self, from: encoder.encode([Data([0, 255])])) == [Data([0, 255])])
    }
    #expect(throws: DecodingError.self) {
      decoder.dateDecodingStrategy = .iso8601; _ = try decoder.decode(Date.self, from: "soon")
    }
  }

  @Test func `URLs and decimals are decoded from strings and numbers`() throws {
    struct Both: Codable, Equatable { var url: URL, price: Decimal }
    let both = try Both(
      url: #require(URL(string: "https://example.com/a?b")), price: #require(Decimal(string: "12.34")))
    #expect(try FirebaseDataDecoder().decode(Both.self, from: FirebaseDataEncoder().encode(both)) == both)
  }

  @Test func `snake case is turned back for types and not for dictionaries`() throws {
    let encoder = FirebaseDataEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    let decoder = FirebaseDataDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    #expect(try decoder.decode(City.self, from: encoder.encode(City.lyon)) == .lyon)
  }

  @Test func `a value that is not coded is made from the decoder of its container, with its key or without`() throws {
    struct Identifier: Decodable, Equatable, StructureCodingUncodedUnkeyed {
      var text: String
      init(from decoder: any Decoder) throws {
        let known = CodingUserInfoKey(rawValue: "id").flatMap { decoder.userInfo[$0] as? String } ?? ""
        text = "\(known) at \(decoder.codingPath.count)"
      }
    }
    struct Document: Decodable { var id: Identifier, other: Identifier?, count: Int }
    let decoder = FirebaseDataDecoder()
    decoder.userInfo = try [#require(CodingUserInfoKey(rawValue: "id")): "d1"]
    for structure in [["count": 2], ["count": 2, "id": 5, "other": NSNull()]] as [[String: Any]] {
      let document = try decoder.decode([String: Document].self, from: ["a": structure])["a"]
      #expect(document?.id.text == "d1 at 1" && document?.other?.text == "d1 at 1")
    }
  }

  @Test func `a configuration value converts itself`() throws {
    struct Settings: Decodable, Equatable {
      var limit: Int
      var isOn: Bool
      var title: String
      var names: [String]
    }
    let values: [String: Any] = [
      "limit": Configured(text: "12"), "isOn": Configured(text: "yes"), "title": Configured(text: "T"),
      "names": Configured(text: "a b"),
    ]
    let settings = try FirebaseDataDecoder().decode(Settings.self, from: values)
    #expect(settings == Settings(limit: 12, isOn: true, title: "T", names: ["a", "b"]))
  }
}

private struct Configured: FirebaseRemoteConfigValueDecoding {
  var text: String
  func numberValue() -> NSNumber { NSNumber(value: Int(text) ?? 0) }
  func boolValue() -> Bool { text == "yes" }
  func stringValue() -> String { text }
  func dataValue() -> Data { Data(text.utf8) }
  func arrayValue() -> [AnyHashable]? { text.split(separator: " ").map { String($0) as AnyHashable } }
  func dictionaryValue() -> [String: AnyHashable]? { nil }
}
