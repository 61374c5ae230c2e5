import Testing
import VestaDatabaseBackend
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// The databases of a store, among everything else that is kept of them.
@Suite(.timeLimit(.minutes(20)))
struct DatabaseListTests {
  @Test func `each database with data is listed once, whatever else is kept of it`() async throws {
    var options = DatabaseServiceOptions()
    options.indexes.add(path: "rooms", indexOn: "size")
    let engine = DatabaseEngine(store: ModelStore(), options: options)
    let room = DatabaseNode(children: [("size", DatabaseNode(.int(1)))], priority: .int(2))
    for name in ["a", "b"] {
      let client = TestClient(engine, namespace: name)
      #expect(await client.put("rooms/x", room).status == .ok)
      #expect(await client.call(.onDisconnectPut("rooms/y", room)).status == .ok)
    }
    // One without data is none, also where something waits for the end of a connection.
    let empty = TestClient(engine, namespace: "c")
    #expect(await empty.call(.onDisconnectPut("x", room)).status == .ok)
    #expect(try await engine.databases(context: .owner) == ["a", "b"])
    try await engine.close()
  }
}
