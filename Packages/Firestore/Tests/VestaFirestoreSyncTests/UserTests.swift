import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaStoreInteropFakes

/// Users that change, tasks that are cancelled, and a backend that is dead.
@Suite(.timeLimit(.minutes(15)))
struct UserTests {
  private func isFound(_ text: String, _ client: SyncClient) async throws -> Bool {
    try await client.cachedDocument(path(text)).isFound
  }

  @Test func `writes of a user wait for the user, also through a restart`() async throws {
    let (world, store) = (World(), ModelStore())
    var client = world.client(store: store) { $0.user = "alice" }
    await client.setNetworkEnabled(false)
    let received = Received()
    let options = ListenOptions(includesMetadata: true)
    let registration = client.listen(try query("rooms"), options: options) { received.receive($0) }
    try await client.write([set("rooms/a", ["n": .integer(1)])]).localCommit()
    _ = try await received.first { $0.ids == ["a"] }
    let waiting = Task { [client] in try await client.waitForPendingWrites() }
    client.changeUser("bob")
    _ = try await received.first { $0.ids.isEmpty }
    try await client.write([set("rooms/b", ["n": .integer(2)])]).localCommit()
    _ = try await received.first { $0.ids == ["b"] }
    client.changeUser(nil)
    _ = try await received.first { $0.ids.isEmpty }
    waiting.cancel()
    _ = await waiting.result
    registration.remove()
    await client.shutdown()
    client = world.client(store: store) { $0.user = "bob" }
    await client.setNetworkEnabled(false)
    #expect(try await isFound("rooms/b", client))
    #expect(try await !isFound("rooms/a", client))
    await client.setNetworkEnabled(true)
    try await client.waitForPendingWrites()
    #expect(try await client.lookup([path("rooms/a"), path("rooms/b")]).map(\.isFound) == [false, true])
    client.changeUser("alice")
    try await client.waitForPendingWrites()
    #expect(try await client.lookup([path("rooms/a")])[0].isFound)
    await client.shutdown()
  }

  @Test func `callers that wait for pending writes are notified that the user has changed`() async throws {
    let client = World().client { $0.user = "alice" }
    await client.setNetworkEnabled(false)
    _ = client.write([set("rooms/a", [:])])
    let (began, ended) = (Locked(false), Locked<FirestoreServiceError?>(nil))
    let task = Task {
      began.withLock { $0 = true }
      // A user without pending writes has nothing to wait for.
      while ended.withLock({ $0 == nil }) {
        do { try await client.waitForPendingWrites() } catch let error as FirestoreServiceError {
          ended.withLock { $0 = error }
        }
        await Task.yield()
      }
    }
    while !began.withLock({ $0 }) { await Task.yield() }
    var user = 0
    while ended.withLock({ $0 == nil }) {
      user += 1
      client.changeUser("user \(user % 2)")
      _ = client.write([set("rooms/a", [:])])
      await Task.yield()
    }
    #expect(ended.withLock { $0 }?.code == .cancelled)
    try await task.value
    await client.shutdown()
  }

  @Test(arguments: [false, true])
  func `cancelled calls end, and lose no write`(isEmbedded: Bool) async throws {
    let world = World()
    let client = world.client(store: isEmbedded ? nil : ModelStore(), isEmbedded: isEmbedded)
    let rooms = try query("rooms")
    let calls: [@Sendable (Int) async throws -> Void] = [
      { _ in _ = try await client.cachedDocument(path("rooms/a")) },
      { _ in _ = try await client.cachedResults(rooms) },
      { _ in _ = try await client.freshDocument(path("rooms/a")) },
      { _ in _ = try await client.freshResults(rooms) },
      { try await client.write([set("rooms/r\($0)", ["n": .integer(Int64($0))])]).acknowledged() },
      { try await client.write([set("rooms/r\($0)", ["n": .integer(Int64($0))])]).localCommit() },
      { _ in try await client.waitForPendingWrites() },
      { _ in _ = try await client.lookup([path("rooms/a")]) },
      { _ in _ = try await client.aggregate(rooms, [Aggregation(.count(upTo: nil), alias: "n")]) },
      { _ in _ = try await client.loadBundle([0x30]) { _ in } },
      { _ in _ = try await client.namedQuery("none") },
    ]
    for round in 0..<40 {
      let tasks = calls.map { call in Task { try await call(round) } }
      for (number, task) in tasks.enumerated() where (number + round) % 3 != 0 { task.cancel() }
      for task in tasks { _ = await task.result }
    }
    try await client.waitForPendingWrites()
    let found = try await client.lookup((0..<40).map { path("rooms/r\($0)") })
    #expect(found.allSatisfy { $0.isFound })
    await client.shutdown()
  }

  @Test func `a backend that never answers holds up no listener, no local write and no end`() async throws {
    let (world, store) = (World(), ModelStore())
    let first = world.client(store: store)
    try await first.write([set("rooms/a", ["n": .integer(1)])]).acknowledged()
    await first.shutdown()
    var options = SyncOptions()
    options.clock = .immediate(below: .seconds(1_000_000))
    options.garbagePolicy = .leastRecentlyUsed(bytes: nil)
    let client = SyncClient(database: database, backend: DeadBackend(), store: store, options: options)
    let received = Received()
    let registration = client.listen(
      try query("rooms"), options: ListenOptions(includesMetadata: true, waitsForSync: true)
    ) { received.receive($0) }
    #expect(try await received.first { $0.isFromCache }.ids == ["a"])
    let write = client.write([set("rooms/b", [:])])
    try await write.localCommit()
    _ = try await received.first { $0.ids == ["a", "b"] && $0.hasPendingWrites }
    let lookup = Task { try await client.lookup([path("rooms/a")]) }
    lookup.cancel()
    _ = await lookup.result
    registration.remove()
    await client.shutdown()
    await #expect(throws: FirestoreServiceError.self) { try await write.acknowledged() }
    let last = world.client(store: store)
    try await last.waitForPendingWrites()
    #expect(try await last.lookup([path("rooms/b")])[0].isFound)
    await last.shutdown()
  }
}
