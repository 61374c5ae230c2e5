import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaStoreInterop
import VestaTesting

/// A durable cache is read as far as events need it.
@Suite(.timeLimit(.minutes(15)))
struct LazyCacheTests {
  private let world = World()
  private let store = WatchedStore()

  private func item(_ number: Int) -> Mutation {
    set("items/i\(number)", ["group": .integer(Int64(number / 10)), "number": .integer(Int64(number))])
  }

  private func group(_ number: Int) throws -> LocalQuery {
    try query("items", [.field(path: "group", .equal, .integer(Int64(number)))])
  }

  /// A client whose cache has many items and some rooms, and that has ended.
  private func fillCache(items: Int, indexed: Bool = false) async throws {
    let writer = world.client()
    for first in stride(from: 0, to: items, by: 500) {
      try await writer.write((first..<min(items, first + 500)).map(item)).acknowledged()
    }
    try await writer.write((0..<5).map { set("rooms/r\($0)", ["n": .integer(Int64($0))]) }).acknowledged()
    await writer.shutdown()
    let client = world.client(store: store)
    try await follow("items", count: items, client)
    try await follow("rooms", count: 5, client)
    if indexed { try await makeIndex(client) }
    await client.shutdown()
  }

  private func follow(_ collection: String, count: Int, _ client: SyncClient) async throws {
    let received = Received()
    let options = ListenOptions(includesMetadata: true)
    let registration = client.listen(try query(collection), options: options) { received.receive($0) }
    _ = try await received.first { !$0.isFromCache && $0.documents.count == count }
    registration.remove()
  }

  /// Asks by group until the index has become rows.
  private func makeIndex(_ client: SyncClient) async throws {
    _ = try await client.cachedResults(group(1))
    while try await !store.all().contains(where: { isRow($0.key, tag: 11) }) { await Task.yield() }
  }

  /// Whether a key is of a client's row with a tag; the client's name is first.
  private func isRow(_ key: [UInt8], tag: UInt8) -> Bool {
    let start = SyncOptions().persistenceKey.utf8.count + 1
    return key.count > start && key[start] == tag
  }

  @Test func `a start reads no documents, and a document one row`() async throws {
    try await fillCache(items: 200)
    let client = world.client(store: store)
    await client.setNetworkEnabled(false)
    let (rows, document) = try await store.rows { try await client.cachedDocument(path("items/i7")) }
    #expect(document.fields?["number"] == .integer(7))
    #expect(rows < 20)
    let missing = try await store.rows { try await client.cachedDocument(path("items/none")) }
    #expect(!missing.result.isFound && missing.rows <= 1)
    let again = try await store.rows { try await client.cachedDocument(path("items/i7")) }
    #expect(again.rows == 0)
    await client.shutdown()
  }

  @Test func `a query reads its collection alone, and a collection group its collections`() async throws {
    try await fillCache(items: 200)
    var client = world.client(store: store)
    await client.setNetworkEnabled(false)
    let rooms = try await store.rows { try await client.cachedResults(query("rooms")) }
    #expect(rooms.result.documents.count == 5)
    #expect(rooms.rows < 30)
    await client.shutdown()
    client = world.client(store: store)
    await client.setNetworkEnabled(false)
    let group = try await store.rows { try await client.cachedResults(self.group(of: "rooms")) }
    #expect(group.result.documents.count == 5)
    #expect(group.rows < 40)
    let again = try await store.rows { try await client.cachedResults(self.group(of: "rooms")) }
    #expect(again.rows == 0)
    #expect(try await client.cachedResults(self.group(of: "items")).documents.count == 200)
    #expect(try await client.cachedResults(self.group(of: "none")).documents.isEmpty)
    await client.shutdown()
  }

  private func group(of id: String, _ filters: [Filter] = []) throws -> LocalQuery {
    try LocalQuery(database: database, path: ResourcePath([]), collectionGroup: CollectionID(id), filters: filters)
  }

  @Test func `a collection group is the documents of all its collections, with what is pending`() async throws {
    let writer = world.client()
    for room in 0..<5 {
      let messages = (0..<4).map { set("rooms/r\(room)/messages/m\($0)", ["n": .integer(Int64($0))]) }
      try await writer.write(messages + [set("rooms/r\(room)", ["n": .integer(1)])]).acknowledged()
    }
    await writer.shutdown()
    var client = world.client(store: store)
    try await follow("rooms", count: 5, client)
    for room in 0..<5 { try await follow("rooms/r\(room)/messages", count: 4, client) }
    await client.setNetworkEnabled(false)
    try await client.write([set("rooms/new/messages/m9", ["n": .integer(9)])]).localCommit()
    try await client.write([Mutation(path("rooms/r2/messages/m1"), .delete)]).localCommit()
    await client.shutdown()
    client = world.client(store: store)
    await client.setNetworkEnabled(false)
    #expect(try await client.cachedResults(group(of: "messages")).documents.count == 20)
    #expect(try await client.cachedResults(group(of: "rooms")).documents.count == 5)
    let below = try LocalQuery(database: database, path: path("rooms/r3"), collectionGroup: "messages")
    #expect(try await client.cachedResults(below).documents.count == 4)
    try await client.write([set("rooms/r0/messages/m7", ["n": .integer(7)])]).localCommit()
    let large = try group(of: "messages", [.field(path: "n", .greaterThanOrEqual, .integer(7))])
    #expect(try await client.cachedResults(large).ids == ["m7", "m9"])
    await client.shutdown()
  }

