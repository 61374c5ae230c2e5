import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestoreSync

/// Which targets and documents of a cache go.
@Suite struct GarbageTests {
  private var store = LocalStore(
    database: database, user: "", policy: .leastRecentlyUsed(bytes: nil))
  private var version: Int64 = 0

  private func target(_ document: String) -> QueryTarget { QueryTarget(database: database, path: path(document)) }

  /// A target of one document that the backend has sent, in use until it is released.
  private mutating func fetch(_ document: String) -> Int32 {
    let record = store.allocate(target(document))
    version += 1
    var event = RemoteEvent(version: Timestamp(seconds: version))
    var update = TargetUpdate()
    update.added = [path(document)]
    update.resumeToken = [1]
    update.isCurrent = true
    event.targetChanges[record.id] = update
    let name = ResourceName(database: database, path: path(document))
    event.documentUpdates[path(document)] = CachedDocument(
      name, .found(["n": .integer(version)]), version: Timestamp(seconds: version))
    _ = store.apply(event)
    return record.id
  }

  private func has(_ document: String) -> Bool { store.documents[path(document)].isValid }

  /// Documents `d0` to `d9`, fetched and released in this order.
  private mutating func fill() {
    for number in 0..<10 { store.release(fetch("rooms/d\(number)")) }
  }

  @Test mutating func `a document counts with its name, 32 bytes more and its fields`() throws {
    _ = fetch("rooms/d0")
    let document = try #require(store.documents[path("rooms/d0")].document)
    let fields = DocumentSize.size(of: document.fields)
    #expect(fields > 0)
    #expect(store.byteSize == DocumentSize.size(ofName: document.name) + 32 + fields)
  }

  @Test mutating func `nothing is evicted while the cache is smaller than its limit`() {
    fill()
    #expect(store.collectGarbage(threshold: store.byteSize + 1, percentile: 100) == LocalStore.GarbageResult())
    #expect(store.targets.records.count == 10 && store.documents.count == 10)
    #expect(store.collectGarbage(threshold: store.byteSize, percentile: 100).targets == 10)
  }

  @Test mutating func `the least recently used targets go first, with the documents that nothing else has`() {
    fill()
    #expect(store.collectGarbage(threshold: 0, percentile: 30) == LocalStore.GarbageResult(targets: 3, documents: 3))
    for number in 0..<10 { #expect((store.targets.record(of: target("rooms/d\(number)")) == nil) == (number < 3)) }
    for number in 0..<10 { #expect(has("rooms/d\(number)") == (number >= 3)) }
  }

  @Test mutating func `a target that is used again is evicted last`() {
    fill()
    store.release(store.allocate(target("rooms/d0")).id)
    #expect(store.collectGarbage(threshold: 0, percentile: 10) == LocalStore.GarbageResult(targets: 1, documents: 1))
    #expect(store.targets.record(of: target("rooms/d0")) != nil)
    #expect(store.targets.record(of: target("rooms/d1")) == nil)
  }

  @Test mutating func `what is listened to, shown or written to stays`() {
    fill()
    _ = store.allocate(target("rooms/d0"))
    let shown = LocalStore.ViewReferences(target: 99, isFromCache: true, added: [path("rooms/d1")], removed: [])
    store.noteViews([shown])
    _ = store.write([set("rooms/d2", [:])], at: Timestamp(seconds: 1))
    for _ in 0..<3 { _ = store.collectGarbage(threshold: 0, percentile: 100) }
    #expect(store.documents.all.map(\.path).sorted() == ["d0", "d1", "d2"].map { path("rooms/\($0)") })
    #expect(store.targets.records.count == 1)
  }

  @Test mutating func `no more than a maximum is evicted at once`() {
    fill()
    #expect(store.collectGarbage(threshold: 0, percentile: 100, maximum: 4).targets == 4)
    #expect(store.targets.records.count == 6 && store.documents.count == 6)
    #expect(store.collectGarbage(threshold: 0, percentile: 0) == LocalStore.GarbageResult())
    #expect(store.collectGarbage(threshold: 0, percentile: 9) == LocalStore.GarbageResult(targets: 1, documents: 1))
  }

  @Test mutating func `an eager cache keeps what a target, a view or a write refers to, and no more`() {
    store = LocalStore(database: database, user: "", policy: .eager)
    let id = fetch("rooms/a")
    #expect(has("rooms/a"))
    store.noteViews([.init(target: id, isFromCache: false, added: [path("rooms/a")], removed: [])])
    let batch = store.write([set("rooms/a", [:])], at: Timestamp(seconds: 1)).batch
    store.release(id)
    #expect(has("rooms/a") && store.targets.records.isEmpty)
    _ = store.reject(batch)
    #expect(!has("rooms/a"))
    #expect(store.collectGarbage(threshold: 0, percentile: 100) == LocalStore.GarbageResult())
  }
}

/// A cache with few targets and many bytes.
@Suite struct FewTargetsTests {
  @Test func `a cache of one released target shrinks below its limit`() throws {
    var store = LocalStore(database: database, user: "", policy: .leastRecentlyUsed(bytes: nil))
    let record = store.allocate(QueryTarget(database: database, path: path("rooms")))
    var event = RemoteEvent(version: Timestamp(seconds: 1))
    var update = TargetUpdate()
    (update.resumeToken, update.isCurrent) = ([1], true)
    for number in 0..<50 {
      let key = path("rooms/d\(number)")
      update.added.insert(key)
      let name = ResourceName(database: database, path: key)
      event.documentUpdates[key] = CachedDocument(name, .found(["n": .integer(1)]), version: Timestamp(seconds: 1))
    }
    event.targetChanges[record.id] = update
    _ = store.apply(event)
    store.release(record.id)
    let half = store.byteSize / 2
    let tuning = SyncTuning()
    _ = store.collectGarbage(
      threshold: half, percentile: tuning.garbagePercentile, maximum: tuning.garbageMaximum,
      rounds: tuning.garbageRounds)
    #expect(store.byteSize < half)
  }
}
