import Testing
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// One damaged row stops nothing but what needs its value.
@Suite(.timeLimit(.minutes(20)))
struct DamageTests {
  private let store = ModelStore()
  private let keys = Keys(namespace: "test")
  private static let damages: [[UInt8]] = [[], [0xFF], [1]]

  private func engine(indexOn children: [String] = [], shared: Bool = false) -> DatabaseEngine {
    var options = DatabaseServiceOptions()
    for child in children { options.indexes.add(path: "rooms", indexOn: child) }
    if shared { options.sharing = .shared(lease: .seconds(15)) }
    return DatabaseEngine(store: HookedStore(store, closesBase: false), options: options)
  }

  private func put(_ bytes: [UInt8], at key: [UInt8]) async throws {
    _ = try await store.write { try await $0.put(bytes, for: key) }
  }

  private func spec(_ index: DatabaseIndex, _ value: Int64) -> DatabaseQuerySpec {
    let bound = DatabaseQuerySpec.Bound(DatabaseNode(.int(value)))
    return DatabaseQuerySpec(index: index, start: bound, end: bound)
  }

  @Test(arguments: damages, [false, true])
  func `a damaged leaf can be replaced and removed, with its entries`(damage: [UInt8], isShared: Bool) async throws {
    let client = TestClient(engine(indexOn: ["size"], shared: isShared))
    for value in [DatabaseNode(.int(7), priority: .int(8)), .empty] {
      for name in ["a", "b"] {
        _ = await client.put(DatabasePath("rooms/\(name)/size"), DatabaseNode(.int(1)))
        _ = await client.put(DatabasePath("list/\(name)"), DatabaseNode(.int(1), priority: .int(2)))
      }
      try await put(damage, at: keys.data("rooms/a/size"))
      try await put(damage, at: keys.data("list/a"))
      #expect(await client.put("rooms/a/size", value).status == .ok)
      #expect(await client.put("list/a", value).status == .ok)
      #expect(await client.get("list/a") == value)
      // The old entries are deleted, the new ones are there.
      let old = ["b"] as [DatabaseKey]
      #expect(await client.get("rooms", spec(.child("size"), 1)).keys == old)
      #expect(await client.get("list", spec(.priority, 2)).keys == old)
      #expect(await client.get("rooms", spec(.child("size"), 7)).keys == (value.isEmpty ? [] : ["a"]))
      #expect(await client.get("list", spec(.priority, 8)).keys == (value.isEmpty ? [] : ["a"]))
    }
  }

  @Test(arguments: damages)
  func `data next to a damaged row can be written and read, with an index over both`(damage: [UInt8]) async throws {
    let client = TestClient(engine(indexOn: ["size"]))
    for name in ["a", "b"] {
      _ = await client.put(DatabasePath("rooms/\(name)/size"), DatabaseNode(.int(1)))
    }
    try await put(damage, at: keys.data("rooms/a/size"))
    #expect(await client.put("rooms/a/title", DatabaseNode(.string("A"))).status == .ok)
    #expect(await client.get("rooms/a/title").leaf == .string("A"))
    #expect(await client.put("rooms/b/size", DatabaseNode(.int(2))).status == .ok)
    #expect(await client.get("rooms", spec(.child("size"), 2)).keys == ["b"])
    // A request that needs the value says what is wrong.
    for request: DatabaseRequest in [
      .get("rooms/a", .all), .get("rooms", spec(.child("size"), 1)),
      .put("rooms/a/size", DatabaseNode(.incrementInt(1)), hash: nil),
    ] {
      let reply = await client.call(request)
      #expect(reply.status == .unavailable && reply.message.contains("is damaged"), "\(reply)")
    }
    #expect(await client.put("rooms/a", .empty).status == .ok)
    #expect(await client.get("rooms", spec(.child("size"), 1)).isEmpty)
  }

  @Test(arguments: damages)
  func `the last child below a damaged row can be removed`(damage: [UInt8]) async throws {
    let client = TestClient(engine())
    _ = await client.put("a/b/c", DatabaseNode(.int(1)))
    try await put(damage, at: keys.data("a/b"))
    #expect(await client.put("a/b/c", .empty).status == .ok)
    #expect(await client.get("a/b/c").isEmpty)
    #expect(await client.put("a/b", .empty).status == .ok)
    #expect(try await store.read { try await $0.entries(in: KeyRange(prefix: [1])) }.isEmpty)
  }

  @Test func `an index is built past damaged rows`() async throws {
    let first = TestClient(engine())
    for number in 0..<9 {
      _ = await first.put(DatabasePath("rooms/r\(number)/size"), DatabaseNode(.int(Int64(number))))
    }
    try await put([9], at: keys.data("rooms/r3/size"))
    try await put([9], at: keys.data("rooms/r5") + [0x44])
    let engine = engine(indexOn: ["size"])
    let client = TestClient(engine)
    _ = await client.get("x")
    await engine.settle()
    let reply = await client.call(.get("rooms", spec(.child("size"), 7)))
    #expect(reply.node.keys == ["r7"] && reply.warnings.isEmpty, "\(reply)")
    #expect(await client.put("rooms/r3/size", DatabaseNode(.int(7))).status == .ok)
    #expect(await client.get("rooms", spec(.child("size"), 7)).keys == ["r3", "r7"])
  }

  @Test(arguments: [false, true])
  func `a damaged list of the indexes is made anew, with the indexes`(declares: Bool) async throws {
    let first = engine(indexOn: ["size"])
    _ = await TestClient(first).put("rooms/a/size", DatabaseNode(.int(1)))
    await first.settle()
    for damage: [UInt8] in [[0xFF], [0, 200], [2, 0, 9]] {
      try await put(damage, at: keys.catalog())
      let engine = engine(indexOn: declares ? ["size"] : [])
      let client = TestClient(engine)
      #expect(await client.put("rooms/b/size", DatabaseNode(.int(1))).status == .ok)
      await engine.settle()
      #expect(await client.get("rooms", spec(.child("size"), 1)).keys == ["a", "b"])
      let rows = try await store.read { try await $0.entries(in: KeyRange(prefix: [3])) }
      #expect(rows.count == (declares ? 2 : 0))
    }
  }

  @Test func `a damaged log of commits has clients begin anew, and listens continue`() async throws {
    let engines = [engine(shared: true), engine(shared: true)]
    let (reader, writer) = (TestClient(engines[0]), TestClient(engines[1]))
    _ = await reader.put("a", DatabaseNode(.int(1)))
    await reader.listen("a", tag: 1)
    let keys = keys
    _ = try await store.write { transaction in
      let version = try await transaction.commitVersion()
      try await transaction.put([0xFF, 0xFF, 0xFF], for: keys.log(version, 0))
    }
    for client in [reader, writer] { await client.closed() }
    let (again, other) = (TestClient(engines[0]), TestClient(engines[1]))
    await again.listen("a", tag: 1)
    #expect(await other.put("a", DatabaseNode(.int(2))).status == .ok)
    for engine in engines { await engine.settle() }
    #expect(again.node(tag: 1).leaf == .int(2))
  }
}
