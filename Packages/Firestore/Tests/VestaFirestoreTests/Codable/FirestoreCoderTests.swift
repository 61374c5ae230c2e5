import Foundation
import Testing

@testable import VestaFirestore
@testable import VestaFirestoreModel

@Suite struct FirestoreCoderTests {
  struct City: Codable, Equatable {
    @DocumentID var id: String?
    var name: String
    var founded: Date?
    @ServerTimestamp var updated: Date?
    @ExplicitNull var mayor: String?
    var position: GeoPoint
    var embedding: VectorValue
    var crest: Data
    var tags: [String]
    var visits = 3
  }

  let city = City(
    id: "ignored", name: "Berlin", founded: Date(timeIntervalSince1970: 100), updated: nil, mayor: nil,
    position: GeoPoint(latitude: 52.5, longitude: 13.4), embedding: VectorValue([1.0, 2.0]), crest: Data([1]),
    tags: ["a"])

  var reference: DocumentReference { testDatabase.document("cities/berlin") }

  @Test func `Firestore's own types, dates and data are kept`() throws {
    let fields = try Firestore.Encoder().encode(city)
    #expect(fields["id"] == nil)
    #expect(fields["name"] as? String == "Berlin")
    #expect(fields["founded"] as? Timestamp == Timestamp(seconds: 100, nanoseconds: 0))
    #expect(fields["updated"] as? FieldValue == FieldValue.serverTimestamp())
    #expect(fields["mayor"] is NSNull)
    #expect(fields["position"] as? GeoPoint == city.position)
    #expect(fields["embedding"] as? VectorValue == city.embedding)
    #expect(fields["crest"] as? Data == Data([1]))
    #expect(fields["visits"] as? Int == 3)
  }

  @Test func `what was encoded decodes to the same value with the document's id`() throws {
    var fields = try Firestore.Encoder().encode(city)
    fields["updated"] = Timestamp(seconds: 7, nanoseconds: 0)
    let read = try Firestore.Decoder().decode(City.self, from: fields, in: reference)
    var expected = city
    expected.id = "berlin"
    expected.updated = Date(timeIntervalSince1970: 7)
    #expect(read == expected)
  }

  @Test func `data is in base64 where both strategies say so`() throws {
    struct Crest: Codable, Equatable { var bytes: Data, more: [Data] }
    let crest = Crest(bytes: Data([0, 255]), more: [Data(), Data([1])])
    let (encoder, decoder) = (Firestore.Encoder(), Firestore.Decoder())
    encoder.dataEncodingStrategy = .base64
    decoder.dataDecodingStrategy = .base64
    let fields = try encoder.encode(crest)
    #expect(fields["bytes"] as? String == "AP8=" && fields["more"] as? [String] == ["", "AQ=="])
    #expect(try decoder.decode(Crest.self, from: fields) == crest)
    #expect(throws: DecodingError.self) { try decoder.decode(Crest.self, from: ["bytes": "?", "more": [String]()]) }
    #expect(throws: DecodingError.self) { try Firestore.Decoder().decode(Crest.self, from: fields) }
  }

  @Test func `a type that is known when the program runs is decoded`() throws {
    struct Room: Codable, Equatable { var n: Int }
    struct Hall: Codable, Equatable { var n: Int, seats: [Int] }
    let types: [any Decodable.Type] = [Room.self, Hall.self]
    let decoded = try types.map { try Firestore.Decoder().decode($0, from: ["n": 1, "seats": [2, 3]]) }
    #expect(decoded[0] as? Room == Room(n: 1) && decoded[1] as? Hall == Hall(n: 1, seats: [2, 3]))
  }

  @Test func `a document id cannot be decoded without a document`() {
    struct Named: Codable { @DocumentID var id: String? }
    #expect(throws: FirestoreDecodingError.self) { try Firestore.Decoder().decode(Named.self, from: ["a": 1]) }
  }

  @Test func `only a map can be a document`() {
    #expect(throws: EncodingError.self) { try Firestore.Encoder().encode([1, 2]) }
    #expect(throws: EncodingError.self) { try Firestore.Encoder().encode(7) }
  }

  @Test func `a missing explicit null and a missing server timestamp are errors`() {
    struct Null: Codable { @ExplicitNull var a: String? }
    struct Time: Codable { @ServerTimestamp var a: Date? }
    #expect(throws: DecodingError.self) { try Firestore.Decoder().decode(Null.self, from: [String: Any]()) }
    #expect(throws: DecodingError.self) { try Firestore.Decoder().decode(Time.self, from: [String: Any]()) }
  }

  @Test func `field values cannot be encoded by another encoder`() {
    struct Visit: Encodable { var count = FieldValue.increment(Int64(1)) }
    #expect(throws: FirestoreEncodingError.self) { try JSONEncoder().encode(Visit()) }
    #expect(throws: FirestoreEncodingError.self) { try JSONEncoder().encode(["a": reference]) }
  }

  @Test func `timestamps, geo points and vectors have a form in every encoder`() throws {
    let time = try JSONDecoder().decode(
      Timestamp.self, from: JSONEncoder().encode(Timestamp(seconds: 5, nanoseconds: 6)))
    #expect(time == Timestamp(seconds: 5, nanoseconds: 6))
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Timestamp.self, from: Data(#"{"seconds":1,"nanoseconds":-1}"#.utf8))
    }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(GeoPoint.self, from: Data(#"{"latitude":91,"longitude":0}"#.utf8))
    }
  }

  @Test func `key strategies rename fields both ways`() throws {
    struct Person: Codable, Equatable { var firstName: String }
    let encoder = Firestore.Encoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    let fields = try encoder.encode(Person(firstName: "Ada"))
    #expect(fields["first_name"] as? String == "Ada")
    let decoder = Firestore.Decoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    #expect(try decoder.decode(Person.self, from: fields) == Person(firstName: "Ada"))
  }
}
