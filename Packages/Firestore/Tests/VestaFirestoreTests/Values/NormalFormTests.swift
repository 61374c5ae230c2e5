import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestore

/// Fields whose names differ in their normal form alone.
@Suite struct NormalFormTests {
  private let composed = "caf\u{E9}"
  private let decomposed = "cafe\u{301}"

  private var twins: MapValue {
    var fields = MapValue()
    fields.set(.integer(1), at: VestaFirestoreModel.FieldPath([composed]))
    fields.set(.integer(2), at: VestaFirestoreModel.FieldPath([decomposed]))
    return fields
  }

  private func snapshot() -> DocumentSnapshot { snapshot(twins) }

  private func snapshot(_ fields: MapValue) -> DocumentSnapshot {
    let reference = testDatabase.document("c/a")
    let name = ResourceName(database: testDatabase.database, path: reference.resourcePath)
    return DocumentSnapshot(
      reference: reference, document: CachedDocument(name, .found(fields), version: WireTimestamp(seconds: 1)),
      metadata: SnapshotMetadata(hasPendingWrites: false, isFromCache: false))
  }

  @Test func `each is read by its path, and the dictionary has the first with its own value`() throws {
    let snapshot = snapshot()
    #expect(snapshot.get(VestaFirestore.FieldPath([composed])) as? Int == 1)
    #expect(snapshot.get(VestaFirestore.FieldPath([decomposed])) as? Int == 2)
    let data = try #require(snapshot.data())
    let key = try #require(data.keys.first)
    // The value is that of the name that is there.
    #expect(data.count == 1 && data[key] as? Int == (Array(key.utf8) == Array(composed.utf8) ? 1 : 2))
  }

  @Test func `names that are left out are reported, and decoding throws`() throws {
    let snapshot = snapshot()
    let left = Log<String>()
    var writer = UserDataWriter(behavior: .none) { _ in nil }
    writer.leftOut = { left.add($0) }
    _ = writer.dictionary(try #require(snapshot.document?.fields))
    #expect(left.entries.count == 1)
    #expect(throws: DecodingError.self) { try snapshot.data(as: [String: Int].self) }
  }

  private struct Named: Decodable, Equatable {
    enum CodingKeys: String, CodingKey { case name = "caf\u{E9}", kelvin = "\u{212A}" }
    var name: Int
    var kelvin: Int?
  }

  @Test func `a name is found in another normal form, as in a dictionary`() throws {
    #expect(try snapshot([decomposed: .integer(3)]).data(as: Named.self) == Named(name: 3))
    #expect(try snapshot([composed: .integer(4), "K": .integer(5)]).data(as: Named.self) == Named(name: 4, kelvin: 5))
    #expect(throws: DecodingError.self) { try snapshot(["cafe": .integer(1)]).data(as: Named.self) }
  }

  @Test func `names of a map that is not decoded are not looked at`() throws {
    struct Whole: Decodable { var n: Int }
    struct Part: Decodable { var twins: [String: Int] }
    let fields: MapValue = ["n": .integer(1), "twins": .map(twins)]
    #expect(try snapshot(fields).data(as: Whole.self).n == 1)
    #expect(throws: DecodingError.self) { try snapshot(fields).data(as: Part.self) }
    let listed: MapValue = ["a": .array([.map(twins)])]
    #expect(throws: DecodingError.self) { try snapshot(listed).data(as: [String: [[String: Int]]].self) }
  }
}
