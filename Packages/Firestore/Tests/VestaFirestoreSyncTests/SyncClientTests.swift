import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaStoreInterop
import VestaStoreInteropFakes

@Suite(.timeLimit(.minutes(15)))
struct SyncClientTests {
  @Test func `a listener sees a write at once and again when it is acknowledged`() async throws {
    let client = World().client()
    let received = Received()
    let registration = client.listen(try query("rooms"), options: ListenOptions(includesMetadata: true)) {
      received.receive($0)
    }
    _ = try await received.first { !$0.isFromCache }
    let write = client.write([set("rooms/a", ["n": .integer(1)])])
    #expect(received.snapshots.last?.ids == ["a"])
    #expect(received.snapshots.last?.hasPendingWrites == true)
    try await write.acknowledged()
    let synced = try await received.first { !$0.hasPendingWrites && !$0.isFromCache && $0.documents.count == 1 }
    #expect(synced.ids == ["a"])
    registration.remove()
    await client.shutdown()
  }

  @Test func `a client receives the writes of another client`() async throws {
    let world = World()
    let (one, two) = (world.client(), world.client())
    let received = Received()
    let registration = one.listen(try query("rooms"), options: ListenOptions()) { received.receive($0) }
    try await two.write([set("rooms/a", ["n": .integer(1)])]).acknowledged()
    try await two.write([set("rooms/b", ["n": .integer(2)])]).acknowledged()
    let snapshot = try await received.first { $0.documents.count == 2 }
    #expect(snapshot.ids == ["a", "b"])
    registration.remove()
    await one.shutdown()
    await two.shutdown()
  }

  @Test func `a removed listener is not called again`() async throws {
    let client = World().client()
    let received = Received()
    // With metadata: on a starved machine the first event may be the offline one, and coming online is metadata alone.
    let options = ListenOptions(includesMetadata: true)
    let registration = client.listen(try query("rooms"), options: options) { received.receive($0) }
    _ = try await received.first { !$0.isFromCache }
    registration.remove()
    registration.remove()
    let count = received.snapshots.count
    try await client.write([set("rooms/a", [:])]).acknowledged()
    #expect(received.snapshots.count == count)
    await client.shutdown()
  }

  @Test func `writes wait while the network is disabled and go out when it is enabled`() async throws {
    let world = World()
    let client = world.client()
    await client.setNetworkEnabled(false)
    let write = client.write([set("rooms/a", ["n": .integer(1)])])
    try await write.localCommit()
    #expect(try await client.cachedDocument(path("rooms/a")).hasLocalMutations)
    #expect(try await world.client().lookup([path("rooms/a")])[0].isMissing)
    await client.setNetworkEnabled(true)
    try await write.acknowledged()
    #expect(try await client.lookup([path("rooms/a")])[0].fields == ["n": .integer(1)])
    await client.shutdown()
  }

  @Test func `a refused write is rolled back and reported`() async throws {
    let client = World().client()
    let received = Received()
    let registration = client.listen(try query("rooms"), options: ListenOptions(includesMetadata: true)) {
      received.receive($0)
    }
    _ = try await received.first { !$0.isFromCache }
    let patch = Mutation(
      path("rooms/a"), .patch(["n": .integer(1)], mask: FieldMask([FieldPath(["n"])])), precondition: .exists(true))
    await #expect(throws: FirestoreServiceError.self) { try await client.write([patch]).acknowledged() }
    try await client.write([set("rooms/b", [:])]).acknowledged()
    #expect(try await received.first { !$0.hasPendingWrites && $0.documents.count == 1 }.ids == ["b"])
    registration.remove()
    await client.shutdown()
  }

  @Test func `pending writes survive a restart and are sent then`() async throws {
    let world = World()
    let store = ModelStore()
    let first = world.client(store: store)
    await first.setNetworkEnabled(false)
    for number in 0..<20 { _ = first.write([set("rooms/r\(number)", ["n": .integer(Int64(number))])]) }
    try await first.write([set("rooms/last", [:])]).localCommit()
    await first.shutdown()
    let second = world.client(store: store)
    try await second.waitForPendingWrites()
    let names = (0..<20).map { path("rooms/r\($0)") }
    #expect(try await second.lookup(names).map(\.fields) == (0..<20).map { ["n": .integer(Int64($0))] })
    await second.shutdown()
    let third = world.client(store: store)
    try await third.waitForPendingWrites()
    #expect(try await third.cachedDocument(path("rooms/r3")).pending == .committed)
    await third.shutdown()
  }

  @Test func `an embedded client keeps rows of pending writes only and only without the network`() async throws {
    let world = World()
    let store = ModelStore()
    let client = world.client(store: store, isEmbedded: true)
    try await client.write([set("rooms/a", ["n": .integer(1)])]).acknowledged()
    #expect(try await store.read { try await $0.entries(in: .all) }.isEmpty)
    #expect(try await client.freshDocument(path("rooms/a"))?.fields == ["n": .integer(1)])
    await client.setNetworkEnabled(false)
    try await client.write([set("rooms/a", ["n": .integer(2)])]).localCommit()
    #expect(try await store.read { try await $0.entries(in: .all) }.count == 1)
    #expect(try await client.cachedDocument(path("rooms/a")).fields == ["n": .integer(2)])
    #expect(try await client.freshDocument(path("rooms/a")) == nil)
    await client.shutdown()
    let next = world.client(store: store, isEmbedded: true)
    try await next.waitForPendingWrites()
    #expect(try await next.freshDocument(path("rooms/a"))?.fields == ["n": .integer(2)])
    await next.shutdown()
    #expect(try await store.read { try await $0.entries(in: .all) }.isEmpty)
  }

