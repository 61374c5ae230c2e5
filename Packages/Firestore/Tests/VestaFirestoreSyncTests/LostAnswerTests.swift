import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreService
import VestaFirestoreSync
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

/// No acknowledged write is lost, and none is applied twice, also where answers do not arrive.
@Suite(.timeLimit(.minutes(15)))
struct LostAnswerTests {
  private static func increment(_ document: String = "rooms/a") -> Mutation {
    Mutation(
      path(document), .patch([:], mask: FieldMask([])), transforms: [.init(FieldPath(["n"]), .increment(.integer(1)))])
  }

  /// The store of a client whose process ends after the backend has committed its writes, and before their rows are
  /// deleted.
  private static func crashed(
    after count: Int, in world: World, isEmbedded: Bool = false
  ) async throws -> ModelStore {
    let store = ModelStore()
    let client = world.client(store: store, isEmbedded: isEmbedded)
    await client.setNetworkEnabled(false)
    let writes = (0..<count).map { _ in client.write([increment()]) }
    for write in writes { try await write.localCommit() }
    let rows = try await store.read { try await $0.entries(in: .all) }
    await client.setNetworkEnabled(true)
    for write in writes { try await write.acknowledged() }
    await client.shutdown()
    let crashed = ModelStore()
    _ = try await crashed.write { for row in rows { try await $0.put(row.value, for: row.key) } }
    return crashed
  }

  @Test(arguments: [false, true])
  func `a write whose answer is lost with the connection is applied once`(isEmbedded: Bool) async throws {
    let world = World()
    let backend = DroppingBackend(world.engine, drops: [0, 3, 4, 11])
    let client = world.client(of: backend, isEmbedded: isEmbedded)
    let writes = (0..<30).map { _ in client.write([Self.increment()]) }
    for write in writes { try await write.acknowledged() }
    #expect(backend.dropped == 4)
    #expect(try await client.lookup([path("rooms/a")])[0].fields == ["n": .integer(30)])
    await client.shutdown()
  }

  @Test func `an old write that is sent again does not undo another client's write`() async throws {
    let world = World()
    let other = world.client()
    let backend = DroppingBackend(world.engine, drops: [0]) {
      try? await other.write([set("rooms/a", ["by": .string("other")])]).acknowledged()
    }
    let client = world.client(of: backend)
    try await client.write([set("rooms/a", ["by": .string("first")])]).acknowledged()
    #expect(try await client.lookup([path("rooms/a")])[0].fields == ["by": .string("other")])
    await client.shutdown()
    await other.shutdown()
  }

  @Test(arguments: [false, true])
  func `writes that a crash kept from being taken off the queue are applied once`(isEmbedded: Bool) async throws {
    let world = World()
    let crashed = try await Self.crashed(after: 5, in: world, isEmbedded: isEmbedded)
    let second = world.client(store: crashed, isEmbedded: isEmbedded)
    let late = second.write([Self.increment()])
    try await second.waitForPendingWrites()
    try await late.acknowledged()
    #expect(try await second.lookup([path("rooms/a")])[0].fields == ["n": .integer(6)])
    await second.shutdown()
  }

  @Test func `a refusal that was reported to the application stays one after a crash`() async throws {
    let world = World()
    let store = ModelStore()
    let first = world.client(store: store)
    await first.setNetworkEnabled(false)
    let patch = Mutation(
      path("rooms/a"), .patch(["n": .integer(1)], mask: FieldMask([FieldPath(["n"])])), precondition: .exists(true))
    let refused = first.write([patch])
    try await refused.localCommit()
    // The store as it is when the process ends before the refusal takes the write off the queue.
    let rows = try await store.read { try await $0.entries(in: .all) }
    await first.setNetworkEnabled(true)
    await #expect(throws: FirestoreServiceError.self) { try await refused.acknowledged() }
    try await first.write([set("rooms/a", ["by": .string("first")])]).acknowledged()
    await first.shutdown()
    let crashed = ModelStore()
    _ = try await crashed.write { for row in rows { try await $0.put(row.value, for: row.key) } }
    let second = world.client(store: crashed)
    try await second.waitForPendingWrites()
    #expect(try await second.lookup([path("rooms/a")])[0].fields == ["by": .string("first")])
    await second.shutdown()
  }

