import Testing
import VestaDatabaseBackend
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// Long reads let other tasks run: on one thread, where a task that does not suspend holds up all others.
struct YieldingTests {
  private static let count = 6_000

  private static let queries: [(String, DatabaseQuerySpec, least: Int)] = [
    ("everything", .all, 3),
    ("in the order of keys", DatabaseQuerySpec(index: .key, start: .init(DatabaseNode(.string("c2")))), 1),
    ("in the order of a child", DatabaseQuerySpec(index: .child("n"), limit: .init(3, .first)), 3),
  ]

  @Test(arguments: 0..<3)
  func `others run while much is read`(number: Int) async throws {
    let (_, spec, least) = Self.queries[number]
    let store = ModelStore()
    let engine = DatabaseEngine(store: store)
    let children = (0..<Self.count).map { (DatabaseKey("c\($0)"), DatabaseNode(.int(Int64($0)))) }
    #expect(await TestClient(engine).put("all", DatabaseNode(children: children)).status == .ok)
    let context = RoomContext(
      owner: "", keys: Keys(namespace: "test"), catalogs: CatalogCache(), sharing: RoomSharing(),
      logPartBytes: 1, namespace: "test", events: nil)
    let visits = try await OneThread.visits {
      try await store.read { reader in
        let found = try await QueryReader(reader, context, for: [spec]).window("all", spec)
        #expect(found.node.childCount >= 1)
      }
    }
    #expect(visits >= least)
    try await engine.close()
  }
}