  /// The items with the largest numbers.
  private func largest(_ limit: Int, _ filters: [Filter] = []) throws -> LocalQuery {
    try LocalQuery(
      database: database, path: path("items"), filters: filters,
      orders: [NormalQuery.Order(FieldPath(["number"]), descending: true)], limit: limit)
  }

  /// Asks for the last items until the index of their numbers has become rows.
  private func makeOrderIndex(_ client: SyncClient) async throws {
    _ = try await client.cachedResults(largest(3))
    while try await !store.all().contains(where: { isRow($0.key, tag: 11) }) { await Task.yield() }
  }

  /// A client without a network that has just started, over a cache with `items` items and an index of their numbers.
  private func restartedWithOrderIndex(items: Int) async throws -> SyncClient {
    try await fillCache(items: items)
    let first = world.client(store: store)
    await first.setNetworkEnabled(false)
    try await makeOrderIndex(first)
    await first.shutdown()
    let client = world.client(store: store)
    await client.setNetworkEnabled(false)
    return client
  }

  @Test func `a limited query with a durable index of its order reads its results`() async throws {
    var client = try await restartedWithOrderIndex(items: 1_500)
    let found = try await store.rows { try await client.cachedResults(largest(5)) }
    #expect(found.result.ids == (1_495..<1_500).reversed().map { "i\($0)" })
    #expect(found.rows < 100)
    let again = try await store.rows { try await client.cachedResults(largest(5)) }
    #expect(again.rows == 0 && again.result.ids == found.result.ids)
    // The first item leaves, changes and returns, in memory and in rows.
    _ = client.write([Mutation(path("items/i1499"), .delete)])
    _ = client.write([set("items/i1498", ["number": .integer(-1)]), set("items/new", ["number": .integer(1_497)])])
    let later = try await store.rows { try await client.cachedResults(largest(4)) }
    #expect(later.result.ids == ["new", "i1497", "i1496", "i1495"])
    #expect(later.rows < 100)
    await client.shutdown()
    client = world.client(store: store)
    await client.setNetworkEnabled(false)
    let filtered = try largest(2, [.field(path: "number", .lessThan, .integer(1_400))])
    let restarted = try await store.rows { try await client.cachedResults(filtered) }
    #expect(restarted.result.ids == ["i1399", "i1398"])
    #expect(restarted.rows < 250)
    #expect(try await client.cachedResults(largest(4)).ids == later.result.ids)
    await client.shutdown()
  }

  @Test func `a limited listener that begins with the first results takes in the results after them`() async throws {
    let client = try await restartedWithOrderIndex(items: 1_500)
    let received = Received()
    let options = ListenOptions(includesMetadata: true, isCacheOnly: true)
    let registration = client.listen(try largest(3), options: options) { received.receive($0) }
    let write = client.write([Mutation(path("items/i1499"), .delete), Mutation(path("items/i1497"), .delete)])
    _ = try await received.first { $0.ids == ["i1498", "i1496", "i1495"] }
    #expect(received.snapshots.first?.ids == ["i1499", "i1498", "i1497"])
    try await write.localCommit()
    registration.remove()
    await client.shutdown()
  }

  @Test func `a query with a durable index reads its results, before and after writes`() async throws {
    try await fillCache(items: 1_500, indexed: true)
    var client = world.client(store: store)
    await client.setNetworkEnabled(false)
    let found = try await store.rows { try await client.cachedResults(group(42)) }
    #expect(found.result.ids == (420..<430).map { "i\($0)" })
    #expect(found.rows < 60)
    // Changes of documents that are not in memory change the entries of the index.
    await client.setNetworkEnabled(true)
    try await client.write([set("items/i420", ["group": .integer(43)]), item(5_000)]).acknowledged()
    try await client.write([set("items/i5000", ["group": .integer(42)])]).acknowledged()
    await client.shutdown()
    client = world.client(store: store)
    await client.setNetworkEnabled(false)
    let later = try await store.rows { try await client.cachedResults(group(42)) }
    #expect(later.result.ids == (421..<430).map { "i\($0)" } + ["i5000"])
    #expect(try await client.cachedResults(group(43)).ids.contains("i420"))
    #expect(later.rows < 60)
    await client.shutdown()
  }

  @Test func `a query without an index reads its collection, once`() async throws {
    try await fillCache(items: 300)
    let client = world.client(store: store)
    await client.setNetworkEnabled(false)
    let found = try await store.rows { try await client.cachedResults(largest(5)) }
    #expect(found.result.ids == (295..<300).reversed().map { "i\($0)" })
    #expect(found.rows >= 300 && found.rows < 330)
    let again = try await store.rows { try await client.cachedResults(largest(7)) }
    #expect(again.result.ids.count == 7)
    #expect(again.rows == 0)
    await client.shutdown()
  }