  @Test func `a listener of an embedded client has the engine's documents at once and follows them`() async throws {
    let world = World()
    // With metadata: on a starved machine the first event may be the offline one.
    let options = ListenOptions(includesMetadata: true)
    let other = world.client()
    for id in ["a", "b", "c"] { try await other.write([set("rooms/\(id)", ["n": .integer(1)])]).acknowledged() }
    let client = world.client(isEmbedded: true)
    let (rooms, room) = (Received(), Received())
    let first = client.listen(try query("rooms"), options: options) { rooms.receive($0) }
    #expect(try await rooms.first { !$0.isFromCache }.ids == ["a", "b", "c"])
    // Not alone in its collection: it is followed by the watch stream from the start.
    let single = try LocalQuery(database: database, path: path("rooms/b"))
    let second = client.listen(single, options: options) { room.receive($0) }
    #expect(try await room.first { !$0.isFromCache }.ids == ["b"])
    try await other.write([Mutation(path("rooms/b"), .delete), set("rooms/d", [:])]).acknowledged()
    #expect(try await rooms.first { $0.documents.count == 3 && !$0.ids.contains("b") }.ids == ["a", "c", "d"])
    #expect(try await room.first { $0.documents.isEmpty }.ids == [])
    first.remove()
    second.remove()
    await client.shutdown()
    await other.shutdown()
  }

  @Test func `an embedded engine reports a missing document at once`() async throws {
    let world = World()
    // With metadata: on a starved machine the first event may be the offline one.
    let options = ListenOptions(includesMetadata: true)
    let client = world.client(isEmbedded: true)
    let received = Received()
    let query = try LocalQuery(database: database, path: path("rooms/none"))
    let registration = client.listen(query, options: options) { received.receive($0) }
    #expect(try await received.first { !$0.isFromCache }.ids == [])
    let other = world.client()
    try await other.write([set("rooms/none", [:])]).acknowledged()
    #expect(try await received.first { $0.documents.count == 1 }.ids == ["none"])
    registration.remove()
    await client.shutdown()
    await other.shutdown()
  }

  @Test func `embedded results have pending writes on top and keep their limit`() async throws {
    let client = World().client(isEmbedded: true)
    for id in ["a", "b", "c"] { try await client.write([set("rooms/\(id)", ["n": .integer(1)])]).acknowledged() }
    let two = try query("rooms", limit: 2)
    #expect(try await client.freshResults(two)?.ids == ["a", "b"])
    await client.setNetworkEnabled(false)
    _ = client.write([Mutation(path("rooms/a"), .delete)])
    let cached = try await client.cachedResults(two)
    #expect(cached.ids == ["b", "c"])
    #expect(cached.isFromCache)
    await client.shutdown()
  }

  @Test func `waiting for a write can be cancelled without cancelling the write`() async throws {
    let client = World().client()
    await client.setNetworkEnabled(false)
    let write = client.write([set("rooms/a", [:])])
    let waiter = Task { try await write.acknowledged() }
    waiter.cancel()
    await #expect(throws: CancellationError.self) { try await waiter.value }
    await client.setNetworkEnabled(true)
    try await write.acknowledged()
    await client.shutdown()
  }

  @Test func `after the end nothing is called and every call says so`() async throws {
    let client = World().client()
    await client.shutdown()
    await #expect(throws: FirestoreServiceError.self) { try await client.cachedDocument(path("rooms/a")) }
    await #expect(throws: FirestoreServiceError.self) { try await client.write([set("rooms/a", [:])]).acknowledged() }
    await #expect(throws: FirestoreServiceError.self) { try await client.waitForPendingWrites() }
  }

  @Test func `figures are computed by the backend and fail without the network`() async throws {
    let client = World().client()
    for id in ["a", "b"] { try await client.write([set("rooms/\(id)", ["n": .integer(3)])]).acknowledged() }
    let aggregations = [Aggregation(.count(upTo: nil), alias: "c"), Aggregation(.sum(fieldPath: "n"), alias: "s")]
    let figures = try await client.aggregate(try query("rooms"), aggregations)
    #expect(figures == ["c": .integer(2), "s": .integer(6)])
    await client.setNetworkEnabled(false)
    await #expect(throws: FirestoreServiceError.self) { try await client.aggregate(try query("rooms"), aggregations) }
    await client.shutdown()
  }

  @Test func `a damaged row of the cache costs the cache and no pending write`() async throws {
    let world = World()
    let store = ModelStore()
    let first = world.client(store: store)
    try await first.write([set("rooms/a", ["n": .integer(1)])]).acknowledged()
    await first.setNetworkEnabled(false)
    try await first.write([set("rooms/b", ["n": .integer(2)])]).localCommit()
    await first.shutdown()
    let rows = try await store.read { try await $0.entries(in: .all) }
    let document = try #require(
      rows.first { (try? CacheKey(Array($0.key.dropFirst(10)))) == .document(path("rooms/a")) })
    _ = try await store.write { try await $0.put([0xFF, 1], for: document.key) }
    let second = world.client(store: store)
    try await second.waitForPendingWrites()
    #expect(try await second.lookup([path("rooms/b")])[0].fields == ["n": .integer(2)])
    #expect(try await !second.cachedDocument(path("rooms/a")).isValid)
    await second.shutdown()
  }
}
