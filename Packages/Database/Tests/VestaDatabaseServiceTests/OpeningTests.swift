import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// The state of the store when a database is opened.
@Suite(.timeLimit(.minutes(20)))
struct OpeningTests {
  private let store = ModelStore()
  private let keys = Keys(namespace: "test")

  private func engine() -> DatabaseEngine { DatabaseEngine(store: HookedStore(store, closesBase: false)) }

  /// Leaves operations for the end of two sessions behind.
  private func leave(_ operations: [(session: String, path: DatabasePath, node: DatabaseNode)]) async throws {
    let keys = keys
    _ = try await store.write { transaction in
      for (number, operation) in operations.enumerated() {
        let row = EndOperations.encode(DatabasePathValue(operation.path, operation.node))
        try await transaction.put(row, for: keys.operation("gone", operation.session, number))
      }
    }
  }

  private func leftOperations() async throws -> Int {
    let keys = keys
    return try await store.read { try await $0.entries(in: KeyRange(prefix: keys.sessions())).count }
  }

  @Test
  func `a damaged operation for the end of a session keeps no database closed and no other operation from running`()
    async throws
  {
    try await leave([
      ("s1", "a", DatabaseNode(.int(1))), ("s1", "b", DatabaseNode(.int(2))), ("s2", "c", DatabaseNode(.int(3))),
    ])
    let key = keys.operation("gone", "s1", 0)
    for damage in [[], [1], [9, 9, 9], [0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]] {
      _ = try await store.write { try await $0.put(damage, for: key) }
      let client = TestClient(engine())
      #expect(
        await client.get("") == DatabaseNode(children: [("b", DatabaseNode(.int(2))), ("c", DatabaseNode(.int(3)))]))
      #expect(try await leftOperations() == 0)
    }
  }

  @Test func `an operation whose place is damaged is dropped, and the others run`() async throws {
    let keys = keys
    try await leave([
      ("s1", "a", DatabaseNode(.int(1))), ("s1", "damaged/x", DatabaseNode(.int(2))),
      ("s2", "c", DatabaseNode(.int(3))),
    ])
    _ = try await store.write { try await $0.put([0x7F], for: keys.data("damaged")) }
    let client = TestClient(engine())
    #expect(await client.get("a").leaf == .int(1))
    #expect(await client.get("c").leaf == .int(3))
    #expect(try await leftOperations() == 0)
    // The damaged place itself says that it is damaged.
    #expect(await client.call(.get("damaged", .all)).status == .unavailable)
  }

  @Test func `a damaged operation of a session that is open takes no other with it`() async throws {
    let client = TestClient(engine())
    _ = await client.call(.onDisconnectPut("a", DatabaseNode(.int(1))))
    _ = await client.call(.onDisconnectPut("b", DatabaseNode(.int(2))))
    let keys = keys
    _ = try await store.write { transaction in
      let rows = try await transaction.entries(in: KeyRange(prefix: keys.sessions()))
      try await transaction.put([9], for: rows[0].key)
    }
    #expect(await client.call(.onDisconnectCancel("c")).status == .ok)
    client.close()
    await client.closed()
    #expect(await TestClient(engine()).get("") == DatabaseNode(children: [("b", DatabaseNode(.int(2)))]))
  }

  @Test func `a store that cannot be opened is a failure with its reason, and is tried again`() async throws {
    let isLocked = Locked(true), store = store
    let engine = DatabaseEngine(options: DatabaseServiceOptions()) {
      guard !isLocked.withLock({ $0 }) else {
        throw StoreError(.locked, operation: "open", message: "Another process has the store open.")
      }
      return HookedStore(store, closesBase: false)
    }
    for _ in 0..<2 {
      let client = TestClient(engine)
      await client.closed()
      guard case .failed(let reason)? = client.messages.first else {
        Issue.record("no failure: \(client.messages)")
        return
      }
      #expect(reason.contains("Another process has the store open"))
      #expect(client.messages.count == 2)
    }
    isLocked.withLock { $0 = false }
    #expect(await TestClient(engine).put("a", DatabaseNode(.int(1))).status == .ok)
  }

  @Test func `a failure that passes by itself is none of the database`() async {
    let engine = DatabaseEngine(options: DatabaseServiceOptions()) {
      throw StoreError(.conflict, operation: "open", message: "Somebody else was first.")
    }
    let client = TestClient(engine)
    await client.closed()
    #expect(!client.messages.contains { if case .failed = $0 { true } else { false } })
  }

  @Test
  func
    `what sessions left behind and a failing store put off comes before anything else, and keeps no database closed`()
    async throws
  {
    try await leave([("s1", "presence", DatabaseNode(.string("offline")))])
    let failing = FaultyStore(HookedStore(store, closesBase: false))
    failing.failures.withLock { $0 = 1 }
    let client = TestClient(DatabaseEngine(store: failing))
    #expect(await client.get("presence").leaf == .string("offline"))
    #expect(await client.put("presence", DatabaseNode(.string("online"))).status == .ok)
    #expect(await client.get("presence").leaf == .string("online"))
    #expect(try await leftOperations() == 0)
  }
}
