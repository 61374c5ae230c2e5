import Foundation
import Testing
import VestaCore
import VestaTesting

@testable import VestaFirestore
@testable import VestaFirestoreModel

/// An object is written as the dictionary would be that it encodes to.
@Suite struct SavedObjectTests {
  /// The entries as text, in which names of different normal forms differ, or the error.
  private func outcome(_ entries: () throws -> [UserEntry]) -> [UInt8] {
    do {
      return Array("\(try entries())".utf8)
    } catch EncodingError.invalidValue(_, let context) {
      return Array("\(context.codingPath.map(\.stringValue)): \(context.debugDescription)".utf8)
    } catch {
      return Array("\(error)".utf8)
    }
  }

  private func isSame(_ value: some Encodable, _ encoder: Firestore.Encoder) -> Bool {
    let isEqual =
      (try? UserValue.entries(of: encoder.encode(value))) == (try? encoder.entries(of: value))
    return isEqual
      && outcome { try UserValue.entries(of: encoder.encode(value)) } == outcome { try encoder.entries(of: value) }
  }

  private func encoder(_ random: inout SplitMix) -> Firestore.Encoder {
    let encoder = Firestore.Encoder()
    let formatter = DateFormatter()
    formatter.dateFormat = "yyyy"
    encoder.dateEncodingStrategy = random.pick([
      .timestamp, .timestamp, .deferredToDate, .secondsSince1970, .millisecondsSince1970, .iso8601,
      .formatted(formatter), .custom { _, _ in },
      .custom { date, encoder in
        var container = encoder.unkeyedContainer()
        try container.encode(date.timeIntervalSince1970)
        try container.encode(Timestamp(date: date))
      },
    ])
    encoder.dataEncodingStrategy = random.pick([
      .blob, .blob, .base64, .deferredToData, .custom { _, _ in },
      .custom { data, encoder in try ["n": UInt64(data.count) &- 1].encode(to: encoder) },
    ])
    if random.oneIn(2) {
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "+", negativeInfinity: "-", nan: "?")
    }
    encoder.keyEncodingStrategy = random.pick([
      .useDefaultKeys, .useDefaultKeys, .convertToSnakeCase,
      .custom { path in SavedTree.Key("k\(path.count)\(path.last?.stringValue ?? "")") },
    ])
    return encoder
  }

  @Test(arguments: UInt64(1)...3) func `random objects are written as their dictionaries`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var written = 0
    for round in 0..<600 {
      let (encoder, value) = (encoder(&random), SavedTree.document(&random))
      if (try? encoder.entries(of: value)) != nil { written += 1 }
      #expect(isSame(value, encoder), "seed \(seed), round \(round): \(value)")
    }
    #expect(written > 150)
  }

  // MARK: All forms of writing

  class Base: Codable {
    var one: Int? = 1
    init() {}
  }

  final class Derived: Base {
    var two: [String: Double] = ["x": 2]
    @ExplicitNull var none: String?
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: SavedTree.Key.self)
      try container.encode(two, forKey: SavedTree.Key("two"))
      try container.encode(_none, forKey: SavedTree.Key("none"))
      try super.encode(to: container.superEncoder())
    }
  }

  struct Room: Encodable {
    @DocumentID var id: String? = "ignored"
    var name = "é"
    var missing: Int?
    @ExplicitNull var guest: String?
    @ServerTimestamp var at: Date? = Date(timeIntervalSince1970: 7)
    var derived = Derived()
    var visits = FieldValue.increment(Int64(2))
    var tags = FieldValue.arrayUnion(["a", 1, 1.5])
    var owner = testDatabase.document("users/u")
    var place = GeoPoint(latitude: 1, longitude: 2)
    var vector = VectorValue([0.5])
    var bytes = Data([1])
    var numbers: [Int: Double] = [1: 0.5]
    var choice = SavedTree.Choice.two(first: "a", second: [nil])
    var empty: [String: Bool] = [:]
    var flags = [true, false]
    var price = Decimal(string: "9.99")
  }

  @Test func `every form of writing an object writes what its dictionary form writes`() async throws {
    let app = try makeApp()
    let db = try Firestore.instance(for: app)
    var room = Room()
    room.owner = db.document("users/u")
    let (fields, names) = (try Firestore.Encoder().encode(room), ["name", "derived.two", "visits", "guest"] as [Any])
    let rooms = db.collection("rooms")
    for id in ["p", "pm", "pf", "a", "am", "af", "c", "cm", "cf", "b", "bm", "bf", "t", "tm", "tf"] {
      try await rooms.document(id).setData(["old": 1, "visits": 3, "derived": ["two": ["y": 1], "old": 2]])
    }
    try await rooms.document("p").setData(fields)
    try await rooms.document("pm").setData(fields, merge: true)
    try await rooms.document("pf").setData(fields, mergeFields: names)
    try await rooms.document("a").setData(encoding: room)
    try await rooms.document("am").setData(encoding: room, merge: true)
    try await rooms.document("af").setData(encoding: room, mergeFields: names)
    try rooms.document("c").setData(from: room)
    try rooms.document("cm").setData(from: room, merge: true)
    try rooms.document("cf").setData(from: room, mergeFields: names)
    let batch = db.batch()
    try batch.setData(from: room, forDocument: rooms.document("b"))
    try batch.setData(from: room, forDocument: rooms.document("bm"), merge: true)
    try batch.setData(from: room, forDocument: rooms.document("bf"), mergeFields: names)
    try await batch.commit()
    try await db.runTransaction { [room] transaction in
      try transaction.setData(from: room, forDocument: rooms.document("t"))
      try transaction.setData(from: room, forDocument: rooms.document("tm"), merge: true)
      try transaction.setData(
        from: room, forDocument: rooms.document("tf"), mergeFields: ["name", "derived.two", "visits", "guest"])
    }
    let added = [try await rooms.addDocument(encoding: room), try rooms.addDocument(from: room)]
    try await db.waitForPendingWrites()
    for id in ["a", "b", "c", "t"] {
      for kind in ["", "m", "f"] {
        let expected = try await rooms.document("p" + kind).getDocument().document?.fields
        let found = try await rooms.document(id + kind).getDocument().document?.fields
        #expect(found == expected && expected?.isEmpty == false, "\(id)\(kind)")
      }
    }
    let plain = db.document("others/o")
    try await plain.setData(fields)
    for reference in added {
      #expect(try await reference.getDocument().document?.fields == plain.getDocument().document?.fields)
    }
    await app.delete()
  }
}
