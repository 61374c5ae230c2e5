import Testing
import VestaDatabaseBackend
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// The engine against ``SlowTree``: keys and values of every kind, writes of every kind, queries of every kind, and
/// engines that end and begin again on the same store.
@Suite(.timeLimit(.minutes(20)))
struct OracleTests {
  @Test(arguments: 0..<40)
  func `histories with hostile keys and values agree with the slow tree`(seed: UInt64) async {
    var random = SplitMix(seed: seed &+ 1000)
    var options = DatabaseServiceOptions()
    if seed % 4 != 0 { options.tuning = .small(&random) }
    if seed % 2 == 0 {
      for path in ["", "$x", "a", "$x/$y"] {
        for child in ["a", "a/b", "1", ".value"] { options.indexes.add(path: path, indexOn: child) }
      }
    }
    let store = ModelStore()
    var engine = DatabaseEngine(store: store, options: options)
    var writer = TestClient(engine), reader = TestClient(engine)
    var truth = SlowTree()
    var listens: [(tag: Int, path: [String], query: SlowTree.Query)] = []
    for step in 0..<50 {
      if random.oneIn(25) {
        // The engine is lost, as after a crash: the next one finds everything.
        await engine.settle()
        engine = DatabaseEngine(store: store, options: options)
        (writer, reader, listens) = (TestClient(engine), TestClient(engine), [])
      }
      if random.oneIn(5) {
        let (path, query) = (random.hostilePath(random.below(3)), random.hostileQuery())
        if !query.spec.loadsAllData {
          listens.append((step + 1, path, query))
          await reader.listen(DatabasePath(path.map { DatabaseKey($0) }), query.spec, tag: step + 1)
        }
      }
      await write(writer, &truth, &random)
      for _ in 0..<3 {
        let path = random.hostilePath(random.below(3)), query = random.hostileQuery()
        let found = SlowTree(await reader.get(DatabasePath(path.map { DatabaseKey($0) }), query.spec))
        #expect(found == truth.at(path[...]).result(of: query), "seed \(seed) step \(step) \(path) \(query)")
      }
      #expect(SlowTree(await reader.get(.root)) == truth, "seed \(seed) step \(step)")
      await engine.settle()
      for listen in listens {
        let expected = truth.at(listen.path[...]).result(of: listen.query)
        let shown = SlowTree(reader.node(tag: listen.tag))
        #expect(shown == expected, "seed \(seed) step \(step) \(listen.path) \(listen.query)")
      }
    }
  }

  private func write(_ client: TestClient, _ truth: inout SlowTree, _ random: inout SplitMix) async {
    var path = random.hostilePath(random.below(4))
    switch random.below(6) {
    case 0:
      path.append(".priority")
      let priority = SlowTree(value: random.oneIn(3) ? nil : random.hostilePriority())
      #expect(await client.put(DatabasePath(path.map { DatabaseKey($0) }), priority.node).status == .ok)
      truth.set(path[...], priority)
    case 1:
      let values = (0..<3).map { number in ("m\(number)", random.hostileTree(2)) }
      let request = values.map { DatabasePathValue(DatabasePath($0.0), $0.1.node) }
      let base = Array(path.prefix(1))
      let reply = await client.call(
        .merge(DatabasePath(base.map { DatabaseKey($0) }), request.shuffled(using: &random)))
      #expect(reply.status == .ok)
      for (key, tree) in values { truth.set((base + [key])[...], tree) }
    default:
      let tree = random.hostileTree(2)
      #expect(await client.put(DatabasePath(path.map { DatabaseKey($0) }), tree.node).status == .ok)
      truth.set(path[...], tree)
    }
  }

  @Test(arguments: 0..<200)
  func `keys are ordered as the documentation orders them`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let left = random.hostileKey(), right = random.hostileKey()
    let order = SlowTree.compareKeys(Array(left.utf16), Array(right.utf16))
    #expect(
      (DatabaseKey(left) < DatabaseKey(right)) == (order < 0), "\(left.debugDescription) \(right.debugDescription)")
    #expect((DatabaseKey(left) == DatabaseKey(right)) == (left.utf8.elementsEqual(right.utf8)))
  }
}
