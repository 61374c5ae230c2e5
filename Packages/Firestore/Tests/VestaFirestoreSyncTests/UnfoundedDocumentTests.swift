import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync

/// Writes of a part of a document that is not in the cache.
@Suite struct UnfoundedDocumentTests {
  private let key = path("rooms/a")
  private let merge = Mutation(path("rooms/a"), .patch(["n": .integer(2)], mask: FieldMask([FieldPath(["n"])])))

  private func store() -> LocalStore {
    LocalStore(database: database, user: "", policy: .leastRecentlyUsed(bytes: nil))
  }

  private func time(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds) }

  /// A snapshot of the backend with the document.
  private func snapshot(_ fields: MapValue?, at seconds: Int64) -> RemoteEvent {
    var event = RemoteEvent(version: time(seconds))
    let name = ResourceName(database: database, path: key)
    event.documentUpdates[key] = CachedDocument(name, fields.map { .found($0) } ?? .missing, version: time(seconds))
    return event
  }

  private func acknowledge(_ mutation: Mutation, at seconds: Int64, _ store: inout LocalStore) throws {
    let batch = store.write([mutation], at: .zero).batch
    let results = [WriteResult(updateTime: time(seconds))]
    _ = store.acknowledge(try #require(BatchAcknowledgement(batch, commitTime: time(seconds), results: results)))
  }

  @Test func `an earlier document that arrives after the acknowledgement of a merge has the merge in it`() throws {
    var store = store()
    try acknowledge(merge, at: 5, &store)
    #expect(store.shown.document(key).fields == ["n": .integer(2)])
    let shown = store.apply(snapshot(["n": .integer(1), "name": .string("Hall")], at: 4))
    #expect(shown[key]?.fields == ["n": .integer(2), "name": .string("Hall")])
    #expect(shown[key]?.version == time(5) && shown[key]?.hasLocalMutations == false)
    // A change at the version of the write is the backend's, and an earlier one no longer counts.
    _ = store.apply(snapshot(["n": .integer(2)], at: 3))
    #expect(store.shown.document(key).fields?["name"] == .string("Hall"))
    let last = store.apply(snapshot(["n": .integer(2), "name": .string("Room")], at: 5))
    #expect(last[key]?.fields == ["n": .integer(2), "name": .string("Room")] && last[key]?.hasPendingWrites == false)
  }

  @Test func `an update of a document that is not known shows nothing until the backend has sent it`() throws {
    var store = store()
    let update = Mutation(key, merge.change, precondition: .exists(true))
    try acknowledge(update, at: 5, &store)
    _ = store.apply(snapshot(["n": .integer(1)], at: 4))
    #expect(!store.shown.document(key).isFound)
    let shown = store.apply(snapshot(["n": .integer(2)], at: 5))
    #expect(shown[key]?.fields == ["n": .integer(2)])
  }

  @Test func `several merges are applied in their order, and none that the earlier document has`() throws {
    var store = store()
    try acknowledge(merge, at: 5, &store)
    let second = Mutation(key, .patch(["n": .integer(7), "m": .integer(7)], mask: FieldMask([FieldPath(["n"])])))
    try acknowledge(second, at: 6, &store)
    let shown = store.apply(snapshot(["n": .integer(9), "name": .string("Hall")], at: 5))
    #expect(shown[key]?.fields == ["n": .integer(7), "name": .string("Hall")])
  }

  @Test func `a document that was set or deleted needs no earlier one`() throws {
    for last in [Mutation(key, .set(["x": .integer(1)])), Mutation(key, .delete)] {
      for first in [[merge], []] {
        var store = store()
        for (number, mutation) in (first + [last]).enumerated() {
          try acknowledge(mutation, at: 5 + Int64(number), &store)
        }
        let before = store.shown.document(key)
        _ = store.apply(snapshot(["n": .integer(1), "name": .string("Hall")], at: 4))
        #expect(store.shown.document(key) == before)
      }
    }
  }

  @Test func `a merge that is pending shows the other fields as soon as they are known`() throws {
    var store = store()
    _ = store.write([merge], at: .zero)
    let shown = store.apply(snapshot(["n": .integer(1), "name": .string("Hall")], at: 4))
    #expect(shown[key]?.fields == ["n": .integer(2), "name": .string("Hall")])
    #expect(shown[key]?.hasLocalMutations == true)
  }

  @Test func `views are told what the backend sends, also where the cache has it already`() throws {
    var store = store()
    _ = store.apply(snapshot(["n": .integer(1)], at: 4))
    #expect(store.apply(snapshot(["n": .integer(1)], at: 4)).keys.map(\.self) == [key])
    #expect(store.apply(snapshot(["n": .integer(0)], at: 3)).isEmpty)
  }
}