  /// A clock whose timers fire when a test says so.
  private final class KeptClock: Sendable {
    private let actions = Locked<[@Sendable () -> Void]>([])

    var service: ServiceClock {
      ServiceClock(now: { 1_700_000_000_000_000 }) { _, work in
        self.actions.withLock { $0.append(work) }
        return ListenerRegistration {}
      }
    }

    func fireAll() {
      let taken = actions.withLock { actions in
        defer { actions = [] }
        return actions
      }
      for action in taken { action() }
    }
  }

  @Test func `a cache below its limit is not read for its garbage`() async throws {
    try await fillCache(items: 200)
    for (limit, isRead) in [(1 << 20, false), (1_000, true)] {
      let clock = KeptClock()
      let client = world.client(store: store) {
        $0.clock = clock.service
        $0.garbagePolicy = .leastRecentlyUsed(bytes: limit)
      }
      await client.setNetworkEnabled(false)
      _ = try await client.cachedDocument(path("items/i7"))
      let collected = try await store.rows {
        clock.fireAll()
        return try await client.cachedDocument(path("rooms/r3"))
      }
      #expect(collected.result.isFound)
      #expect(isRead ? collected.rows > 200 : collected.rows == 1)
      let found = try await store.rows { try await client.cachedResults(query("rooms")) }
      #expect(found.result.documents.count == 5)
      #expect(isRead ? found.rows == 0 : found.rows < 30)
      await client.shutdown()
    }
  }

  @Test func `deleted indexes leave no rows`() async throws {
    try await fillCache(items: 1_500, indexed: true)
    let client = world.client(store: store)
    client.deleteAllIndexes()
    await client.shutdown()
    let rows = try await store.all()
    #expect(!rows.contains { isRow($0.key, tag: 10) || isRow($0.key, tag: 11) })
    #expect(rows.count { isRow($0.key, tag: 3) } == 1_505)
  }

  @Test func `writes, listeners and answers keep their order while rows are read`() async throws {
    try await fillCache(items: 200)
    let client = world.client(store: store)
    let received = Received()
    let options = ListenOptions(includesMetadata: true)
    let write = client.write([set("items/i3", ["group": .integer(77)])])
    let registration = client.listen(try group(77), options: options) { received.receive($0) }
    let document = try await client.cachedDocument(path("items/i3"))
    #expect(document.fields == ["group": .integer(77)])
    try await write.acknowledged()
    #expect(try await received.first { !$0.isFromCache && !$0.hasPendingWrites }.ids == ["i3"])
    registration.remove()
    await client.shutdown()
  }

  @Test func `a damaged document costs the cache, and no pending write`() async throws {
    try await fillCache(items: 200)
    var client = world.client(store: store)
    await client.setNetworkEnabled(false)
    try await client.write([set("items/new", ["group": .integer(0)])]).localCommit()
    await client.shutdown()
    let row = try await store.all().filter { isRow($0.key, tag: 3) }[50]
    _ = try await store.write { try await $0.put([0xFF, 1, 2], for: row.key) }
    let log = Log<String>()
    client = world.client(store: store) { $0.log = { log.add($0) } }
    await client.setNetworkEnabled(false)
    // Nothing is noticed until the row is read, with a listener at work.
    let rooms = Received()
    let options = ListenOptions(includesMetadata: true)
    let registration = client.listen(try query("rooms"), options: options) { rooms.receive($0) }
    _ = try await rooms.first { $0.documents.count == 5 }
    #expect(log.entries.isEmpty)
    #expect(try await client.cachedResults(query("items")).ids == ["new"])
    #expect(log.entries.count == 1)
    await client.setNetworkEnabled(true)
    try await client.waitForPendingWrites()
    try await follow("items", count: 201, client)
    let shown = try await rooms.first { !$0.isFromCache }
    #expect(shown.documents.count == 5)
    registration.remove()
    await client.shutdown()
    client = world.client(store: store)
    await client.setNetworkEnabled(false)
    #expect(try await client.cachedResults(query("items")).documents.count == 201)
    await client.shutdown()
  }

  @Test func `what cannot be read at the start is not overwritten`() async throws {
    var client = world.client(store: store)
    await client.setNetworkEnabled(false)
    try await client.write([set("items/kept", ["n": .integer(1)])]).localCommit()
    await client.shutdown()
    store.isUnreadable.withLock { $0 = true }
    client = world.client(store: store)
    await client.setNetworkEnabled(false)
    let write = client.write([set("items/other", ["n": .integer(2)])])
    await #expect(throws: StoreError.self) { try await write.localCommit() }
    await client.shutdown()
    store.isUnreadable.withLock { $0 = false }
    client = world.client(store: store)
    try await client.waitForPendingWrites()
    #expect(try await client.lookup([path("items/kept")])[0].isFound)
    await client.shutdown()
  }
}
