import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// Several connections at once against ``SlowTree``: no client waits for replies, listens begin and end between writes
/// that share commits, and connections and engines end with operations for their end.
@Suite(.timeLimit(.minutes(20)))
struct HistoryTests {
  @Test(arguments: 0..<40)
  func `histories of several connections agree with the slow tree`(seed: UInt64) async {
    let history = History(seed: seed)
    for _ in 0..<120 { await history.step() }
    await history.check()
  }
}

/// The same for ten minutes.
struct HistorySoakTests {
  @Test(.enabled(if: Soak.isAsked), .timeLimit(.minutes(60)))
  func `many histories of several connections agree with the slow tree`() async {
    await Soak("Database, connections").run { seed, _ in
      let history = History(seed: seed)
      for _ in 0..<120 { await history.step() }
      await history.check()
    }
  }
}

private final class History {
  private struct Connection {
    let client: TestClient
    /// Its place among the sessions.
    let number: Int
    var listens: [(tag: Int, path: [String], query: SlowTree.Query)] = []
    /// The writes at its end.
    var ends: [(path: [String], change: Change)] = []
  }

  private enum Change {
    case set(SlowTree)
    case add(Int64)

    var node: DatabaseNode {
      switch self {
      case .set(let tree): tree.node
      case .add(let delta): DatabaseNode(.incrementInt(delta))
      }
    }
  }

  private let seed: UInt64
  private var random: SplitMix
  private let store = ModelStore()
  private let options: DatabaseServiceOptions
  private var engine: DatabaseEngine
  private var connections: [Connection] = []
  private var truth = SlowTree()
  private var nextTag = 1
  private var nextConnection = 0
  private var expected: [(reply: Int, client: TestClient, status: DatabaseStatus)] = []

  init(seed: UInt64) {
    self.seed = seed
    random = SplitMix(seed: seed &+ 77_000)
    var options = DatabaseServiceOptions()
    let sessions = Locked(0)
    // Sessions that a crash has left behind end in the order of their names.
    options.makeSession = {
      sessions.withLock { sessions in
        sessions += 1
        return "s\(1_000_000 + sessions)"
      }
    }
    if seed % 2 == 1 { options.tuning = .small(&random) }
    if seed % 3 == 0 { options.tuning.hashCheckRows = 0 }
    if seed % 2 == 0 {
      for path in ["", "$x"] {
        for child in ["a", "a/b", ".value"] { options.indexes.add(path: path, indexOn: child) }
      }
    }
    self.options = options
    engine = DatabaseEngine(store: store, options: options)
    for _ in 0..<3 { connections.append(connect()) }
  }

  private func connect() -> Connection {
    nextConnection += 1
    return Connection(client: TestClient(engine), number: nextConnection)
  }

  func step() async {
    let number = random.below(connections.count)
    switch random.below(24) {
    case 0..<5: listen(number)
    case 5, 6: unlisten(number)
    case 7: ask(number)
    case 8: forget(number)
    case 9: hangUp(number)
    case 10: if random.oneIn(4) { await crash() }
    case 11, 12: merge(number)
    case 13: await compare(number)
    default: put(number)
    }
    if random.oneIn(3) { await Task.yield() }
    if random.oneIn(15) { await engine.settle() }
  }

  // MARK: Writing

  private func path(_ depth: Int) -> [String] {
    (0..<depth).map { _ in ["a", "b", "1", "10"][random.below(4)] }
  }

  private func change() -> Change { random.oneIn(8) ? .add(Int64(random.below(5))) : .set(random.hostileTree(2)) }

  private func apply(_ path: [String], _ change: Change) {
    switch change {
    case .set(let tree): truth.set(path[...], tree)
    case .add(let delta):
      var sum = SlowTree(value: .int(delta))
      switch truth.at(path[...]).value {
      case .int(let value)?:
        let (whole, isOver) = value.addingReportingOverflow(delta)
        sum.value = isOver ? .double(Double(value) + Double(delta)) : .int(whole)
      case .double(let value)?: sum.value = .double(value + Double(delta))
      default: break
      }
      truth.set(path[...], sum)
    }
  }

  private func place(_ path: [String]) -> DatabasePath { DatabasePath(path.map { DatabaseKey($0) }) }

  private func expect(_ number: Int, _ request: DatabaseRequest, _ status: DatabaseStatus = .ok) {
    expected.append((connections[number].client.send(request), connections[number].client, status))
  }

  private func put(_ number: Int) {
    let path = path(random.below(4)), change = change()
    expect(number, .put(place(path), change.node, hash: nil))
    apply(path, change)
  }

