import Foundation
import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaDatabase

/// Writes of a client whose device has no room at one of their steps.
@Suite(.timeLimit(.minutes(20)))
struct FullDeviceTests {
  private let device = FullDevice()
  private let clock = ManualClock()
  private let backend = ScriptedDatabaseBackend()
  private let ended = Log<String>()

  /// A program that starts on the device.
  private func start(_ backend: ScriptedDatabaseBackend) -> Database {
    var environment = Repo.Environment(backend: backend)
    environment.clock = clock.service
    environment.random = SplitMix.fractions(seed: 1)
    let client = World.client(environment, stores: device)
    client.isPersistenceEnabled = true
    return client
  }

  private func set(_ client: Database, _ path: String, _ value: Any) {
    client.reference(withPath: path).setValue(value) { [ended] error, _ in
      ended.add(error.map { "\(path): \($0)" } ?? "\(path): ok")
    }
  }

  private func isPut(_ path: DatabasePath) -> @Sendable (DatabaseRequest) -> Bool {
    { if case .put(path, _, _) = $0 { true } else { false } }
  }

  private func puts(_ link: ScriptedDatabaseBackend.Link) -> [String] {
    link.requests.compactMap { if case .put(let path, _, _) = $0 { path.text } else { nil } }
  }

  private func rest(_ client: Database) async {
    await withCheckedContinuation { continuation in client.repo.enqueue { _ in continuation.resume() } }
    client.repo.events.drain()
  }

  /// The writes that a program sends when it is started on the device: the kept ones, up to a mark.
  private func sentAtTheNextStart() async -> [String] {
    let backend = ScriptedDatabaseBackend(), client = start(backend)
    set(client, "mark", 1)
    let link = await backend.link(0)
    link.hello()
    await link.asked.wait { $0.contains(where: self.isPut("mark")) }
    return puts(link).filter { $0 != "mark" }
  }

  @Test func `a write is not answered before the device has forgotten it, however long its disk is full`() async throws
  {
    let client = start(backend)
    set(client, "doc", "old")
    let link = await backend.link(0)
    link.hello()
    await link.asked.wait { $0.contains(where: self.isPut("doc")) }
    device.room.withLock { $0 = .none }
    await link.answer(.ok, isPut("doc"))
    await device.refused.wait { !$0.isEmpty }
    await rest(client)
    #expect(ended.entries.isEmpty, "the device would send the write again")
    #expect(try await device.writes().count == 1)
    // Tried again by itself, and forgotten when there is room.
    clock.advance(by: .seconds(1))
    await device.refused.wait { $0.count >= 2 }
    device.room.withLock { $0 = .enough }
    clock.advance(by: .seconds(8))
    await ended.wait { $0 == ["doc: ok"] }
    #expect(try await device.writes().isEmpty)
    #expect(await sentAtTheNextStart().isEmpty)
  }

  @Test func `where the disk only lets go of rows, writes are answered, and others are sent without being kept`()
    async throws
  {
    let client = start(backend)
    set(client, "a", 1)
    let link = await backend.link(0)
    link.hello()
    await link.asked.wait { $0.contains(where: self.isPut("a")) }
    device.room.withLock { $0 = .forRemovals }
    set(client, "b", 2)
    await device.refused.wait { !$0.isEmpty }
    await rest(client)
    #expect(!link.requests.contains(where: isPut("b")), "the older write could be sent again over it")
    await link.answer(.ok, isPut("a"))
    await ended.wait { $0 == ["a: ok"] }
    await link.answer(.ok, isPut("b"))
    await ended.wait { $0 == ["a: ok", "b: ok"] }
    #expect(try await device.writes().isEmpty)
    #expect(await sentAtTheNextStart().isEmpty)
  }

  @Test func `where nothing is kept, a full disk holds up no write`() async throws {
    device.room.withLock { $0 = .none }
    let client = start(backend)
    set(client, "a", 1)
    set(client, "b", 2)
    let link = await backend.link(0)
    link.hello()
    await link.answer(.ok, isPut("a"))
    await link.answer(.ok, isPut("b"))
    await ended.wait { $0 == ["a: ok", "b: ok"] }
    device.room.withLock { $0 = .enough }
    #expect(await sentAtTheNextStart().isEmpty)
  }

  @Test func `a transaction is not answered while the device could send an older write again`() async throws {
    let client = start(backend)
    set(client, "n", 1)
    let link = await backend.link(0)
    link.hello()
    await link.asked.wait { $0.contains(where: self.isPut("n")) }
    client.reference(withPath: "n").runTransactionBlock { data in
      data.value = 2
      return .success(withValue: data)
    } andCompletionBlock: { [ended] error, isCommitted, _ in
      ended.add("transaction: \(error.map { "\($0)" } ?? "\(isCommitted)")")
    }
    await link.asked.wait { requests in requests.count { self.isPut("n")($0) } == 2 }
    device.room.withLock { $0 = .none }
    await link.answer(.ok) { if case .listen = $0 { true } else { false } }
    await link.answer(.ok, isPut("n"))
    await link.answer(.ok, isPut("n"))
    await device.refused.wait { !$0.isEmpty }
    await rest(client)
    #expect(ended.entries.isEmpty)
    device.room.withLock { $0 = .forRemovals }
    clock.advance(by: .seconds(8))
    await ended.wait { $0 == ["n: ok", "transaction: true"] }
  }

