import Testing
import VestaAuthInteropFakes
import VestaConcurrency
import VestaCore
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreReference
import VestaFirestoreSync
import VestaTesting

@testable import VestaFirestore

/// The client of a database is created at its first use, once, with no lock held.
@Suite(.timeLimit(.minutes(15)))
struct ClientCreationTests {
  private struct Unavailable: Error {}

  /// Creates clients of a backend in memory, and does something before.
  private final class CountingSource: FirestoreClientSource {
    private let before: @Sendable (Int) throws -> Void
    private let count = Locked(0)
    private let closings = Locked(0)

    init(_ before: @escaping @Sendable (Int) throws -> Void = { _ in }) { self.before = before }

    var created: Int { count.withLock { $0 } }
    var closed: Int { closings.withLock { $0 } }

    func makeClient(
      database: DatabaseName, settings: FirestoreSettings.Values, after predecessor: Latch?
    ) throws -> SyncClient {
      let number = count.withLock { count in
        count += 1
        return count
      }
      try before(number)
      return SyncClient(database: database, backend: ReferenceBackend(), store: nil, options: SyncOptions())
    }

    func clearCache(database: DatabaseName, settings: FirestoreSettings.Values) async throws {}
    func close() async { closings.withLock { $0 += 1 } }
  }

  private func firestore(_ app: VestaApp, _ source: CountingSource) -> Firestore {
    Firestore(app: app, database: DatabaseName(project: "demo"), source: source)
  }

  @Test func `the databases of an app without a project belong to the default project`() async throws {
    let options = VestaOptions(googleAppID: "1:1:ios:1", gcmSenderID: "1")
    let app = try VestaApp.configure(name: "firestore-without-project", options: options, libraries: [])
    let db = try FirestoreProvider(source: CountingSource()).firestore(app: app, database: "(default)")
    #expect(db.database == DatabaseName(project: "no-project"))
    await app.delete()
  }

  @Test func `sixty-four first tasks together get one client`() async throws {
    let app = try makeApp()
    let source = CountingSource()
    let db = firestore(app, source)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<64 { group.addTask { _ = try db.client() } }
      try await group.waitForAll()
    }
    #expect(source.created == 1)
    try await db.terminate()
    await app.delete()
  }

  @Test func `an unused instance ends after the one before it, whose rows the next one must find`() async throws {
    let app = try makeApp()
    let (predecessor, order) = (Latch(), Log<String>())
    let unused = Firestore(
      app: app, database: DatabaseName(project: "demo"), source: CountingSource(), after: predecessor)
    let end = Task {
      try await unused.terminate()
      order.add("unused")
    }
    // Nothing tells that it waits.
    for _ in 0..<200 { await Task.yield() }
    order.add("the one before it")
    predecessor.open()
    try await end.value
    #expect(order.entries == ["the one before it", "unused"])
    await app.delete()
  }

  @Test func `a client that cannot be created leaves the settings open and the next use tries again`() async throws {
    let app = try makeApp()
    let source = CountingSource { if $0 == 1 { throw Unavailable() } }
    let db = firestore(app, source)
    #expect(throws: Unavailable.self) { try db.client() }
    let settings = db.settings
    settings.cacheSettings = MemoryCacheSettings()
    db.settings = settings
    _ = try db.client()
    #expect(source.created == 2)
    try await db.terminate()
    await app.delete()
  }

  @Test func `a client that is terminated while it is created is ended and not given out`() async throws {
    let app = try makeApp()
    let box = Locked<Firestore?>(nil)
    let source = CountingSource { _ in _ = box.withLock { $0 }?.beginEnd() }
    let db = firestore(app, source)
    box.withLock { $0 = db }
    #expect(throws: FirestoreErrorCode.self) { try db.client() }
    #expect(throws: FirestoreErrorCode.self) { try db.client() }
    #expect(source.created == 1)
    box.withLock { $0 = nil }
    await app.delete()
  }

  @Test func `terminate ends the client beneath`() async throws {
    let app = try makeApp()
    let db = firestore(app, CountingSource())
    let client = try db.client()
    try await client.write([Mutation(ResourcePath(["c", "a"]), .set([:]))]).localCommit()
    try await db.terminate()
    await #expect(throws: FirestoreServiceError.self) {
      try await client.write([Mutation(ResourcePath(["c", "a"]), .set([:]))]).localCommit()
    }
    await app.delete()
  }

  @Test func `deleting an app ends the clients of all its databases and closes once what they share`() async throws {
    let app = try makeApp()
    let source = CountingSource()
    let provider = FirestoreProvider(source: source)
    let clients = try ["(default)", "other"].map { try provider.firestore(app: app, database: $0).client() }
    await provider.appWillBeDeleted(app)
    #expect(source.closed == 1)
    for client in clients {
      await #expect(throws: FirestoreServiceError.self) {
        try await client.write([Mutation(ResourcePath(["c", "a"]), .set([:]))]).localCommit()
      }
    }
    await app.delete()
  }

  @Test func `creating a client that needs itself is an error and no deadlock`() async throws {
    let app = try makeApp()
    let box = Locked<Firestore?>(nil)
    let source = CountingSource { _ in _ = try box.withLock { $0 }?.client() }
    let db = firestore(app, source)
    box.withLock { $0 = db }
    #expect(throws: VestaError.self) { try db.client() }
    box.withLock { $0 = nil }
    await app.delete()
  }

  @Test func `databases are told apart by the bytes of their names`() async throws {
    let app = try makeApp()
    let databases = try ["caf\u{E9}", "cafe\u{301}"].map { try Firestore.instance(for: app, database: $0) }
    #expect(databases[0] !== databases[1])
    await app.delete()
  }

  @Test func `users are told apart by the bytes of their ids`() async throws {
    let auth = FakeAuth()
    auth.signIn("caf\u{E9}")
    var options = SyncOptions()
    options.link = .embedded
    options.user = auth.getUserID()
    let client = SyncClient(
      database: DatabaseName(project: "demo"), backend: ReferenceBackend(), store: nil, options: options)
    client.follow(auth)
    await client.setNetworkEnabled(false)
    let path = ResourcePath(["rooms", "a"])
    try await client.write([Mutation(path, .set([:]))]).localCommit()
    #expect(try await client.cachedDocument(path).isFound)
    auth.signIn("cafe\u{301}")
    // The fake calls its listeners on a separate thread.
    while try await client.cachedDocument(path).isFound { await Task.yield() }
    auth.signIn("caf\u{E9}")
    while try await !client.cachedDocument(path).isFound { await Task.yield() }
    await client.shutdown()
  }
}
