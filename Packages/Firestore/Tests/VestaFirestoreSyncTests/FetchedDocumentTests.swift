import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreModel
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreSync

/// Documents of a backend over a network that are read by one call: only where a listener would show nothing else.
@Suite(.timeLimit(.minutes(5)))
struct FetchedDocumentTests {
  private let world = World()
  private let backend: HeldReadsBackend
  private let client: SyncClient
  /// A client whose cache keeps only the documents of listeners and pending writes.
  private let eager: SyncClient

  init() async throws {
    backend = HeldReadsBackend(world.engine)
    var options = SyncOptions()
    options.link = .remote
    options.user = "alice"
    eager = SyncClient(database: database, backend: backend, store: nil, options: options)
    options.garbagePolicy = .leastRecentlyUsed(bytes: nil)
    client = SyncClient(database: database, backend: backend, store: ModelStore(), options: options)
    try await put(4)
  }

  private let room = path("rooms/a")

  /// Another client's write.
  private func put(_ number: Int64, in document: String = "rooms/a") async throws {
    let write = set(document, ["n": .integer(number)]).write(in: database)
    _ = try await backend.commit(
      CommitRequest(database: database.description, writes: [write]), context: .owner)
  }

  private func value(_ document: CachedDocument?) -> Value? { document?.fields?["n"] }

  private func waitForRead() async { while backend.answers.waitingCount == 0 { await Task.yield() } }

  @Test func `a document is read by one call, and is in the cache then`() async throws {
    #expect(value(try await client.fetchedDocument(room)) == .integer(4))
    #expect(backend.calls.entries == ["get"])
    let deadline = try #require(backend.deadlines.entries.first ?? nil)
    #expect(deadline > 0)
    await client.setNetworkEnabled(false)
    let cached = try await client.cachedDocument(room)
    #expect(value(cached) == .integer(4) && cached.version > .zero && cached.readTime >= cached.version)
    #expect(try await client.fetchedDocument(room) == nil)
    #expect(backend.calls.entries == ["get"])
    await client.shutdown()
  }

  @Test func `a document that is not there is known to be missing, also one that was deleted`() async throws {
    let missing = try #require(try await client.fetchedDocument(path("rooms/none")))
    #expect(missing.isMissing && missing.version > .zero)
    #expect(try await client.cachedDocument(path("rooms/none")).isMissing)
    _ = try await client.fetchedDocument(room)
    let delete = Mutation(room, .delete).write(in: database)
    _ = try await backend.commit(CommitRequest(database: database.description, writes: [delete]), context: .owner)
    #expect(try await client.fetchedDocument(room)?.isMissing == true)
    #expect(try await client.cachedDocument(room).isMissing)
    await client.shutdown()
  }

  @Test func `a query after it has the document, and those that it had before`() async throws {
    try await put(7, in: "rooms/b")
    let all = try query("rooms", [.field(path: "n", .greaterThan, .integer(3))])
    for number in [Int64(2), 5] {
      let received = Received()
      let registration = client.listen(all, options: ListenOptions(waitsForSync: true)) { received.receive($0) }
      _ = try await received.first { !$0.isFromCache }
      registration.remove()
      try await put(number)
      #expect(value(try await client.fetchedDocument(room)) == .integer(number))
      let ids = try await client.cachedResults(all).ids
      #expect(ids == (number == 2 ? ["b"] : ["a", "b"]), "\(ids)")
    }
    await client.shutdown()
  }

  @Test func `while a write of the document is pending a listener is used`() async throws {
    backend.commits.close()
    let write = client.write([set("rooms/a", ["n": .integer(5)])])
    #expect(try await client.fetchedDocument(room) == nil)
    #expect(backend.calls.entries.filter { $0 == "get" } == [])
    // Writes of other documents do not matter.
    try await put(1, in: "rooms/b")
    #expect(value(try await client.fetchedDocument(path("rooms/b"))) == .integer(1))
    backend.commits.open()
    try await write.acknowledged()
    #expect(value(try await client.fetchedDocument(room)) == .integer(5))
    await client.shutdown()
  }

