import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestoreSync

/// The changes of one view, in the order in which listeners receive them.
@Suite struct ViewTests {
  private func room(_ id: String, _ rank: Int64?) -> CachedDocument {
    let name = ResourceName(database: database, path: path("rooms/\(id)"))
    guard let rank else { return CachedDocument(name, .missing, version: Timestamp(seconds: 2)) }
    return CachedDocument(name, .found(["rank": .integer(rank)]), version: Timestamp(seconds: 2))
  }

  private func changes(_ rooms: [CachedDocument]) -> [DocumentKey: CachedDocument] {
    Dictionary(uniqueKeysWithValues: rooms.map { ($0.path, $0) })
  }

  @Test func `removals are first, then additions, then modifications, each in the order of the query`() throws {
    let rank = NormalQuery.Order(FieldPath(["rank"]))
    let query = try LocalQuery(database: database, path: path("rooms"), orders: [rank])
    var view = QueryView(query, id: QueryID(query), remoteKeys: [])
    let first = ["h", "g", "f", "e", "d", "c", "b", "a"].enumerated().map { room($1, Int64($0)) }
    let initial = view.apply(view.computeChanges(changes(first)))
    #expect(initial.snapshot?.changes.map(\.document.path.lastSegment) == ["h", "g", "f", "e", "d", "c", "b", "a"])
    #expect(initial.snapshot?.changes.allSatisfy { $0.kind == .added } == true)
    let next = [
      room("a", nil), room("h", nil), room("b", 1), room("g", 6), room("z", -1), room("x", 9), room("y", 3),
    ]
    let outcome = view.apply(view.computeChanges(changes(next)))
    let told = outcome.snapshot?.changes.map { "\($0.kind) \($0.document.path.lastSegment)" }
    #expect(
      told == [
        "removed h", "removed a", "added z", "added y", "added x", "modified b", "modified g",
      ])
  }

  @Test(arguments: [
    (DocumentViewChange.Kind.added, DocumentViewChange.Kind.metadata, DocumentViewChange.Kind?.some(.added), 2),
    (.modified, .metadata, .modified, 2), (.metadata, .metadata, .metadata, 2), (.metadata, .modified, .modified, 2),
    (.metadata, .removed, .removed, 2), (.modified, .modified, .modified, 2), (.added, .modified, .added, 2),
    (.added, .removed, nil, 0), (.modified, .removed, .removed, 1), (.removed, .added, .modified, 2),
  ])
  func `two changes of a document are one`(
    first: DocumentViewChange.Kind, second: DocumentViewChange.Kind, merged: DocumentViewChange.Kind?, version: Int
  ) {
    let name = ResourceName(database: database, path: path("rooms/a"))
    var set = DocumentChangeSet()
    for (kind, version) in [(first, Int64(1)), (second, 2)] {
      set.add(DocumentViewChange(kind, CachedDocument(name, .found([:]), version: Timestamp(seconds: version))))
    }
    let change = set.changes[path("rooms/a")]
    #expect(change?.kind == merged && (change?.document.version.seconds ?? 0) == Int64(version))
  }
}
