import Testing
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// Writes that make room succeed where there is none.
@Suite(.timeLimit(.minutes(20)))
struct FullDiskTests {
  private let store = SmallDiskStore()

  private func engine(shared: Bool, indexOn child: String = "size") -> DatabaseEngine {
    var options = DatabaseServiceOptions()
    options.indexes.add(path: "rooms", indexOn: child)
    options.tuning.hashCheckRows = 4
    if shared { options.sharing = .shared(lease: .seconds(15)) }
    return DatabaseEngine(store: store, options: options)
  }

  @Test(arguments: [false, true])
  func `data is removed on a full disk, its indexes follow, and writing continues when there is room`(
    isShared: Bool
  ) async {
    let client = TestClient(engine(shared: isShared))
    let room = DatabaseNode(children: [("size", DatabaseNode(.int(1))), ("title", DatabaseNode(.string("A")))])
    for name in ["a", "b", "c"] { #expect(await client.put(DatabasePath("rooms/\(name)"), room).status == .ok) }
    await client.listen("rooms", tag: 1)
    store.isFull = true
    #expect(await client.put("rooms/d", room).status == .unavailable)
    // A put and a removal that wait together are no worse off.
    let ids = [
      client.send(.put("rooms/a/size", .empty, hash: nil)), client.send(.put("rooms/e", room, hash: nil)),
      client.send(.merge("rooms", [DatabasePathValue("b/title", .empty), DatabasePathValue("c", .empty)])),
    ]
    var statuses: [DatabaseStatus] = []
    for id in ids { statuses.append(await client.reply(id).status) }
    #expect(statuses == [.ok, .unavailable, .ok])
    let spec = DatabaseQuerySpec(index: .child("size"), start: .init(DatabaseNode(.int(1))))
    #expect(await client.get("rooms", spec).keys == ["b"])
    #expect(await client.get("rooms").keys == ["a", "b"])
    #expect(client.node(tag: 1).keys == ["a", "b"])
    store.isFull = false
    #expect(await client.put("rooms/d", room).status == .ok)
    #expect(await client.get("rooms").keys == ["a", "b", "d"])
  }

  @Test func `what was asked for the end of a connection is carried out on a full disk`() async {
    let engine = engine(shared: false)
    let (client, other) = (TestClient(engine), TestClient(engine))
    _ = await client.put("presence", DatabaseNode(.string("online")))
    _ = await client.call(.onDisconnectPut("presence", DatabaseNode(.string("offline"))))
    store.isFull = true
    client.close()
    await client.closed()
    #expect(await other.get("presence").leaf == .string("offline"))
  }

  @Test func `very many rows with their hash are removed on a full disk of a shared database`() async {
    let client = TestClient(engine(shared: true))
    let rooms = DatabaseNode(children: (0..<10).map { (DatabaseKey("r\($0)"), DatabaseNode(.int($0))) })
    #expect(await client.put("rooms", rooms).status == .ok)
    store.isFull = true
    #expect(await client.put("rooms", .empty, hash: NodeHash.hash(rooms)).status == .ok)
    #expect(await client.get("rooms").isEmpty)
  }

  @Test(arguments: [false, true])
  func `a database is opened on a full disk, also with another index, and its data can be removed`(
    isShared: Bool
  ) async throws {
    let first = engine(shared: isShared)
    let room = DatabaseNode(children: [("size", DatabaseNode(.int(1))), ("title", DatabaseNode(.string("A")))])
    #expect(await TestClient(first).put("rooms/a", room).status == .ok)
    await first.settle()
    store.isFull = true
    let second = engine(shared: isShared, indexOn: "title")
    let client = TestClient(second)
    await second.settle()
    try #require(!client.isClosed)
    #expect(await client.put("rooms/a/size", .empty).status == .ok)
    #expect(await client.get("rooms/a").keys == ["title"])
    #expect(await client.put("rooms/a", .empty).status == .ok)
    #expect(await client.get("rooms").isEmpty)
  }
}