  @Test(arguments: [false, true])
  func `a client that ends while answers are under way leaves its writes to the next one`(isEmbedded: Bool)
    async throws
  {
    let world = World()
    let store = ModelStore()
    let hold = Gate()
    let backend = DroppingBackend(world.engine, drops: Set(0..<40)) { await hold.wait() }
    let first = world.client(of: backend, store: store, isEmbedded: isEmbedded)
    let writes = (0..<25).map { _ in first.write([Self.increment()]) }
    // The first ten have been sent; the engine has some of them, and their answers do not arrive.
    let reader = world.client()
    while try await reader.lookup([path("rooms/a")])[0].fields?["n"] == nil { await Task.yield() }
    await first.shutdown()
    hold.open()
    for write in writes { try await write.localCommit() }
    for write in writes { await #expect(throws: FirestoreServiceError.self) { try await write.acknowledged() } }
    let second = world.client(store: store, isEmbedded: isEmbedded)
    try await second.waitForPendingWrites()
    #expect(try await second.lookup([path("rooms/a")])[0].fields == ["n": .integer(25)])
    await second.shutdown()
    let batches = try await store.read { try await $0.entries(in: .all) }.filter { row in
      if case .batch? = try? CacheKey(Array(row.key.dropFirst(10))) { return true }
      return false
    }
    #expect(batches.isEmpty)
    await reader.shutdown()
  }

  @Test func `the local commit of an embedded client is not before the engine has the write`() async throws {
    let world = World()
    let client = world.client(store: ModelStore(), isEmbedded: true)
    for number in 0..<50 {
      try await client.write([set("rooms/r\(number)", ["n": .integer(1)])]).localCommit()
      #expect(try await client.lookup([path("rooms/r\(number)")])[0].isFound)
    }
    await client.shutdown()
  }

  @Test func `writes that were served long before a crash leave the queue`() async throws {
    let world = World()
    let second = world.client(store: try await Self.crashed(after: 40, in: world))
    try await second.waitForPendingWrites()
    #expect(try await second.lookup([path("rooms/a")])[0].fields == ["n": .integer(40)])
    await second.shutdown()
  }

  @Test(arguments: [false, true])
  func `writes are applied once while the network fails and returns and users change`(isEmbedded: Bool) async throws {
    let world = World()
    let client = world.client(isEmbedded: isEmbedded) { $0.user = "alice" }
    var writes: [SyncWrite] = []
    for round in 0..<40 {
      for _ in 0..<3 { writes.append(client.write([Self.increment()])) }
      if round % 3 == 0 { client.changeUser("alice") }
      if round % 3 == 1 {
        client.changeUser("bob")
        client.changeUser("alice")
      }
      if round % 3 == 2 {
        await client.setNetworkEnabled(false)
        await client.setNetworkEnabled(true)
      }
    }
    for write in writes { try await write.acknowledged() }
    #expect(try await client.lookup([path("rooms/a")])[0].fields == ["n": .integer(120)])
    await client.shutdown()
  }
}

extension World {
  func client(
    of backend: any FirestoreBackend, store: (any OrderedStore)? = nil, isEmbedded: Bool = false
  ) -> SyncClient {
    var options = SyncOptions()
    options.link = isEmbedded ? .embedded : .remote
    options.clock = .hasty
    if store != nil, !isEmbedded { options.garbagePolicy = .leastRecentlyUsed(bytes: nil) }
    return SyncClient(database: database, backend: backend, store: store, options: options)
  }
}