  /// A transaction of which the data is known, or is not.
  ///
  /// With a check concurrent with the writes of others these would precede it, and the histories do not cover that.
  private func compare(_ number: Int) async {
    let path = path(1 + random.below(2)), change = change()
    if random.oneIn(2) {
      expect(number, .put(place(path), change.node, hash: NodeHash.hash(truth.at(path[...]).node)))
      apply(path, change)
    } else {
      expect(number, .put(place(path), change.node, hash: "no such hash"), .dataStale)
    }
    if options.tuning.hashCheckRows < 1000 { await engine.settle() }
  }

  private func merge(_ number: Int) {
    let base = path(random.below(2))
    // Written in the order of the keys, whatever the order of the request.
    let values = ["1", "a", "b"].map { (key: $0, change: change()) }
    let request = values.map { DatabasePathValue(DatabasePath($0.key), $0.change.node) }
    expect(number, .merge(place(base), request.shuffled(using: &random)))
    // Sums are of what was there before any of it.
    let before = truth
    for (key, change) in values {
      guard case .add(let delta) = change else {
        apply(base + [key], change)
        continue
      }
      let after = truth
      truth = before
      apply(base + [key], .add(delta))
      let sum = truth.at((base + [key])[...])
      truth = after
      apply(base + [key], .set(SlowTree(value: sum.value)))
    }
  }

  // MARK: Listening

  private func listen(_ number: Int) {
    let path = path(random.below(3)), query = random.hostileQuery()
    // One listen to everything at a place: a second one would be sent nothing.
    let isKnown = connections[number].listens.contains { $0.path == path && $0.query.spec.loadsAllData }
    if query.spec.loadsAllData, isKnown || connections[number].listens.contains(where: { overlaps($0, path) }) {
      return
    }
    if !query.spec.loadsAllData,
      connections[number].listens.contains(where: { $0.path == path && $0.query.spec == query.spec })
    {
      return
    }
    connections[number].listens.append((nextTag, path, query))
    let client = connections[number].client
    expected.append((client.startListen(place(path), query.spec, tag: nextTag), client, .ok))
    nextTag += 1
  }

  /// Data of listens to everything has no tag: two of them that overlap would be fed each other's.
  private func overlaps(_ listen: (tag: Int, path: [String], query: SlowTree.Query), _ path: [String]) -> Bool {
    guard listen.query.spec.loadsAllData else { return false }
    return place(path).contains(place(listen.path)) || place(listen.path).contains(place(path))
  }

  private func unlisten(_ number: Int) {
    guard !connections[number].listens.isEmpty else { return }
    let listen = connections[number].listens.remove(at: random.below(connections[number].listens.count))
    let spec = listen.query.spec
    expect(number, .unlisten(place(listen.path), spec, tag: spec.loadsAllData ? nil : listen.tag))
    connections[number].client.forget(listen.tag)
  }

  // MARK: Ends

  private func ask(_ number: Int) {
    let path = path(1 + random.below(2)), change = change()
    expect(number, .onDisconnectPut(place(path), change.node))
    connections[number].ends.append((path, change))
  }

  private func forget(_ number: Int) {
    let path = path(1)
    expect(number, .onDisconnectCancel(place(path)))
    connections[number].ends.removeAll { place(path).contains(place($0.path)) }
  }

  private func hangUp(_ number: Int) {
    connections[number].client.close()
    for (path, change) in connections[number].ends { apply(path, change) }
    connections[number] = connect()
  }

  /// The engine is lost, with everything that it had been asked.
  private func crash() async {
    await engine.settle()
    engine = DatabaseEngine(store: store, options: options)
    for connection in connections.sorted(by: { $0.number < $1.number }) {
      for (path, change) in connection.ends { apply(path, change) }
    }
    connections = connections.map { _ in connect() }
  }

  // MARK: The end

  func check() async {
    await engine.settle()
    let reader = TestClient(engine)
    let found = SlowTree(await reader.get(.root))
    #expect(found == truth, "seed \(seed)")
    for (number, connection) in connections.enumerated() {
      for listen in connection.listens {
        let shown = SlowTree(connection.client.node(tag: listen.tag))
        let expected = truth.at(listen.path[...]).result(of: listen.query)
        #expect(shown == expected, "seed \(seed) connection \(number) \(listen.path) \(listen.query)")
      }
    }
    for (id, client, status) in expected where !client.isClosed {
      #expect(await client.reply(id).status == status, "seed \(seed)")
    }
    #expect(engine.watchCount(in: "test") == connections.map(\.listens.count).reduce(0, +), "seed \(seed)")
  }
}
