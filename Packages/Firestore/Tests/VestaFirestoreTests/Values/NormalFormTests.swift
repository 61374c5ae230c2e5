import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestore

/// Fields whose names differ in their normal form alone.
@Suite struct NormalFormTests {
  private let composed = "caf\u{E9}"
  private let decomposed = "cafe\u{301}"

  private func snapshot() -> DocumentSnapshot {
    var fields = MapValue()
    fields.set(.integer(1), at: VestaFirestoreModel.FieldPath([composed]))
    fields.set(.integer(2), at: VestaFirestoreModel.FieldPath([decomposed]))
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
}
