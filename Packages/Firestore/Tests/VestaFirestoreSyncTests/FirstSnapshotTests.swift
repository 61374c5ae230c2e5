import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreModel

@testable import VestaFirestoreSync

/// The way of an embedded client to its first snapshot.
@Suite(.timeLimit(.minutes(15)))
struct FirstSnapshotTests {
  /// An engine whose listen calls open and say nothing, so that no thread but the test's own works for the client.
  private final class QuietBackend: ForwardingFirestoreBackend {
    private let engine: any FirestoreBackend
    let requests = Locked<[ListenRequest]>([])
    private let calls = Locked<[AsyncThrowingStream<[ListenResponse], any Error>.Continuation]>([])

    init(_ engine: any FirestoreBackend) { self.engine = engine }

    func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { engine }

    func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
      let (responses, continuation) = AsyncThrowingStream.makeStream(
        of: [ListenResponse].self, throwing: (any Error).self)
      calls.withLock { $0.append(continuation) }
      return ListenCall(
        responses: responses, send: { [requests] request in requests.withLock { $0.append(request) } },
        finish: { continuation.finish() }, cancel: { continuation.finish() })
    }
  }

  private let world = World()
  private let backend: QuietBackend
  private let client: SyncClient

  init() async throws {
    backend = QuietBackend(world.engine)
    var options = SyncOptions()
    options.link = .embedded
    options.clock = .immediate(below: .zero)
    client = SyncClient(database: database, backend: backend, store: nil, options: options)
    let writer = world.client()
    for id in ["a", "b", "c"] {
      try await writer.write([set("rooms/\(id)", [:]), set("halls/\(id)", [:])]).acknowledged()
    }
    await writer.shutdown()
  }

  private func listen(_ collection: String, isAwaited: Bool, _ received: Received) throws -> ListenerRegistration {
    var options = ListenOptions()
    options.isAwaited = isAwaited
    return client.listen(try query(collection), options: options) { received.receive($0) }
  }

  /// Listens to a separate collection until the client has a stream, and no other thread is at work for it.
  private func openStream() async throws -> ListenerRegistration {
    let first = Received()
    let registration = try listen("lobby", isAwaited: false, first)
    _ = try await first.first { !$0.isFromCache }
    while true {
      // As long as the thread that brought the first snapshot continues, it takes over what others ask for.
      let received = Received()
      let probe = try listen("halls", isAwaited: true, received)
      let isDone = !received.snapshots.isEmpty
      _ = try await received.first { !$0.isFromCache }
      probe.remove()
      if isDone { return registration }
      await Task.yield()
    }
  }

  @Test func `who waits for a first snapshot reads it without another thread`() async throws {
    let registration = try await openStream()
    for _ in 0..<100 {
      let received = Received()
      let added = try listen("rooms", isAwaited: true, received)
      #expect(received.snapshots.map(\.ids) == [["a", "b", "c"]])
      #expect(received.snapshots.first?.isFromCache == false)
      added.remove()
    }
    registration.remove()
    await client.shutdown()
  }

  @Test func `a listener that leaves after its first snapshot costs the stream no request`() async throws {
    let registration = try await openStream()
    backend.requests.withLock { $0 = [] }
    for _ in 0..<10 { try listen("rooms", isAwaited: true, Received()).remove() }
    #expect(backend.requests.withLock { $0.isEmpty })
    registration.remove()
    await client.shutdown()
  }

  @Test func `the target of a first snapshot is followed from its version on, and removed after that`() async throws {
    var options = SyncOptions()
    options.link = .embedded
    options.clock = .hasty
    let client = SyncClient(database: database, backend: backend, store: nil, options: options)
    let received = Received()
    let added = client.listen(try query("rooms"), options: ListenOptions()) { received.receive($0) }
    _ = try await received.first { !$0.isFromCache }
    let target = try #require(await request { if case .addTarget(let target) = $0 { target } else { nil } })
    if case .readTime(let time)? = target.resume { #expect(time > .zero) } else { Issue.record("\(target)") }
    added.remove()
    let removed = await request { if case .removeTarget(let id) = $0 { id } else { nil } }
    #expect(removed == target.id)
    #expect(backend.requests.withLock { $0.count } == 2)
    await client.shutdown()
  }

  /// Waits for a request.
  private func request<Found>(_ find: (ListenRequest) -> Found?) async -> Found? {
    while true {
      let requests = backend.requests.withLock { $0 }
      if let found = requests.lazy.compactMap(find).first { return found }
      await Task.yield()
    }
  }

  @Test func `another target is asked for after the ones that were read before it`() async throws {
    let registration = try await openStream()
    backend.requests.withLock { $0 = [] }
    let first = try listen("rooms", isAwaited: true, Received())
    // It looks at the documents of the first one, and so is no target to read outside of the stream.
    let limited = client.listen(try query("rooms", limit: 2), options: ListenOptions()) { _ in }
    let targets = backend.requests.withLock { $0 }.compactMap { request -> Target? in
      if case .addTarget(let target) = request { target } else { nil }
    }
    #expect(targets.count >= 2)
    if case .readTime? = targets[targets.count - 2].resume {} else { Issue.record("\(targets)") }
    #expect(targets.last?.resume == nil)
    first.remove()
    limited.remove()
    registration.remove()
    await client.shutdown()
  }

  @Test func `a target that is listened to again says how many documents the cache has of it`() throws {
    let machine = ClientMachine(
      ClientMachine.Configuration(database: database),
      local: LocalStore(database: database, user: "", policy: .leastRecentlyUsed(bytes: nil)))
    machine.enableNetwork()
    let time = Timestamp(seconds: 9)
    let id = try #require(machine.core.listen(try query("rooms"), options: ListenOptions(), listener: 1))
    machine.watch.opened(stream: 1)
    machine.watch.received(stream: 1, .targetChange(TargetChange(.add, targetIDs: [id])))
    for room in ["a", "b"] {
      let name = ResourceName(database: database, path: path("rooms/\(room)")).description
      let document = Document(name: name, fields: [:], createTime: time, updateTime: time)
      machine.watch.received(stream: 1, .documentChange(DocumentChange(document: document, targetIDs: [id])))
    }
    machine.watch.received(
      stream: 1, .targetChange(TargetChange(.current, targetIDs: [id], resumeToken: [1], readTime: time)))
    machine.watch.received(stream: 1, .targetChange(TargetChange(.noChange, resumeToken: [1], readTime: time)))
    machine.core.unlisten(1)
    _ = machine.takeActions()
    machine.core.listen(try query("rooms"), options: ListenOptions(), listener: 2)
    let counts = machine.takeActions().compactMap { action -> Int32? in
      if case .watch(_, let record) = action { record.expectedCount } else { nil }
    }
    #expect(counts == [2])
  }
}
