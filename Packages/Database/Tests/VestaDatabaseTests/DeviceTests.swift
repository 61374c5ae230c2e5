import Foundation
import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabase

/// Writes on their way through the device's store.
@Suite(.timeLimit(.minutes(20)))
struct DeviceTests {
  private struct Stores: StoreProvider {
    let store: HookedStore

    func openStore(named name: String, in directory: String, options: StoreOptions) async throws -> any OrderedStore {
      store
    }
  }

  private func rest(_ client: Database) async {
    await withCheckedContinuation { continuation in client.repo.enqueue { _ in continuation.resume() } }
    client.repo.events.drain()
  }

  @Test func `a write is numbered after the ones that the device has kept, which are shown in any order`() {
    var data = ClientTree()
    #expect(data.makeWriteID() == 1)
    for id in [7, 5] {
      let write = StoredWrite(id: id, path: DatabasePath("a"), change: .overwrite(DatabaseNode(.int(Int64(id)))))
      _ = data.show(write, serverTime: 0)
    }
    #expect(data.makeWriteID() == 8)
  }

  /// A kill in between would otherwise lose a write that the service has, and send older ones again over it.
  @Test func `a write is sent when the device keeps it, and answered when the device has forgotten it`() async {
    let (backend, store) = (ScriptedDatabaseBackend(), HookedStore())
    let gates = StoreGates(in: store)
    let client = World.client(Repo.Environment(backend: backend), stores: Stores(store: store))
    client.isPersistenceEnabled = true
    let ended = Log<String>()
    @Sendable func isPut(_ path: DatabasePath) -> @Sendable (DatabaseRequest) -> Bool {
      { if case .put(path, _, _) = $0 { true } else { false } }
    }
    client.reference(withPath: "x").setValue(0, withCompletionBlock: { _, _ in ended.add("x") })
    let link = await backend.link(0)
    link.hello()
    await link.answer(.ok, isPut("x"))
    await ended.wait { $0 == ["x"] }
    gates.writes.close()
    let before = gates.held.entries.count
    client.reference(withPath: "a").setValue(1, withCompletionBlock: { _, _ in ended.add("a") })
    // A transaction is not kept, and does not overtake what was written before it.
    client.reference(withPath: "b").runTransactionBlock { data in
      data.value = 2
      return .success(withValue: data)
    } andCompletionBlock: { _, _, _ in
      ended.add("b")
    }
    await gates.held.wait { $0.count > before }
    await rest(client)
    #expect(!link.requests.contains { isPut("a")($0) || isPut("b")($0) })
    gates.writes.open()
    await link.asked.wait { $0.contains(where: isPut("b")) }
    let puts = link.requests.compactMap { if case .put(let path, _, _) = $0 { path } else { nil } }
    #expect(puts == ["x", "a", "b"])
    gates.writes.close()
    let held = gates.held.entries.count
    await link.answer { if case .listen = $0 { true } else { false } }
    await link.answer(.ok, isPut("a"))
    await gates.held.wait { $0.count > held }
    await rest(client)
    #expect(ended.entries == ["x"])
    gates.writes.open()
    await ended.wait { $0 == ["x", "a"] }
  }

  @Test func `a damaged row of the device's store takes no others with it`() async throws {
    let store = HookedStore(closesBase: false, isShared: true)
    var persistence = Persistence(limit: 1 << 20) { store }
    for id in 1...3 {
      persistence.save(StoredWrite(id: id, path: "w", change: .overwrite(DatabaseNode(.int(Int64(id)))))) {}
    }
    let node = DatabaseNode(children: [("a", DatabaseNode(.int(5))), ("b", DatabaseNode(.int(6)))])
    persistence.store([.node("k", node)], of: SyncCache(limit: 1 << 20, now: 0))
    await persistence.close()
    func rows(_ table: UInt8) async throws -> [StoreEntry] {
      try await store.read { try await $0.entries(in: KeyRange(prefix: [table])) }
    }
    let (write, data) = (try await rows(2)[1].key, try await rows(1)[0].key)
    _ = try await store.write { transaction in
      try await transaction.put([9], for: write)
      try await transaction.put([0x7F], for: data)
    }
    for _ in 0..<2 {
      persistence = Persistence(limit: 1 << 20) { store }
      let kept = await persistence.load(now: 0)
      #expect(kept.writes.map(\.id) == [1, 3])
      #expect(kept.cache.node.isEmpty && kept.cache.queries.isEmpty)
      await persistence.close()
      // Damaged rows are deleted at the next start.
      let counts = (try await rows(1).count, try await rows(2).count)
      #expect(counts == (0, 2))
    }
  }
}
