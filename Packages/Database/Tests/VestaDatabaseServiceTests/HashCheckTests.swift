import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// Writes with a hash at places of very many rows, which are read concurrently with the writes of others.
@Suite(.timeLimit(.minutes(20)))
struct HashCheckTests {
  private static let count = DatabaseServiceTuning().hashCheckRows + 200
  private let store = HookedStore()
  private let reads: StoreReads
  private let clock = ManualClock()
  private let large = DatabaseNode(
    children: (0..<Self.count).map { (DatabaseKey("k\($0)"), DatabaseNode(.int(Int64($0)))) }, priority: .int(4))

  init() { reads = StoreReads(of: store) }

  private func engine() -> DatabaseEngine {
    var options = DatabaseServiceOptions()
    options.indexes.add(path: "list", indexOn: ".value")
    return DatabaseEngine(store: store, options: options)
  }

  /// One of the engines on a store, all of which have one clock.
  private func sharing(_ store: any OrderedStore) -> DatabaseEngine {
    var options = DatabaseServiceOptions()
    options.clock = clock.service
    options.sharing = .shared()
    return DatabaseEngine(store: store, options: options)
  }

  private func changed(_ key: DatabaseKey, _ number: Int64) -> DatabaseNode {
    large.setting(key, to: DatabaseNode(.int(number)))
  }

  @Test func `while the hash of very many rows is checked the writes of others have their turn`() async {
    let engine = engine()
    let client = TestClient(engine), other = TestClient(engine)
    _ = await client.put("list", large)
    await engine.settle()
    reads.gate.close()
    let id = client.send(.put("list", changed("k7", -1), hash: NodeHash.hash(large)))
    await reads.begun.wait { !$0.isEmpty }
    #expect(await other.put("other", DatabaseNode(.int(1))).status == .ok)
    // Later requests of the same client are served after it.
    let next = client.send(.put("list/k7", DatabaseNode(.incrementInt(-1)), hash: nil))
    let read = client.send(.get("list/k7", .all))
    #expect(await other.put("other", DatabaseNode(.int(2))).status == .ok)
    reads.gate.open()
    #expect(await client.reply(id).status == .ok)
    #expect(await client.reply(next).status == .ok)
    #expect(await client.reply(read).node.leaf == .int(-2))
    #expect(await other.get("list") == changed("k7", -2))
  }

  @Test func `a write with a hash touches the rows only in which it differs from what it has checked`() async {
    let engine = engine()
    let client = TestClient(engine)
    _ = await client.put("list", large)
    await client.listen("list", tag: 1)
    await engine.settle()
    let before = store.entries
    let next = changed("k7", -1).setting("new" as DatabaseKey, to: DatabaseNode(.bool(true)))
      .setting("k9" as DatabaseKey, to: .empty)
    #expect(await client.put("list", next, hash: NodeHash.hash(large)).status == .ok)
    // At first a thousand rows and one, then all of them once, and a few for each place.
    let cost = store.entries - before
    #expect(cost < DatabaseServiceTuning().hashCheckRows + Self.count + 150, "\(cost)")
    #expect(await client.get("list") == next)
    #expect(client.node(tag: 1) == next)
    let query = DatabaseQuerySpec(index: .value, limit: .init(2, .first))
    #expect(Set(await client.get("list", query).keys) == ["new", "k7"], "the index has been kept")
  }

  @Test func `a wrong hash of very many rows is stale, and nothing is written`() async {
    let client = TestClient(engine())
    _ = await client.put("list", large)
    let reply = await client.put("list", DatabaseNode(.int(1)), hash: NodeHash.hash(changed("k1", -1)))
    #expect(reply.status == .dataStale)
    #expect(await client.put("list", DatabaseNode(.int(1)), hash: "").status == .dataStale)
    #expect(await client.get("list") == large)
    #expect(await client.put("list", .empty, hash: NodeHash.hash(large)).status == .ok)
    #expect(await client.get("list").isEmpty)
    #expect(await client.put("list", large, hash: "").status == .ok)
    #expect(await client.get("list") == large)
  }