  @Test(arguments: [false, true], [false, true])
  func `an answer from before a write of the client is not taken`(isAcknowledged: Bool, isEager: Bool) async throws {
    let client = isEager ? eager : client
    backend.answers.close()
    async let fetched = client.fetchedDocument(room)
    await waitForRead()
    if !isAcknowledged { backend.commits.close() }
    let write = client.write([set("rooms/a", ["n": .integer(5)])])
    if isAcknowledged { try await write.acknowledged() }
    backend.answers.open()
    #expect(try await fetched == nil)
    backend.commits.open()
    try await write.acknowledged()
    if !isEager { #expect(value(try await client.cachedDocument(room)) == .integer(5)) }
    #expect(value(try await client.fetchedDocument(room)) == .integer(5))
    await client.shutdown()
  }

  /// Before the call and after it the client is in the same state.
  @Test(arguments: ["a listener", "another user", "the network"], [false, true])
  func `an answer from before something that came and went is not taken`(event: String, isEager: Bool) async throws {
    let client = isEager ? eager : client
    backend.answers.close()
    async let fetched = client.fetchedDocument(room)
    await waitForRead()
    try await put(1)
    switch event {
    case "a listener":
      let received = Received()
      let many = try query("rooms", [.field(path: "n", .greaterThan, .integer(3))])
      let registration = client.listen(many, options: ListenOptions(waitsForSync: true)) { received.receive($0) }
      _ = try await received.first { !$0.isFromCache }
      registration.remove()
    case "another user":
      client.changeUser("bob")
      client.changeUser("alice")
    default:
      await client.setNetworkEnabled(false)
      await client.setNetworkEnabled(true)
    }
    backend.answers.open()
    #expect(try await fetched == nil)
    #expect(value(try await client.fetchedDocument(room)) == .integer(1))
    await client.shutdown()
  }

  @Test func `an answer from before a transaction of the client is not taken`() async throws {
    backend.answers.close()
    async let fetched = eager.fetchedDocument(room)
    await waitForRead()
    try await eager.commit([set("rooms/a", ["n": .integer(5)])])
    backend.answers.open()
    #expect(try await fetched == nil)
    await eager.shutdown()
  }

  @Test func `a task that is cancelled before its read begins leaves nothing behind`() async throws {
    for client in [client, eager] {
      let task = Task { [room] in
        withUnsafeCurrentTask { $0?.cancel() }
        return try await client.fetchedDocument(room)
      }
      _ = try? await task.value
      #expect(try await client.read { $0.hasNoFetches })
      #expect(value(try await client.fetchedDocument(room)) == .integer(4))
      #expect(try await client.read { $0.hasNoFetches })
      await client.shutdown()
    }
  }

  @Test func `of two answers the earlier one is not taken after the later one`() async throws {
    backend.answers.close()
    async let first = eager.fetchedDocument(room)
    await waitForRead()
    try await put(5)
    let other = path("rooms/b")
    async let unconcerned = eager.fetchedDocument(other)
    while backend.answers.waitingCount < 2 { await Task.yield() }
    backend.isHolding.withLock { $0 = false }
    #expect(value(try await eager.fetchedDocument(room)) == .integer(5))
    backend.answers.open()
    #expect(try await first == nil)
    #expect(try await unconcerned?.isMissing == true)
    await eager.shutdown()
  }

  @Test func `a deletion that was acknowledged before the answer is not undone by it`() async throws {
    backend.answers.close()
    async let fetched = client.fetchedDocument(room)
    await waitForRead()
    try await client.write([Mutation(room, .delete)]).acknowledged()
    backend.answers.open()
    #expect(try await fetched == nil)
    #expect(try await client.cachedDocument(room).isMissing)
    await client.shutdown()
  }

  /// Also one of another collection: what a client reads later must not be of an earlier time.
  @Test(arguments: [false, true], ["rooms", "halls"])
  func `while there is a listener a document is read by a listener`(isLate: Bool, of collection: String) async throws {
    let received = Received()
    if isLate { backend.answers.close() }
    async let early = isLate ? client.fetchedDocument(room) : nil
    if isLate { await waitForRead() }
    let registration = client.listen(try query(collection), options: ListenOptions()) { received.receive($0) }
    _ = try await received.first { !$0.isFromCache }
    backend.answers.open()
    #expect(try await early == nil)
    #expect(try await client.fetchedDocument(room) == nil)
    registration.remove()
    #expect(value(try await client.fetchedDocument(room)) == .integer(4))
    await client.shutdown()
  }

  @Test func `after a failure a listener is used, and a cancelled task gets its cancellation`() async throws {
    for code in [ServiceCode.unavailable, .permissionDenied, .deadlineExceeded] {
      backend.failure.withLock { $0 = FirestoreServiceError(code, "Not now.") }
      #expect(try await client.fetchedDocument(room) == nil)
    }
    let task = Task { [client, room] in
      withUnsafeCurrentTask { $0?.cancel() }
      return try await client.fetchedDocument(room)
    }
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    await client.shutdown()
  }

  @Test func `an answer for a former user is not taken, and the next one is`() async throws {
    backend.answers.close()
    async let fetched = client.fetchedDocument(room)
    await waitForRead()
    client.changeUser("bob")
    backend.answers.open()
    #expect(try await fetched == nil)
    #expect(value(try await client.fetchedDocument(room)) == .integer(4))
    await client.shutdown()
  }
}
