import Foundation
import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync

@testable import VestaFirestore

/// The changes of a snapshot that stands for several: what is different from the last one that the consumer saw.
@Suite struct MergedSnapshotTests {
  private let query = testDatabase.collection("c").order(by: "n")

  private func document(_ number: Int, text: String, isPending: Bool = false) -> CachedDocument {
    let contents = CachedDocument.Contents.found(["n": .integer(Int64(number)), "text": .string(text)])
    let name = ResourceName(database: testDatabase.database, path: ResourcePath(["c", "\(number)"]))
    var document = CachedDocument(name, contents, version: WireTimestamp(seconds: 1))
    if isPending { document.mutateLocally(to: contents) }
    return document
  }

  private func snapshot(
    from old: [CachedDocument], to new: [CachedDocument], _ changes: [DocumentViewChange], withMetadata: Bool = true
  ) throws -> QuerySnapshot {
    let local = try query.description.local()
    var (before, after) = (DocumentSet(orders: local.orders), DocumentSet(orders: local.orders))
    before.insert(contentsOf: old)
    after.insert(contentsOf: new)
    let view = ViewSnapshot(
      query: local, id: QueryID(local), documents: after, oldDocuments: before, changes: changes,
      mutatedKeys: Set(new.filter(\.hasPendingWrites).map(\.path)), isFromCache: false, syncStateChanged: false,
      excludesMetadataChanges: !withMetadata, hasCachedResults: false)
    return QuerySnapshot(query: query, view: view)
  }

  @Test func `a document that changed twice is one change with its last fields`() throws {
    let states = ["a", "b", "c"].map { document(1, text: $0) }
    let waiting = try snapshot(from: [states[0]], to: [states[1]], [DocumentViewChange(.modified, states[1])])
    let new = try snapshot(from: [states[1]], to: [states[2]], [DocumentViewChange(.modified, states[2])])
    let changes = new.withChanges(since: waiting).documentChanges
    #expect(changes.map(\.type) == [.modified])
    #expect(changes.first?.document.get("text") as? String == "c")
  }

  @Test func `a document that changed and changed back is no change`() throws {
    let states = ["a", "b", "a"].map { document(1, text: $0) }
    let waiting = try snapshot(from: [states[0]], to: [states[1]], [DocumentViewChange(.modified, states[1])])
    let new = try snapshot(from: [states[1]], to: [states[2]], [DocumentViewChange(.modified, states[2])])
    #expect(new.withChanges(since: waiting).documentChanges(includeMetadataChanges: true) == [])
  }

  @Test(arguments: [true, false])
  func `a document of which only metadata changed is listed if the listener asked for that`(withMetadata: Bool) throws {
    let states = [
      document(1, text: "a", isPending: true), document(1, text: "b", isPending: true), document(1, text: "a"),
    ]
    let waiting = try snapshot(
      from: [states[0]], to: [states[1]], [DocumentViewChange(.modified, states[1])], withMetadata: withMetadata)
    let new = try snapshot(
      from: [states[1]], to: [states[2]], [DocumentViewChange(.modified, states[2])], withMetadata: withMetadata)
    let merged = new.withChanges(since: waiting)
    #expect(merged.view.changes == (withMetadata ? [DocumentViewChange(.metadata, states[2])] : []))
    #expect(merged.documentChanges == [])
    if withMetadata { #expect(merged.documentChanges(includeMetadataChanges: true).map(\.type) == [.modified]) }
  }

  @Test func `removals are first, then additions, then all other changes in the order of the query`() throws {
    let old = (1...21).map { document($0, text: "a", isPending: true) }
    let kept = (1...20).map { document($0, text: $0.isMultiple(of: 2) ? "b" : "a", isPending: $0.isMultiple(of: 2)) }
    let added = document(30, text: "a")
    let changes =
      kept.map { DocumentViewChange($0.hasPendingWrites ? .modified : .metadata, $0) }
      + [DocumentViewChange(.added, added), DocumentViewChange(.removed, old[20])]
    let waiting = try snapshot(from: old, to: old, [])
    let new = try snapshot(from: old, to: kept + [added], changes)
    let merged = new.withChanges(since: waiting).documentChanges(includeMetadataChanges: true)
    #expect(merged.map(\.type) == [.removed, .added] + Array(repeating: .modified, count: 20))
    #expect(merged.map { Int($0.document.documentID) } == [21, 30] + Array(1...20))
  }
}