  @Test(arguments: ["list/k3", "list", "list/k3/deep", "list/.priority"] as [DatabasePath])
  func `a hash that a commit has overtaken is checked again`(path: DatabasePath) async {
    let engine = engine()
    let client = TestClient(engine), other = TestClient(engine)
    _ = await client.put("list", large)
    await engine.settle()
    reads.gate.close()
    let id = client.send(.put("list", changed("k7", -1), hash: NodeHash.hash(large)))
    await reads.begun.wait { $0.count == 1 }
    #expect(await other.put(path, DatabaseNode(.int(9))).status == .ok)
    reads.gate.open()
    #expect(await client.reply(id).status == .dataStale, "\(path)")
    #expect(await client.get("list") == large.setting(path.withoutFront, to: DatabaseNode(.int(9))))
  }

  @Test func `a check that commits overtake again and again is made in the turn at last`() async {
    let store = HookedStore()
    let engine = DatabaseEngine(store: store)
    let client = TestClient(engine), other = TestClient(engine)
    _ = await client.put("list", large)
    await engine.settle()
    let rounds = Locked(0)
    store.hook { step in
      guard step == .readEnd else { return }
      rounds.withLock { $0 += 1 }
      // It writes what is there, so that the hash stays right.
      #expect(await other.put("list/k3", DatabaseNode(.int(3))).status == .ok)
    }
    #expect(await client.put("list", changed("k7", -1), hash: NodeHash.hash(large)).status == .ok)
    store.hook(nil)
    #expect(rounds.withLock { $0 } == DatabaseServiceTuning().concurrentChecks)
    #expect(await client.get("list") == changed("k7", -1))
  }

  @Test func `a client that hangs up while its hash is checked writes nothing, and its end is carried out`() async {
    let engine = engine()
    let client = TestClient(engine), other = TestClient(engine)
    _ = await client.put("list", large)
    _ = await client.call(.onDisconnectPut("gone", DatabaseNode(.int(1))))
    await engine.settle()
    reads.gate.close()
    _ = client.send(.put("list", changed("k7", -1), hash: NodeHash.hash(large)))
    _ = client.send(.put("late", DatabaseNode(.int(1)), hash: nil))
    await reads.begun.wait { $0.count == 1 }
    client.close()
    await client.closed()
    reads.gate.open()
    await engine.settle()
    #expect(await other.get("gone").leaf == .int(1))
    #expect(await other.get("list") == large)
    #expect(await other.get("late").isEmpty)
  }

  @Test func `a hash that another engine has overtaken is checked again`() async {
    let shared = ModelStore()
    let watched = HookedStore(shared, closesBase: false)
    let held = StoreReads(of: watched)
    let client = TestClient(sharing(watched)), other = TestClient(sharing(HookedStore(shared, closesBase: false)))
    _ = await client.put("list", large)
    #expect(await other.get("list").childCount == Self.count)
    let begun = held.begun.entries.count
    held.gate.close()
    let id = client.send(.put("list", changed("k7", -1), hash: NodeHash.hash(large)))
    await held.begun.wait { $0.count > begun }
    #expect(await other.put("list/k3", DatabaseNode(.int(9))).status == .ok)
    held.gate.open()
    #expect(await client.reply(id).status == .dataStale)
    #expect(await other.get("list/k7").leaf == .int(7))
  }

  @Test func `a reply that data is stale follows that data, also when another engine has written it`() async {
    let shared = ModelStore()
    // The store of the first engine says nothing of commits.
    let client = TestClient(sharing(HookedStore(shared, closesBase: false)))
    let other = TestClient(sharing(HookedStore(shared, closesBase: false)))
    await client.listen("n", tag: 1)
    #expect(await other.put("n", DatabaseNode(.int(5))).status == .ok)
    #expect(await client.put("n", DatabaseNode(.int(1)), hash: "").status == .dataStale)
    #expect(client.node(tag: 1).leaf == .int(5))
  }

