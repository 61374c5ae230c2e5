import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendContracts
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// Two engines on one store.
@Suite(.timeLimit(.minutes(20)))
struct SharedStoreTests {
  private let store: ModelStore
  private let storeClock = ManualStoreClock()
  private let clock = ManualClock()

  init() { store = ModelStore(clock: storeClock.clock) }

  /// Lets time pass for the store, the processes, and their timers.
  private func advance(_ seconds: Int64, _ engines: [DatabaseEngine]) async {
    storeClock.advance(by: seconds * 1_000_000)
    clock.advance(by: .seconds(seconds))
    await settle(engines)
  }

  private func engine(_ name: String, clock: ServiceClock? = nil, indexOn: [String] = []) -> DatabaseEngine {
    var options = DatabaseServiceOptions()
    options.clock = clock ?? self.clock.service
    options.sharing = .shared(lease: .seconds(15))
    let sessions = Locked(0)
    options.makeSession = {
      sessions.withLock { sessions in
        sessions += 1
        return "\(name)\(sessions)"
      }
    }
    for child in indexOn { options.indexes.add(path: "rooms", indexOn: child) }
    return DatabaseEngine(store: HookedStore(store, closesBase: false), options: options)
  }

  private func settle(_ engines: [DatabaseEngine]) async {
    for _ in 0..<3 { for engine in engines { await engine.settle() } }
  }

