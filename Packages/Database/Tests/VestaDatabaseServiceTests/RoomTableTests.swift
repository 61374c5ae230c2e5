import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// The databases of an engine: as many as have connections, and a few more.
@Suite(.timeLimit(.minutes(20)))
struct RoomTableTests {
  private let store = ModelStore()

  private func engine(sharing: Bool = false) -> DatabaseEngine {
    var options = DatabaseServiceOptions()
    if sharing {
      options.clock = ManualClock().service
      options.sharing = .shared(lease: .seconds(15))
    }
    return DatabaseEngine(store: HookedStore(store, closesBase: false), options: options)
  }

  /// Connects, writes, asks for a write at the end, and closes.
  private func visit(_ engine: DatabaseEngine, _ number: Int) async {
    let client = TestClient(engine, namespace: "n\(number)")
    #expect(await client.put("a", DatabaseNode(.int(Int64(number)))).status == .ok)
    #expect(await client.call(.onDisconnectPut("b", DatabaseNode(.int(Int64(number))))).status == .ok)
    client.close()
    await client.closed()
  }

  @Test(arguments: [false, true])
  func `databases without connections are closed but for a few, and lose nothing`(_ sharing: Bool) async throws {
    let engine = engine(sharing: sharing)
    let steady = TestClient(engine, namespace: "steady")
    await steady.listen("a", tag: 1)
    for number in 0..<(sharing ? 24 : 60) { await visit(engine, number) }
    await engine.settle()
    // Closing takes its time; all that is surplus has been taken out by the last connection that ended.
    while engine.roomCount > 16 + 1 { await Task.yield() }
    for number in [0, 1, 15, 23] {
      let again = TestClient(engine, namespace: "n\(number)")
      #expect(await again.get("a") == DatabaseNode(.int(Int64(number))))
      #expect(await again.get("b") == DatabaseNode(.int(Int64(number))))
      again.close()
      await again.closed()
    }
    // A database with a connection stays, and so do its listens.
    #expect(await steady.put("a", DatabaseNode(.string("here"))).status == .ok)
    #expect(steady.node(tag: 1) == DatabaseNode(.string("here")))
    #expect(engine.watchCount(in: "steady") == 1)
    try await engine.close()
  }

  @Test func `a database that is opened again while it is being closed keeps its sessions`() async throws {
    let engine = engine(sharing: true)
    for number in 0..<DatabaseServiceTuning().idleDatabases { await visit(engine, number) }
    for round in 0..<4 {
      // The one that has been without connections for longest is closed by this visit, and opened again at once.
      await visit(engine, 1_000 + round)
      let again = TestClient(engine, namespace: "n\(round)")
      #expect(await again.call(.onDisconnectPut("c", DatabaseNode(.int(Int64(round))))).status == .ok)
      await engine.settle()
      #expect(!again.isClosed)
      again.close()
      await again.closed()
      let reader = TestClient(engine, namespace: "n\(round)")
      #expect(await reader.get("c") == DatabaseNode(.int(Int64(round))))
      reader.close()
      await reader.closed()
    }
    try await engine.close()
  }

  @Test func `the database that has been without connections for longest is closed first`() {
    var table = RoomTable(idleLimit: 2)
    func visit(_ name: String) {
      _ = table.enter(name) { number in
        Room(namespace: name, owner: "o\(number)", options: DatabaseServiceOptions()) { ModelStore() }
      }
      table.leave(name)
    }
    for name in ["a", "b", "a"] { visit(name) }
    #expect(table.takeSurplus() == nil)
    for (name, closed) in [("c", "b"), ("d", "a"), ("e", "c")] {
      visit(name)
      #expect(table.takeSurplus()?.context.namespace == closed)
      #expect(table.takeSurplus() == nil)
    }
  }

  @Test func `a database that owes a session its end is passed over until that has been carried out`() {
    var table = RoomTable(idleLimit: 0)
    let room = table.enter("a") { number in
      Room(namespace: "a", owner: "o\(number)", options: DatabaseServiceOptions()) { ModelStore() }
    }
    room.state.withLock { $0.sessions.ended(["s"]) }
    table.leave("a")
    #expect(table.takeSurplus() == nil)
    room.state.withLock { $0.sessions.carriedOut("s") }
    #expect(table.takeSurplus() === room)
  }

  @Test(arguments: 1...6)
  func `a random course keeps the count of connections`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var table = RoomTable(idleLimit: DatabaseServiceTuning().idleDatabases)
    var connections: [String: Int] = [:]
    var numbers: [String: Set<Int>] = [:]
    for _ in 0..<1_000 {
      let name = "n\(random.below(80))"
      if random.oneIn(2) || connections[name] == nil {
        _ = table.enter(name) { number in
          // Two databases of one name never have the same number.
          #expect(numbers[name, default: []].insert(number).inserted)
          return Room(namespace: name, owner: "o\(number)", options: DatabaseServiceOptions()) { ModelStore() }
        }
        connections[name, default: 0] += 1
      } else {
        table.leave(name)
        connections[name] = connections[name].flatMap { $0 > 1 ? $0 - 1 : nil }
        while let surplus = table.takeSurplus() {
          #expect(connections[surplus.context.namespace] == nil)
          if random.oneIn(2) { table.retired(surplus) }
        }
      }
      for name in connections.keys { #expect(table.room(name) != nil, "seed \(seed)") }
      let open = (0..<80).count { table.room("n\($0)") != nil }
      #expect(open <= connections.count + DatabaseServiceTuning().idleDatabases, "seed \(seed)")
    }
  }
}