  @Test(arguments: [false, true])
  func `writes with a hash at places above each other lose nothing, each checked concurrently with the others`(
    isShared: Bool
  ) async {
    let shared = ModelStore()
    var options = DatabaseServiceOptions()
    options.tuning.hashCheckRows = 0
    options.clock = clock.service
    if isShared { options.sharing = .shared() }
    let engines = (0..<(isShared ? 2 : 1)).map { _ in
      DatabaseEngine(store: HookedStore(shared, closesBase: false), options: options)
    }
    let reader = TestClient(engines[0])
    let accounts = (0..<6).map { DatabaseKey("a\($0)") }
    _ = await reader.put("bank", DatabaseNode(children: accounts.map { ($0, DatabaseNode(.int(100))) }))
    await reader.listen("bank", tag: 1)
    await reader.listen("bank", DatabaseQuerySpec(index: .value, limit: .init(3, .last)), tag: 2)
    @Sendable func sum(_ node: DatabaseNode, _ delta: Int64) -> DatabaseNode {
      DatabaseNode(.int(Int64(node.leaf?.number ?? 0) + delta))
    }
    @Sendable func change(
      _ client: TestClient, _ path: DatabasePath, _ body: (DatabaseNode) -> DatabaseNode
    ) async {
      while true {
        let node = await client.get(path)
        if await client.put(path, body(node), hash: NodeHash.hash(node)).status == .ok { return }
      }
    }
    await withTaskGroup { group in
      for number in 0..<8 {
        let client = TestClient(engines[number % engines.count])
        group.addTask {
          var random = SplitMix(seed: UInt64(number))
          for _ in 0..<12 {
            let (one, other) = (accounts[random.below(3)], accounts[3 + random.below(3)])
            switch number % 4 {
            case 0, 1:
              await change(client, "bank") { bank in
                bank.setting(one, to: sum(bank[one], -1)).setting(other, to: sum(bank[other], 1))
              }
            case 2: await change(client, DatabasePath([("bank" as DatabaseKey), one])) { sum($0, 1) }
            default:
              let values = [one, other].map { DatabasePathValue(DatabasePath([$0]), DatabaseNode(.incrementInt(1))) }
              _ = await client.call(.merge("bank", values))
            }
          }
        }
      }
    }
    for _ in 0..<3 { for engine in engines { await engine.settle() } }
    let bank = await reader.get("bank")
    let total = accounts.reduce(Int64(0)) { $0 + Int64(bank[$1].leaf?.number ?? 0) }
    #expect(total == 600 + 2 * 12 + 2 * 12 * 2)
    #expect(reader.node(tag: 1) == bank)
    #expect(
      reader.node(tag: 2) == NodeWindow.window(of: bank, DatabaseQuerySpec(index: .value, limit: .init(3, .last))))
  }

  @Test(arguments: 0..<300)
  func `the places in which nodes differ make one into the other`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let old = random.node(depth: 3)
    var new = random.oneIn(3) ? random.node(depth: 3) : old
    for _ in 0..<random.below(5) {
      var path = random.path(0...3)
      var node = random.node()
      if random.oneIn(4) { (path, node) = (path.child(.priority), DatabaseNode(.int(Int64(random.below(3))))) }
      new = new.setting(path, to: node)
    }
    let places = NodeChanges.places(old, new, limit: 1000) ?? []
    var made = old
    for place in places {
      made = made.setting(place.path, to: place.node)
      #expect(!made.isEmpty || new.isEmpty, "seed \(seed): nothing is left in between")
    }
    #expect(made == new && made.priority == new.priority, "seed \(seed)")
    #expect(places.isEmpty == (old == new), "seed \(seed)")
    #expect(NodeChanges.places(old, new, limit: places.count)?.count == places.count, "seed \(seed)")
    if !places.isEmpty { #expect(NodeChanges.places(old, new, limit: places.count - 1) == nil, "seed \(seed)") }
  }
}
