import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaTesting

/// Pending writes of an embedded client whose user signs out before the engine has answered.
@Suite(.timeLimit(.minutes(15)))
struct UserRowsTests {
  private let world = World()
  private let store = WatchedStore()

  private func client(_ backend: InterleavingBackend, _ user: String) -> SyncClient {
    var options = SyncOptions()
    (options.link, options.user) = (.embedded, user)
    return SyncClient(database: database, backend: backend, store: store, options: options)
  }

  @Test(arguments: [false, true])
  func `the writes of the former user survive the process`(isSent: Bool) async throws {
    let backend = InterleavingBackend(world.engine)
    backend.answers.close()
    let first = client(backend, "alice")
    let write = first.write([set("rooms/a", ["n": .integer(1)])])
    // A write that the engine has been sent has no row by then.
    if isSent { await backend.asked.wait { $0 == [1] } }
    first.changeUser("bob")
    try await write.localCommit()
    // Nothing is ended in order: the rows of now are what a next process finds.
    let second = client(InterleavingBackend(world.engine), "alice")
    try await second.waitForPendingWrites()
    #expect(try await second.lookup([path("rooms/a")])[0].isFound)
    await second.shutdown()
    backend.answers.open()
    await first.shutdown()
  }

  @Test func `a new user's writes without rows are not taken for durable`() async throws {
    let backend = InterleavingBackend(world.engine)
    backend.answers.close()
    let client = client(backend, "alice")
    let writes = (0..<3).map { client.write([set("rooms/a\($0)", [:])]) }
    client.changeUser("bob")
    let other = client.write([set("rooms/b", [:])])
    for write in writes { try await write.localCommit() }
    let rows = try await store.all().count
    #expect(rows == 3)
    backend.answers.open()
    try await other.acknowledged()
    try await other.localCommit()
    client.changeUser("alice")
    for write in writes { try await write.acknowledged() }
    await client.shutdown()
    // The engine has all of them.
    #expect(try await store.all().isEmpty)
    let reader = world.client()
    #expect(try await reader.lookup((0..<3).map { path("rooms/a\($0)") } + [path("rooms/b")]).allSatisfy(\.isFound))
    await reader.shutdown()
  }
}
