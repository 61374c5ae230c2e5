import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaTesting

/// Streams whose consumers do not read.
@Suite(.timeLimit(.minutes(15)))
struct LaggingStreamTests {
  private struct Counted: Decodable {
    static let decoded = Locked(0)
    let n: Int

    init(from decoder: any Decoder) throws {
      Self.decoded.withLock { $0 += 1 }
      n = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .n)
    }

    private enum CodingKeys: CodingKey { case n }
  }

  @Test func `only the snapshots that the consumer takes are decoded`() async throws {
    let app = try makeApp()
    let db = try Firestore.instance(for: app)
    let notes = db.collection("notes")
    try await notes.document("a").setData(["n": 0])
    var iterator = notes.snapshots(as: Counted.self).makeAsyncIterator()
    #expect(try await iterator.next()?.map(\.n) == [0])
    for n in 1...100 { try await notes.document("a").setData(["n": n]) }
    var last = 0
    while last < 100 { last = try await iterator.next()?.first?.n ?? 100 }
    #expect(last == 100)
    #expect(Counted.decoded.withLock { $0 } < 50)
    await app.delete()
  }

  @Test func `a snapshot that stands for many has the changes since the last one that was taken`() async throws {
    let app = try makeApp()
    let db = try Firestore.instance(for: app)
    let notes = db.collection("notes")
    for id in ["a", "b", "c"] { try await notes.document(id).setData(["n": 0]) }
    var iterator = notes.snapshots.makeAsyncIterator()
    #expect(try await iterator.next()?.documentChanges.count == 3)
    for n in 1...50 { try await notes.document("a").setData(["n": n]) }
    try await notes.document("b").delete()
    try await notes.document("d").setData(["n": 4])
    var seen: [String: DocumentChangeType] = [:]
    while seen.count < 3, let snapshot = try await iterator.next() {
      for change in snapshot.documentChanges { seen[change.document.documentID] = change.type }
    }
    #expect(seen == ["a": .modified, "b": .removed, "d": .added])
    await app.delete()
  }
}
