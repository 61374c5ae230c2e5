import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreModel
import VestaFirestoreService
import VestaFirestoreSync
import VestaStoreInteropFakes
import VestaTesting

/// Reads of single documents by a remote client, with and without a listener.
@Suite(.timeLimit(.minutes(15)))
struct DocumentReadTests {
  /// An engine behind a link, whose reads of documents may fail or wait.
  private final class Link: ForwardingFirestoreBackend {
    private let engine: any FirestoreBackend
    let gate = Gate(isOpen: true)
    /// Opens with the first read that has arrived.
    let hasArrived = Gate()
    /// Write calls wait at it.
    let writes = Gate(isOpen: true)
    let fails = Locked(false)
    let reads = Locked(0)

    init(_ engine: any FirestoreBackend) { self.engine = engine }

    func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { engine }

    func batchGet(
      _ request: BatchGetDocumentsRequest, context: CallContext,
      receive: (BatchGetDocumentsResponse) async throws -> Void
    ) async throws {
      reads.withLock { $0 += 1 }
      hasArrived.open()
      try await gate.pass()
      if fails.withLock({ $0 }) { throw FirestoreServiceError(.unavailable, "lost") }
      try await engine.batchGet(request, context: context, receive: receive)
    }

    func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
      await writes.wait()
      return try await engine.write(database: database, context: context)
    }
  }

  private let world = World()
  private let link: Link
  private let client: SyncClient

  init() {
    link = Link(world.engine)
    var options = SyncOptions()
    options.garbagePolicy = .leastRecentlyUsed(bytes: nil)
    client = SyncClient(database: database, backend: link, store: ModelStore(), options: options)
  }

  private func write(_ fields: MapValue) async throws {
    let write = Write.update(
      Document(name: ResourceName(database: database, path: path("rooms/a")).description, fields: fields))
    let request = CommitRequest(database: database.description, writes: [write])
    _ = try await world.engine.commit(request, context: CallContext(caller: .owner))
  }

  /// Opens the watch stream with a listener of another collection.
  private func openStream() async throws -> ListenerRegistration {
    let lobby = Received()
    let listener = client.listen(try query("lobby"), options: ListenOptions()) { lobby.receive($0) }
    _ = try await lobby.first { !$0.isFromCache }
    return listener
  }

  @Test func `a document is read by a call while the stream is open, and the cache has it`() async throws {
    try await write(["n": .integer(1)])
    #expect(try await client.freshDocument(path("rooms/a")) == nil)
    let listener = try await openStream()
    #expect(try await client.freshDocument(path("rooms/a"))?.fields?["n"] == .integer(1))
    try await write(["n": .integer(2)])
    #expect(try await client.cachedDocument(path("rooms/a")).fields?["n"] == .integer(1))
    #expect(try await client.freshDocument(path("rooms/a"))?.fields?["n"] == .integer(2))
    #expect(try await client.cachedDocument(path("rooms/a")).fields?["n"] == .integer(2))
    #expect(try await client.freshDocument(path("rooms/none"))?.isMissing == true)
    #expect(try await client.cachedDocument(path("rooms/none")).isMissing)
    #expect(link.reads.withLock { $0 } == 3)
    listener.remove()
    await client.shutdown()
  }

  @Test func `a read shows what is pending on top of the document`() async throws {
    try await write(["n": .integer(1)])
    let listener = try await openStream()
    link.writes.close()
    let written = client.write([set("rooms/a", ["n": .integer(7)])])
    let shown = try #require(try await client.freshDocument(path("rooms/a")))
    #expect(shown.fields?["n"] == .integer(7) && shown.hasLocalMutations)
    link.writes.open()
    try await written.acknowledged()
    let stored = try #require(try await client.freshDocument(path("rooms/a")))
    #expect(stored.fields?["n"] == .integer(7) && !stored.hasLocalMutations)
    #expect(link.reads.withLock { $0 } == 2)
    listener.remove()
    await client.shutdown()
  }

  @Test func `a listener is used where a target has the document, and where the call fails`() async throws {
    let listener = try await openStream()
    let rooms = Received()
    let second = client.listen(try query("rooms"), options: ListenOptions()) { rooms.receive($0) }
    _ = try await rooms.first { !$0.isFromCache }
    #expect(try await client.freshDocument(path("rooms/a")) == nil && link.reads.withLock { $0 } == 0)
    second.remove()
    link.fails.withLock { $0 = true }
    #expect(try await client.freshDocument(path("rooms/a")) == nil && link.reads.withLock { $0 } == 1)
    listener.remove()
    await client.shutdown()
  }

  @Test(arguments: [false, true])
  func `a read that waits ends with the network and with the client`(isShutDown: Bool) async throws {
    let listener = try await openStream()
    link.gate.close()
    async let read = client.freshDocument(path("rooms/a"))
    await link.hasArrived.wait()
    if isShutDown { await client.shutdown() } else { await client.setNetworkEnabled(false) }
    #expect(try await read == nil)
    listener.remove()
    if !isShutDown { await client.shutdown() }
  }
}
