import Testing
import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// How the hub finds the listens that a commit concerns, and what it keeps of them.
@Suite(.timeLimit(.minutes(20)))
struct ListeningTests {
  private func position(_ number: Int, _ key: String = "k") -> DatabasePosition {
    DatabasePosition(value: DatabaseNode(.int(Int64(number))), key: DatabaseKey(key))
  }

  @Test(arguments: 0..<60)
  func `intervals are found by the positions that they contain`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var tree = IntervalTree<DatabasePosition, Int>()
    var model: [Int: ClosedInterval<DatabasePosition>] = [:]
    func end(_ random: inout SplitMix) -> DatabasePosition? {
      random.oneIn(6) ? nil : position(random.below(30), ["a", "b"][random.below(2)])
    }
    for step in 0..<200 {
      if random.oneIn(3), let (id, interval) = model.randomElement(using: &random) {
        tree.remove(id, interval)
        model[id] = nil
      } else {
        let interval = ClosedInterval(lower: end(&random), upper: end(&random))
        tree.insert(step, interval)
        model[step] = interval
      }
      let place = position(random.below(32) - 1, ["a", "b"][random.below(2)])
      var found: [Int] = []
      tree.visit(place) { found.append($0) }
      let expected = model.filter { _, interval in
        !(interval.lower.map { place < $0 } ?? false) && !(interval.upper.map { $0 < place } ?? false)
      }
      #expect(found.sorted() == expected.keys.sorted(), "seed \(seed) step \(step)")
    }
  }

  @Test func `of ten thousand intervals few are looked at for the few that are wanted`() {
    var tree = IntervalTree<DatabasePosition, Int>()
    for number in 0..<10_000 {
      tree.insert(number, ClosedInterval(lower: position(number), upper: position(number + 3)))
    }
    for place in stride(from: 10, to: 9_990, by: 499) {
      var found: [Int] = []
      let seen = tree.visit(position(place)) { found.append($0) }
      #expect(found.sorted() == Array(place - 3...place))
      #expect(seen < 150, "\(seen)")
    }
  }

  @Test(arguments: 0..<200)
  func `no query is passed over that a child concerns`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var node = random.node(depth: 3)
    var place = QueryPlace("p")
    var windows: [Int: QueryWindow] = [:]
    for step in 0..<40 {
      var spec = random.spec()
      while spec.loadsAllData { spec = random.spec() }
      let window = QueryWindow(NodeWindow.window(of: node, spec), spec)
      windows[step] = window
      place.settle(step, window)
      if random.oneIn(4), let (id, window) = windows.randomElement(using: &random) {
        place.unsettle(id, window)
        windows[id] = nil
      }
      let path = random.path(1...3)
      let before = node
      node = node.setting(path, to: random.node())
      guard node.childCount > 0, before.childCount > 0, let key = path.front else {
        // The whole place is another one: the hub would read all of them again.
        place = QueryPlace("p")
        windows = [:]
        continue
      }
      if let known = place.node(key) { #expect(known == before[key], "seed \(seed) step \(step)") }
      let concerned = place.concerned(by: key, node[key])
      for (id, old) in windows {
        let wanted = NodeWindow.window(of: node, old.spec)
        if wanted == old.node { continue }
        #expect(concerned.contains(id), "seed \(seed) step \(step) \(old.spec)")
        var window = old
        if let changes = window.update([key: node[key]]) {
          place.update(id, from: old, to: window, changes.compactMap(\.path.front))
        } else {
          place.unsettle(id, old)
          window = QueryWindow(wanted, old.spec)
          place.settle(id, window)
        }
        windows[id] = window
      }
      place.update([key: node[key]])
    }
    for (id, window) in windows { place.unsettle(id, window) }
    #expect(place.isEmpty)
  }

  // MARK: Ten thousand queries of one place

  @Test func `of ten thousand queries of a place a write is compared with the ones that it can change`() async throws {
    var options = DatabaseServiceOptions()
    options.indexes.add(path: "all", indexOn: "n")
    let engine = DatabaseEngine(store: ModelStore(), options: options)
    let client = TestClient(engine), writer = TestClient(engine)
    for number in 0..<100 {
      _ = await writer.put(DatabasePath("all/k\(number)/n"), DatabaseNode(.int(Int64(number * 100))))
    }
    let listens = (0..<10_000).map { number in
      let lower = DatabaseNode(.int(Int64(number))), upper = DatabaseNode(.int(Int64(number + 2)))
      let spec = DatabaseQuerySpec(index: .child("n"), start: .init(lower), end: .init(upper))
      return client.send(.listen(DatabaseListen(path: "all", spec: spec, tag: number)))
    }
    for id in listens { #expect(await client.reply(id).status == .ok) }
    _ = await writer.put("all/k5/x", DatabaseNode(.int(1)))
    await engine.settle()
    let hub = try #require(engine.room("test")).hub
    let (compared, sent) = (hub.comparisons, client.messages.count)
    _ = await writer.put("all/k5/n", DatabaseNode(.int(777)))
    _ = await writer.put("all/k5/x", DatabaseNode(.int(2)))
    _ = await writer.put("all/new/n", DatabaseNode(.int(888)))
    await engine.settle()
    // The three that had 500; the three that have 777, twice; the three that have 888.
    #expect(hub.comparisons - compared == 12)
    let tags = client.messages.dropFirst(sent).map { if case .data(_, _, let tag?) = $0 { tag } else { -1 } }
    #expect(tags == [498, 499, 500, 775, 776, 777, 775, 776, 777, 886, 887, 888])
  }

  // MARK: Stored state

  @Test func `a listen that has ended leaves nothing behind`() async throws {
    let engine = DatabaseEngine(store: ModelStore())
    let client = TestClient(engine), other = TestClient(engine)
    let query = DatabaseQuerySpec(index: .key, limit: .init(1, .last))
    for path: DatabasePath in ["a", "a/b", "a/b/c/d", "x/y"] {
      await client.listen(path, tag: 1)
      await client.listen(path, query, tag: 2)
      await other.listen(path, query, tag: 3)
    }
    _ = await client.put("a/b/c/d/e", DatabaseNode(.int(1)))
    let hub = try #require(engine.room("test")).hub
    #expect(hub.count == 12)
    for path: DatabasePath in ["a", "a/b", "a/b/c/d", "x/y"] {
      _ = await client.call(.unlisten(path, .all, tag: nil))
      _ = await client.call(.unlisten(path, query, tag: 2))
      // There is no listener under this tag.
      _ = await other.call(.unlisten(path, query, tag: 2))
    }
    #expect(hub.count == 4)
    other.close()
    await other.closed()
    await engine.settle()
    hub.state.withLock { state in
      #expect(state.places.isEmpty && state.queries.isEmpty && state.queryPlaces.isEmpty)
      #expect(state.watches.isEmpty && state.owned.isEmpty)
    }
  }

  // MARK: Messages

  private func windows(_ client: TestClient, _ tag: Int) -> Int {
    client.messages.count { if case .data("list", _, tag) = $0 { true } else { false } }
  }

  @Test func `data of a listen below a query that pushes a child out is followed by the window of the query`() async {
    let engine = DatabaseEngine(store: ModelStore())
    let client = TestClient(engine)
    for key in ["a", "b", "k"] { _ = await client.put(DatabasePath("list/\(key)"), DatabaseNode(.int(1))) }
    await client.listen("list", DatabaseQuerySpec(index: .key, limit: .init(2, .first)), tag: 1)
    #expect(windows(client, 1) == 1)
    // It has separate data: in the client's copy it takes the place of "b".
    await client.listen("list/k", tag: 2)
    #expect(windows(client, 1) == 2)
    // Data that the client has already is not sent, and pushes nothing out.
    _ = await client.call(.unlisten("list/k", .all, tag: nil))
    await client.listen("list/k", tag: 3, hash: NodeHash.hash(DatabaseNode(.int(1))))
    #expect(windows(client, 1) == 2)
    // A child of the window takes no other child's place.
    await client.listen("list/a", tag: 4)
    #expect(windows(client, 1) == 2)
  }

  @Test func `a listen whose data includes a commit is not sent that commit again`() async throws {
    let engine = DatabaseEngine(store: ModelStore())
    let client = TestClient(engine)
    _ = await client.get("a")
    let hub = try #require(engine.room("test")).hub
    let room = Room(namespace: "other", owner: "o", options: DatabaseServiceOptions()) { ModelStore() }
    let messages = Log<DatabaseServerMessage>()
    let connection = EngineConnection(
      room: room, session: "s", DatabaseConnectRequest(namespace: "test"), CallerCheck(), admit: { $0 },
      receive: { messages.add($0) })
    let one = StoreVersion(microseconds: 1), two = StoreVersion(microseconds: 2)
    for spec in [DatabaseQuerySpec.all, DatabaseQuerySpec(index: .key, limit: .init(1, .first))] {
      let id = hub.add(connection, DatabaseListen(path: "a", spec: spec, tag: spec.loadsAllData ? nil : 1))
      _ = hub.activate(id, of: connection, DatabaseNode(.int(1)), one, data: [], reply: .reply(1, .ok))
    }
    let values = [DatabasePathValue("a/b", DatabaseNode(.int(2)))]
    #expect(hub.publish([values], one).connections.isEmpty)
    #expect(hub.reading(hub.publish([values], one).places, one).places.isEmpty)
    #expect(hub.publish([values], two).connections.count == 1)
    #expect(hub.reading(hub.publish([values], two).places, two).places.count == 1)
  }
}