  @Test func `purged writes are not sent at the next start once their completions were called`() async throws {
    let client = start(backend)
    for path in ["a", "b"] { set(client, path, 1) }
    await device.stored.wait { !$0.isEmpty }
    while try await device.writes().count < 2 { await Task.yield() }
    device.room.withLock { $0 = .none }
    client.purgeOutstandingWrites()
    await device.refused.wait { !$0.isEmpty }
    await rest(client)
    #expect(ended.entries.isEmpty)
    device.room.withLock { $0 = .forRemovals }
    clock.advance(by: .seconds(8))
    await ended.wait { $0.count == 2 }
    #expect(ended.entries.allSatisfy { $0.contains("Write cancelled by user") })
    #expect(await sentAtTheNextStart().isEmpty)
  }

  @Test func `a database that is closed on a full disk says that the write is sent again`() async throws {
    let client = start(backend)
    set(client, "doc", "old")
    let link = await backend.link(0)
    link.hello()
    await link.asked.wait { $0.contains(where: self.isPut("doc")) }
    device.room.withLock { $0 = .none }
    await link.answer(.ok, isPut("doc"))
    await device.refused.wait { !$0.isEmpty }
    await client.shutDown()
    await ended.wait { $0.count == 1 }
    #expect(ended.entries.allSatisfy { $0.contains("is sent again at the next start") })
    device.room.withLock { $0 = .enough }
    #expect(await sentAtTheNextStart() == ["doc"])
  }

  @Test func `a device that is closed while its disk is full tries no more`() async throws {
    let clock = ManualClock()
    let persistence = device.persistence(1 << 20, DatabaseTuning(), clock)
    _ = await persistence.load(now: 0)
    device.room.withLock { $0 = .none }
    persistence.save(StoredWrite(id: 1, path: "w", change: .overwrite(DatabaseNode(.int(1))))) {}
    await device.refused.wait { !$0.isEmpty }
    await persistence.close()
    #expect(clock.deadlines.isEmpty)
  }

  @Test func `a write that the store never takes holds up no other`() async throws {
    let persistence = device.persistence(1 << 20, DatabaseTuning(), clock)
    _ = await persistence.load(now: 0)
    let text = DatabaseNode(.string(String(repeating: "x", count: 5 << 20)))
    let large = DatabaseNode(children: (0..<4).map { (DatabaseKey("k\($0)"), text) })
    let calls = Log<Int>()
    for (id, node) in [(1, large), (2, DatabaseNode(.int(2)))] {
      persistence.save(StoredWrite(id: id, path: "w", change: .overwrite(node))) { calls.add(id) }
    }
    await calls.wait { $0.sorted() == [1, 2] }
    #expect(try await device.writes() == [2])
    await persistence.close()
  }

  /// Whatever the disk does, no write that the device still has is answered, and each is answered once.
  @Test(arguments: 0..<80)
  func `what was answered is not on the device, at any moment and after any faults`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let tuning = DatabaseTuning.small(&random)
    let persistence = device.persistence(1 << 20, tuning, clock)
    _ = await persistence.load(now: 0)
    let told = Log<Int>(), released = Log<Int>()
    var open: [Int] = [], next = 1
    for _ in 0..<60 {
      switch random.below(6) {
      case 0, 1:
        let id = next
        next += 1
        open.append(id)
        persistence.save(StoredWrite(id: id, path: "w", change: .overwrite(DatabaseNode(.int(Int64(id)))))) {
          released.add(id)
        }
      case 2 where !open.isEmpty:
        // Answers arrive in the order of the writes.
        let id = open.removeFirst()
        persistence.forget(id) { if $0 == nil { told.add(id) } }
      case 3: device.room.withLock { $0 = random.room() }
      case 4: clock.advance(by: .seconds(random.below(10)))
      default: await Task.yield()
      }
      // First the answers, then the rows: answered writes do not reappear.
      let answered = told.entries.max() ?? 0
      let left = try await device.writes()
      #expect(left.allSatisfy { $0 > answered }, "seed \(seed) \(tuning): \(left) beside \(told.entries)")
    }
    device.room.withLock { $0 = .enough }
    for id in open { persistence.forget(id) { if $0 == nil { told.add(id) } } }
    clock.advance(by: .seconds(60))
    let all = next - 1
    await told.wait { $0.count == all }
    #expect(told.entries == Array(1..<next), "seed \(seed) \(tuning)")
    await released.wait { Set($0).count == $0.count && $0.count <= all }
    #expect(try await device.writes().isEmpty)
    await persistence.close()
  }
}
