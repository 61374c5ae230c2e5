import Testing
import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestoreSync

/// The parts of the local store, each without the others.
@Suite struct CachePartsTests {
  private let key = path("rooms/a")

  @Test func `with the eager policy a document is an orphan from its last reference on`() {
    var uses = DocumentUses(.eager)
    uses.views.insert(key, 2)
    uses.hold(key)
    uses.noteStored(key, isReferenced: false)
    #expect(uses.takeOrphans() == [] && uses.contains(key))
    uses.views.remove(key, 2)
    uses.release([key])
    #expect(uses.takeOrphans() == [key] && !uses.contains(key))
    uses.noteStored(key, isReferenced: true)
    #expect(uses.takeOrphans() == [])
    uses.noteResolved(key, isReferenced: false)
    #expect(uses.takeOrphans() == [key])
    #expect(uses.takeChanged() == [] && uses.number(of: key) == nil)
  }

  @Test func `with the other policy a document has the number of its last use`() {
    var uses = DocumentUses(.leastRecentlyUsed(bytes: nil))
    uses.number = 3
    uses.noteStored(key, isReferenced: false)
    uses.number = 4
    uses.noteStored(key, isReferenced: false)
    #expect(uses.number(of: key) == 3 && uses.takeChanged() == [key] && uses.takeOrphans() == [])
    uses.dereference(key)
    #expect(uses.number(of: key) == 4 && uses.takeChanged() == [key])
    uses.remove(path("rooms/b"), mayHaveRow: false)
    #expect(uses.takeChanged() == [])
    uses.remove(path("rooms/b"), mayHaveRow: true)
    uses.remove(key, mayHaveRow: false)
    #expect(uses.takeChanged() == [key, path("rooms/b")] && uses.number(of: key) == nil)
  }

  @Test func `documents of acknowledged writes stay until a snapshot of the writes, or beyond a limit`() {
    var uses = DocumentUses(.eager)
    for number in 1...3 { uses.hold(path("rooms/r\(number)"), until: Timestamp(seconds: Int64(number))) }
    #expect(uses.takeAcknowledged(upTo: Timestamp(seconds: 1), limit: 9) == [path("rooms/r1")])
    #expect(uses.takeAcknowledged(upTo: .zero, limit: 1) == [path("rooms/r2")])
    #expect(uses.contains(path("rooms/r3")) && !uses.contains(path("rooms/r2")))
  }

  private func documents(_ fields: MapValue) -> LocalDocuments {
    var remote = RemoteDocuments(database: database)
    let name = ResourceName(database: database, path: key)
    remote.insert(CachedDocument(name, .found(fields), version: Timestamp(seconds: 4)))
    return LocalDocuments(remote: remote, writes: PendingWrites(user: UTF8String("alice")))
  }

  @Test func `pending writes are shown on top of the backend's document, and only the current user's`() throws {
    var documents = documents(["n": .integer(1)])
    _ = documents.writes.add([set("rooms/a", ["n": .integer(2)])], base: [], at: .zero)
    documents.recalculateOverlays(of: [key])
    #expect(documents.document(key).fields == ["n": .integer(2)] && documents.document(key).hasLocalMutations)
    let one = try query("rooms", [Filter.field(path: "n", .equal, .integer(1))])
    let two = try query("rooms", [Filter.field(path: "n", .equal, .integer(2))])
    #expect(documents.results(of: one, previous: nil).isEmpty)
    #expect(documents.results(of: two, previous: nil).keys.map { $0 } == [key])
    // The backend's documents, whatever is pending.
    #expect(documents.remembered(by: one) == [key])
    let changed = documents.changeUser(UTF8String("bob"))
    #expect(changed[key]?.fields == ["n": .integer(1)] && !documents.writes.hasOverlays)
    #expect(documents.writes.contains(key) && !documents.writes.isEmpty)
    #expect(documents.writes.all == [.init(user: UTF8String("alice"), id: 1)])
    #expect(documents.changeUser(UTF8String("alice"))[key]?.fields == ["n": .integer(2)])
  }

  @Test func `a batch that is no longer pending has the deletion of its row`() {
    var writes = PendingWrites(user: UTF8String(""))
    let batch = writes.add([set("rooms/a", [:])], base: [], at: .zero)
    let entries = writes.all
    #expect(writes.rows(of: entries).first?.value == batch.bytes)
    #expect(writes.remove(batch.id) != nil && writes.remove(batch.id) == nil)
    #expect(writes.rows(of: entries) == [CacheRow(key: entries[0].key.bytes, value: nil)])
  }

  @Test func `a target keeps its identifier, and begins anew when the cache does`() throws {
    var targets = TargetCache()
    let target = try query("rooms").target
    let (record, isNew) = targets.use(target, TargetKey(target), number: 1)
    #expect(isNew && record.id == 2)
    targets.update(record.resuming(at: [7], version: Timestamp(seconds: 7)))
    let (again, isNewAgain) = targets.use(target, TargetKey(target), number: 2)
    #expect(!isNewAgain && again.resumeToken == [7])
    targets.discard()
    #expect(targets.active[2]?.resumeToken == [] && targets.records[2]?.snapshotVersion == .zero)
    #expect(targets.endUse(of: 2)?.id == 2 && targets.endUse(of: 2) == nil && targets.active.isEmpty)
    let hall = try query("halls").target
    #expect(targets.use(hall, TargetKey(hall), number: 3).record.id == 4)
  }
}
