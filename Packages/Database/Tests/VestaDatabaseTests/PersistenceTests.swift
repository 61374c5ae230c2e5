import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabase

/// The rows of the device's store against the cache in memory.
@Suite(.timeLimit(.minutes(20)))
struct PersistenceTests {
  @Test(arguments: 0..<48)
  func `the store holds what the cache holds, after any history, full disk and restart`(seed: UInt64) async {
    var random = SplitMix(seed: seed &+ 31_000)
    let device = FullDevice()
    let limit = seed % 2 == 0 ? 400 : 1 << 20
    let tuning = DatabaseTuning.small(&random)
    let clock = ManualClock()
    var persistence = device.persistence(limit, tuning, clock)
    var tree = SyncTree()
    tree.cache = await persistence.load(now: 0).cache
    var listens: [(id: Int, path: DatabasePath, spec: DatabaseQuerySpec)] = []
    var pending: [Int] = []
    var refused = 0
    for step in 1...80 {
      tree.cache?.now = Int64(step)
      switch random.below(10) {
      case 0, 1:
        let (path, spec) = (random.path(0...2), random.spec())
        listens.append((step, path, spec))
        _ = tree.add(SyncRegistration(id: step, kinds: []), at: path, spec)
      case 2 where !listens.isEmpty:
        let listen = listens.remove(at: random.below(listens.count))
        _ = tree.remove(listen.id, at: listen.path, listen.spec)
      case 3:
        pending.append(step)
        _ = tree.userOverwrite(random.path(0...3), random.node(), writeID: step)
      case 4 where !pending.isEmpty: _ = tree.acknowledge(writeID: pending.removeFirst(), isRevert: random.oneIn(4))
      case 5: tree.cache?.prune()
      case 6 where !listens.isEmpty:
        let listen = listens[random.below(listens.count)]
        _ = tree.listenComplete(listen.path, listen.spec)
      default: answer(&tree, listens, &random)
      }
      if let changes = tree.cache?.takeChanges(), !changes.isEmpty, let cache = tree.cache {
        persistence.store(changes, of: cache)
      }
      if seed % 3 == 0, random.oneIn(6) { device.room.withLock { $0 = random.room() } }
      guard random.oneIn(12) else { continue }
      device.room.withLock { $0 = .enough }
      await persistence.close()
      persistence = device.persistence(limit, tuning, clock)
      var kept = await persistence.load(now: Int64(step)).cache
      // A full device forgets all data where too much of it waits, and only the next change would bring all of it back.
      let isForgotten = device.refused.entries.count > refused && kept.node.isEmpty && kept.queries.isEmpty
      refused = device.refused.entries.count
      if !isForgotten {
        #expect(kept.node == tree.cache?.node, "seed \(seed) step \(step) \(tuning)")
        #expect(Self.described(kept) == Self.described(tree.cache), "seed \(seed) step \(step) \(tuning)")
      }
      if isForgotten || random.oneIn(2) {
        persistence.store(kept.takeChanges(), of: kept)
        (tree, listens, pending) = (SyncTree(), [], [])
        tree.cache = kept
      }
    }
  }

  /// Data for one of the queries with a listener, or for none.
  private func answer(
    _ tree: inout SyncTree, _ listens: [(id: Int, path: DatabasePath, spec: DatabaseQuerySpec)],
    _ random: inout SplitMix
  ) {
    guard let listen = listens.randomElement(using: &random) else { return }
    let tag = tree.tag(listen.path, listen.spec)
    let below = random.oneIn(2) ? listen.path : listen.path.appending(random.path(1...2))
    switch random.below(4) {
    case 0:
      let priority = random.oneIn(3) ? .empty : DatabaseNode(.int(Int64(random.below(3))))
      _ = tree.serverOverwrite(below.child(.priority), priority, tag: tag)
    case 1:
      var trie = WriteTrie.empty
      for _ in 0...random.below(3) { trie.add(random.node(), at: random.path(1...2)) }
      _ = tree.serverMerge(below, trie, tag: tag)
    default:
      let node = random.node()
      let isWhole = below == listen.path && tag != nil
      _ = tree.serverOverwrite(below, isWhole ? NodeWindow.window(of: node, listen.spec) : node, tag: tag)
    }
  }

  /// The queries without whether they have listeners, as at a start they have none.
  private static func described(_ cache: SyncCache?) -> [String] {
    (cache?.queries ?? []).map { query in
      "\(query.id) \(query.path) \(query.spec) \(query.isComplete) \(query.keys.map(\.text).sorted())"
    }
  }
}