  @Test(arguments: 0..<20)
  func `listens in each engine receive the writes of both, and end with the same`(seed: UInt64) async {
    var random = SplitMix(seed: seed)
    let engines = [engine("a", indexOn: seed % 2 == 0 ? ["a"] : []), engine("b", indexOn: seed % 2 == 0 ? ["a"] : [])]
    let writers = engines.map { TestClient($0) }, readers = engines.map { TestClient($0) }
    var listens: [(reader: Int, tag: Int, path: DatabasePath, spec: DatabaseQuerySpec)] = []
    var model = DatabaseNode.empty
    for step in 0..<40 {
      if step % 5 == 0 {
        let reader = random.below(2), spec = random.spec()
        let path: DatabasePath = spec.loadsAllData ? "a" : random.path(0...1)
        if !spec.loadsAllData || !listens.contains(where: { $0.reader == reader && $0.spec.loadsAllData }) {
          listens.append((reader, step + 1, path, spec))
          await readers[reader].listen(path, spec, tag: step + 1)
        }
      }
      // Both at once: the order of the commits decides, and they do not meet.
      let one = DatabasePath("a").appending(random.path(0...2)), other = DatabasePath("b").appending(random.path(0...2))
      let (node, second) = (random.node(), random.node())
      let (left, right) = (writers[random.below(2)], writers[random.below(2)])
      async let first = left.put(one, node)
      async let last = right.put(other, second)
      #expect(await first.status == .ok)
      #expect(await last.status == .ok)
      model = model.setting(one, to: node).setting(other, to: second)
    }
    await settle(engines)
    for reader in readers { #expect(await reader.get(.root) == model, "seed \(seed)") }
    for listen in listens {
      let expected = NodeWindow.window(of: model[listen.path], listen.spec)
      let shown = readers[listen.reader].node(tag: listen.tag)
      #expect(shown == expected, "seed \(seed), engine \(listen.reader), \(listen.path) \(listen.spec)")
    }
  }

  @Test func `writes with a hash exclude each other across engines`() async {
    let engines = [engine("a"), engine("b")]
    await withTaskGroup { group in
      for number in 0..<6 {
        let client = TestClient(engines[number % 2])
        group.addTask {
          for _ in 0..<10 {
            while true {
              let node = await client.get("n")
              let next = DatabaseNode(.int((node.leaf.flatMap(\.number).map { Int64($0) } ?? 0) + 1))
              if await client.put("n", next, hash: NodeHash.hash(node)).status == .ok { break }
            }
          }
        }
      }
    }
    #expect(await TestClient(engines[0]).get("n").leaf == .int(60))
  }

  @Test func `an engine that opens leaves the sessions of the others alone`() async {
    let first = engine("a")
    let client = TestClient(first)
    _ = await client.call(.onDisconnectPut("ends", DatabaseNode(.incrementInt(1))))
    let second = engine("b")
    let other = TestClient(second)
    #expect(await other.get("ends").isEmpty)
    // The lease is renewed while the engine lives.
    for _ in 0..<10 { await advance(5, [first, second]) }
    #expect(await other.get("ends").isEmpty)
    client.close()
    await client.closed()
    await settle([first, second])
    #expect(await other.get("ends").leaf == .int(1))
  }

  @Test func `the sessions of a crashed engine end when its lease is over, once`() async {
    // The clock of the engine that dies does not move: it never renews its lease.
    let dead = engine("a", clock: ServiceClock(now: { [clock] in clock.now }) { _, _ in ListenerRegistration {} })
    let lost = TestClient(dead)
    _ = await lost.call(.onDisconnectPut("ends", DatabaseNode(.incrementInt(1))))
    let others = [engine("b"), engine("c")]
    let clients = others.map { TestClient($0) }
    for client in clients { #expect(await client.get("ends").isEmpty) }
    await clients[0].listen("ends", tag: 1)
    for _ in 0..<8 { await advance(5, others) }
    for client in clients { #expect(await client.get("ends").leaf == .int(1)) }
    #expect(clients[0].node(tag: 1).leaf == .int(1))
    withExtendedLifetime(lost) {}
  }

  @Test func `an engine that closes with operations it could not carry out leaves them to another`() async throws {
    let failing = FaultyStore(HookedStore(store, closesBase: false))
    var options = DatabaseServiceOptions()
    options.clock = clock.service
    options.sharing = .shared(lease: .seconds(15))
    let first = DatabaseEngine(store: failing, options: options)
    let client = TestClient(first)
    _ = await client.call(.onDisconnectPut("ends", DatabaseNode(.incrementInt(1))))
    failing.failures.withLock { $0 = 1 }
    try await first.close()
    let other = engine("b")
    let reader = TestClient(other)
    #expect(await reader.get("ends").isEmpty)
    for _ in 0..<8 { await advance(5, [other]) }
    #expect(await reader.get("ends").leaf == .int(1))
  }

  @Test func `an engine that is closed while it renews its lease sets no further timer`() async throws {
    let held = HookedStore(store, closesBase: false)
    let reads = StoreReads(of: held)
    var options = DatabaseServiceOptions()
    options.clock = clock.service
    options.sharing = .shared(lease: .seconds(15))
    let engine = DatabaseEngine(store: held, options: options)
    let client = TestClient(engine)
    _ = await client.get("x")
    await engine.settle()
    let begun = reads.begun.entries.count
    reads.gate.close()
    clock.advance(by: .seconds(8))
    await reads.begun.wait { $0.count > begun }
    #expect(clock.deadlines.isEmpty)
    let closing = Task { try await engine.close() }
    while engine.room("test")?.state.withLock({ $0.isOver }) != true { await Task.yield() }
    reads.gate.open()
    try await closing.value
    #expect(clock.deadlines.isEmpty)
  }

  @Test func `an engine whose lease another took ends its connections, and nothing runs twice`() async {
    // The timers of the victim stand still for a while.
    let stopped = ManualClock(at: clock.now)
    let victim = engine("a", clock: stopped.service)
    let client = TestClient(victim)
    _ = await client.call(.onDisconnectPut("ends", DatabaseNode(.incrementInt(1))))
    let other = engine("b")
    let reader = TestClient(other)
    for _ in 0..<8 { await advance(5, [other]) }
    #expect(await reader.get("ends").leaf == .int(1))
    stopped.advance(by: .seconds(8))
    await client.closed()
    await settle([victim, other])
    #expect(await reader.get("ends").leaf == .int(1))
    // The client reconnects and is served.
    let again = TestClient(victim)
    _ = await again.call(.onDisconnectPut("ends", DatabaseNode(.incrementInt(1))))
    again.close()
    await again.closed()
    #expect(await reader.get("ends").leaf == .int(2))
  }

  @Test(arguments: [-600, 20, 600] as [Int64])
  func `an engine whose clock is wrong leaves the sessions of the others alone`(skew: Int64) async {
    let first = engine("a")
    let client = TestClient(first)
    _ = await client.call(.onDisconnectPut("ends", DatabaseNode(.incrementInt(1))))
    let clock = clock
    let wrong = ServiceClock(
      now: { clock.now + skew * 1_000_000 }, schedule: { clock.schedule(after: $0, $1) })
    let second = engine("b", clock: wrong)
    let other = TestClient(second)
    #expect(await other.get("ends").isEmpty)
    for _ in 0..<10 { await advance(5, [first, second]) }
    #expect(await other.get("ends").isEmpty)
    #expect(!client.isClosed)
  }

  @Test func `an engine that lives keeps its sessions when the time of the store jumps`() async {
    let engines = [engine("a"), engine("b")]
    let client = TestClient(engines[0]), other = TestClient(engines[1])
    _ = await client.call(.onDisconnectPut("ends", DatabaseNode(.incrementInt(1))))
    _ = await other.get("ends")
    for jump in [1_800_000_000, -900_000_000, 3_000_000_000] as [Int64] {
      storeClock.setAhead(by: jump)
      for _ in 0..<6 { await advance(4, engines) }
    }
    #expect(await other.get("ends").isEmpty)
    #expect(!client.isClosed)
  }

  private func plain(_ name: String, sharing: DatabaseSharing? = nil) -> DatabaseEngine {
    var options = DatabaseServiceOptions()
    options.clock = clock.service
    if let sharing { options.sharing = sharing }
    return DatabaseEngine(store: HookedStore(store, closesBase: false, isShared: true), options: options)
  }

  @Test func `on a store that says that it is shared, engines share it without being told`() async {
    let engines = [plain("a"), plain("b")]
    let clients = engines.map { TestClient($0) }
    _ = await clients[0].call(.onDisconnectPut("presence", DatabaseNode(.string("offline"))))
    _ = await clients[0].put("presence", DatabaseNode(.string("online")))
    // The start of another process runs nothing of connected clients.
    await clients[1].listen("presence", tag: 1)
    #expect(clients[1].node(tag: 1).leaf == .string("online"))
    _ = await clients[0].put("presence", DatabaseNode(.string("away")))
    await settle(engines)
    #expect(clients[1].node(tag: 1).leaf == .string("away"))
    for _ in 0..<4 { await advance(5, engines) }
    #expect(clients[1].node(tag: 1).leaf == .string("away"))
    clients[0].close()
    await clients[0].closed()
    await settle(engines)
    #expect(clients[1].node(tag: 1).leaf == .string("offline"))
  }

  @Test func `an engine that wants a shared store for itself is refused with a sentence`() async {
    let client = TestClient(plain("a", sharing: .alone))
    await client.closed()
    let reasons = client.messages.compactMap { if case .failed(let reason) = $0 { reason } else { nil } }
    #expect(reasons.count == 1 && reasons.allSatisfy { $0.contains("DatabaseServiceOptions.sharing is .alone") })
    // A store that says nothing is taken for one that others can have.
    let silent = DeafStore(HookedStore(store, closesBase: false))
    #expect((try? DatabaseSharing.automatic.lease(on: silent, default: .seconds(1))) == .seconds(1))
    #expect((try? DatabaseSharing.automatic.lease(on: store, default: .seconds(1))) == .some(nil))
    #expect((try? DatabaseSharing.alone.lease(on: silent, default: .seconds(1))) == .some(nil))
  }

  @Test func `an engine that was stopped for longer than commits are kept begins anew with its clients`() async {
    let stopped = ManualClock(at: clock.now), gate = HookedStore(store, closesBase: false)
    var options = DatabaseServiceOptions()
    options.clock = stopped.service
    options.sharing = .shared(lease: .seconds(15))
    let slow = DatabaseEngine(store: DeafStore(gate), options: options)
    let client = TestClient(slow)
    await client.listen("n", tag: 1)
    let busy = engine("b"), writer = TestClient(busy)
    _ = await writer.put("n", DatabaseNode(.int(1)))
    for _ in 0..<40 { await advance(8, [busy]) }
    stopped.advance(by: .seconds(8))
    await client.closed()
    let again = TestClient(slow)
    await again.listen("n", tag: 1)
    #expect(again.node(tag: 1).leaf == .int(1))
  }

  @Test func `an index that one engine builds is kept by the writers of both`() async {
    let writer = TestClient(engine("w"))
    for number in 0..<50 {
      _ = await writer.put(DatabasePath("rooms/r\(number)/size"), DatabaseNode(.int(Int64(number))))
    }
    let builder = engine("a", indexOn: ["size"])
    let reader = TestClient(builder)
    _ = await reader.get("x")
    await builder.settle()
    // This engine declares nothing, and keeps what others have declared.
    _ = await writer.put("rooms/r7/size", DatabaseNode(.int(1000)))
    _ = await writer.put("rooms/r9", .empty)
    let spec = DatabaseQuerySpec(index: .child("size"), limit: .init(2, .last))
    let reply = await reader.call(.get("rooms", spec))
    #expect(reply.warnings.isEmpty && Set(reply.node.keys) == ["r49", "r7"])
    #expect(
      await reader.get(
        "rooms",
        DatabaseQuerySpec(
          index: .child("size"), start: .init(DatabaseNode(.int(9))),
          end: .init(DatabaseNode(.int(9))))
      ).isEmpty)
  }

  @Test(arguments: DatabaseContracts.all)
  func `two engines on one store keep what a backend promises`(contract: Contract<DatabaseSubject>) async throws {
    try await contract.verify(DatabaseSubject(SpreadBackend([engine("a"), engine("b")])))
  }

  @Test func `old rows of the log are dropped`() async throws {
    let first = engine("a")
    let client = TestClient(first)
    for number in 0..<5 { _ = await client.put("n", DatabaseNode(.int(Int64(number)))) }
    let keys = Keys(namespace: "test")
    let before = try await store.read { try await $0.entries(in: keys.log(after: .zero)).count }
    #expect(before == 5)
    let present = try await store.read { $0.version }
    let future = StoreVersion(microseconds: present.microseconds + DatabaseServiceTuning().logTime.microseconds + 1)
    #expect(keys.log(upTo: future).contains(keys.log(present, 0)))
    #expect(!keys.log(upTo: StoreVersion(microseconds: present.microseconds - 1)).contains(keys.log(present, 0)))
  }
}

extension DatabaseNode {
  var keys: [DatabaseKey] {
    var keys: [DatabaseKey] = []
    forEachChild { key, _ in keys.append(key) }
    return keys
  }
}

/// Opens each connection with another of its backends.
final class SpreadBackend: DatabaseBackend {
  private let backends: [any DatabaseBackend]
  private let next = Locked(0)

  init(_ backends: [any DatabaseBackend]) { self.backends = backends }

  func connect(
    _ request: DatabaseConnectRequest, receive: @escaping @Sendable (DatabaseServerMessage) -> Void
  ) -> any DatabaseConnection {
    let number = next.withLock { next in
      next += 1
      return next
    }
    return backends[number % backends.count].connect(request, receive: receive)
  }

  func read(
    _ request: DatabaseReadRequest, context: CallContext
  ) async throws(DatabaseServiceError) -> DatabaseReadResult {
    try await backends[0].read(request, context: context)
  }

  func write(
    _ request: DatabaseWriteRequest, context: CallContext
  ) async throws(DatabaseServiceError) -> DatabaseNode {
    try await backends[0].write(request, context: context)
  }
}

/// A store that reports no commits.
private final class DeafStore: OrderedStore {
  private let store: HookedStore

  init(_ store: HookedStore) { self.store = store }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await store.read(body)
  }

  func write<Result: Sendable>(
    _ body: nonisolated(nonsending) @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> { try await store.write(body) }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion { try await store.raiseFloor(to: version) }
  func close() async throws {}
}
