import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreModel
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreSync

/// A backend that cannot be used: callers get to know, and nothing that is queued is lost.
@Suite(.timeLimit(.minutes(15)))
struct OutageTests {
  /// A backend whose streams do not open while it has a failure, or break with it.
  private final class FailingBackend: ForwardingFirestoreBackend {
    private let backend: any FirestoreBackend
    let failure: Locked<FirestoreServiceError?>

    init(_ backend: any FirestoreBackend, _ failure: FirestoreServiceError?) {
      self.backend = backend
      self.failure = Locked(failure)
    }

    private func check() throws(FirestoreServiceError) {
      if let failure = failure.withLock({ $0 }) { throw failure }
    }

    func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { backend }

    func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
      try check()
      return try await backend.listen(database: database, context: context)
    }

    func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
      try check()
      return try await backend.write(database: database, context: context)
    }
  }

  private let world = World()
  private let log = Log<String>()
  private let store = ModelStore()
  private let damaged = FirestoreServiceError(.dataLoss, "The store is damaged. Restore it from a backup.")

  private func client(_ backend: any FirestoreBackend, isEmbedded: Bool = true, isDurable: Bool = true) -> SyncClient {
    var options = SyncOptions()
    options.link = isEmbedded ? .embedded : .remote
    options.clock = .hasty
    options.log = { [log] in log.add($0) }
    return SyncClient(database: database, backend: backend, store: isDurable ? store : nil, options: options)
  }

  private func error(_ body: () async throws -> Void) async -> FirestoreServiceError? {
    do { try await body() } catch { return error as? FirestoreServiceError }
    return nil
  }

  @Test(arguments: [ServiceCode.dataLoss, .internal, .failedPrecondition])
  func `callers of writes and listeners get the error of a store that cannot be opened`(code: ServiceCode) async throws
  {
    let failure = FirestoreServiceError(code, "The file was written by a later version.")
    let client = client(FailingBackend(world.engine, failure))
    let write = client.write([set("rooms/a", [:])])
    #expect(await error { try await write.acknowledged() } == failure)
    try await write.localCommit()
    #expect(await error { try await client.write([set("rooms/b", [:])]).acknowledged() } == failure)
    #expect(await error { try await client.waitForPendingWrites() } == failure)
    let received = Received()
    let registration = client.listen(try query("rooms"), options: ListenOptions()) { received.receive($0) }
    #expect(await error { _ = try await received.first { !$0.isFromCache } } == failure)
    #expect(log.entries.contains { $0.contains(failure.message) })
    registration.remove()
    await client.shutdown()
  }

  @Test func `what is queued is sent when the backend works again`() async throws {
    let backend = FailingBackend(world.engine, damaged)
    let client = client(backend, isDurable: false)
    #expect(await error { try await client.write([set("rooms/a", [:])]).acknowledged() } == damaged)
    backend.failure.withLock { $0 = nil }
    try await client.write([set("rooms/b", [:])]).acknowledged()
    #expect(try await client.freshResults(query("rooms"))?.ids == ["a", "b"])
    await client.shutdown()
  }

  @Test func `what is queued is sent by the next client`() async throws {
    let first = client(FailingBackend(world.engine, damaged))
    let write = first.write([set("rooms/a", [:])])
    #expect(await error { try await write.acknowledged() } == damaged)
    try await write.localCommit()
    await first.shutdown()
    let second = client(world.engine)
    try await second.waitForPendingWrites()
    #expect(try await second.lookup([path("rooms/a")])[0].isFound)
    await second.shutdown()
  }

  @Test(arguments: [(StoreError.Code.closed, false), (.corrupt, true)])
  func `a cache that was closed with its app is no failure for the log`(
    code: StoreError.Code, isLogged: Bool
  ) async throws {
    let store = HookedStore()
    store.hook { step in
      if step == .read { throw StoreError(code, operation: "read", message: "Not one row.") }
    }
    var options = SyncOptions()
    options.log = { [log] in log.add($0) }
    let client = SyncClient(database: database, backend: world.engine, store: store, options: options)
    // The client works without it.
    #expect(try await !client.cachedDocument(path("rooms/a")).isFound)
    try await client.write([set("rooms/a", [:])]).acknowledged()
    await client.shutdown()
    #expect(log.entries.contains { $0.contains("cannot be read") } == isLogged, "\(log.entries)")
  }

  @Test(arguments: [ServiceCode.unavailable, .resourceExhausted])
  func `a failure that may pass is logged with its cause, and the write is sent when it has passed`(
    code: ServiceCode
  ) async throws {
    let failure = FirestoreServiceError(code, "The disk is full: no room left.")
    let backend = FailingBackend(world.engine, failure)
    let client = client(backend)
    let write = client.write([set("rooms/a", [:])])
    // Its rows are made: the engine is not about to have it.
    try await write.localCommit()
    while !log.entries.contains(where: { $0.contains(failure.message) }) { await Task.yield() }
    backend.failure.withLock { $0 = nil }
    try await write.acknowledged()
    try await client.write([set("rooms/b", [:])]).acknowledged()
    await client.shutdown()
    #expect(log.entries.filter { $0.contains("Writes wait") }.count == 1)
  }

  @Test func `a remote backend that refuses the client tells callers and listeners`() async throws {
    let denied = FirestoreServiceError(.permissionDenied, "The API is not enabled.")
    let client = client(FailingBackend(world.engine, denied), isEmbedded: false)
    #expect(await error { try await client.write([set("rooms/a", [:])]).acknowledged() } == denied)
    #expect(await error { try await client.write([set("rooms/b", [:])]).acknowledged() } == denied)
    let received = Received()
    let registration = client.listen(try query("rooms"), options: ListenOptions()) { received.receive($0) }
    #expect(await error { _ = try await received.first { !$0.isFromCache } } == denied)
    registration.remove()
    await client.shutdown()
  }

  @Test func `a refused token of a stream is no refusal of the client`() throws {
    let machine = ClientMachine(
      ClientMachine.Configuration(database: database), local: LocalStore(database: database, user: "", policy: .eager))
    machine.local.shown.writes.keepStreamToken([7])
    machine.enableNetwork()
    machine.core.write([set("rooms/a", [:])], at: Timestamp(seconds: 1), callback: 1)
    machine.writes.closed(stream: 1, error: FirestoreServiceError(.invalidArgument, "The token is not valid."))
    for case .finish in machine.takeActions() { Issue.record("The caller was told.") }
    machine.timerFired(.writeBackoff)
    machine.writes.closed(stream: 2, error: FirestoreServiceError(.invalidArgument, "The database is not valid."))
    var told = 0
    for case .finish(1, _) in machine.takeActions() { told += 1 }
    #expect(told == 1 && machine.local.queue.batches.count == 1)
  }
}
