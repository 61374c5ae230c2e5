import Testing
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaTesting

/// Queries with a limit in the sync tree, together with listeners to everything.
struct WindowSyncTests {
  private static func numbers(_ values: [String: Int64]) -> DatabaseNode {
    DatabaseNode(children: values.map { (DatabaseKey($0.key), DatabaseNode(.int($0.value))) })
  }

  private let spec = DatabaseQuerySpec(index: .value, limit: .init(2, .first))

  /// A tree in which a query is listened to, and then everything at its place.
  private func tree(_ data: DatabaseNode) -> SyncTree {
    var tree = SyncTree()
    _ = tree.add(SyncRegistration(id: 1, kinds: [.value]), at: "a", spec)
    _ = tree.serverOverwrite("a", NodeWindow.window(of: data, spec), tag: tree.tag("a", spec))
    _ = tree.listenComplete("a", spec)
    _ = tree.add(SyncRegistration(id: 2, kinds: [.value]), at: "a", .all)
    _ = tree.serverOverwrite("a", data)
    _ = tree.listenComplete("a", .all)
    return tree
  }

  private func shown(_ tree: SyncTree) -> DatabaseNode? { tree.completeEventNode("a", spec)?.node }

  @Test func `what a query that is covered by now is still sent does not narrow what it knows`() {
    var tree = tree(Self.numbers(["a": 1, "b": 2, "c": 3]))
    // The service sends the query a last change before it learns that its listeners have left.
    _ = tree.serverOverwrite("a/a", .empty)
    _ = tree.serverMerge("a", WriteTrie(["a": .empty, "c": DatabaseNode(.int(3))]), tag: tree.tag("a", spec))
    _ = tree.serverOverwrite("a/b", .empty)
    _ = tree.serverOverwrite("a/d", DatabaseNode(.int(4)))
    #expect(shown(tree) == Self.numbers(["c": 3, "d": 4]))
    _ = tree.userOverwrite("a/d", DatabaseNode(.int(5)), writeID: 1)
    _ = tree.acknowledge(writeID: 1, isRevert: true)
    #expect(shown(tree) == Self.numbers(["c": 3, "d": 4]))
  }

  @Test func `a reverted write leaves a query of two with two children`() {
    var tree = tree(Self.numbers(["a": 1, "b": 2, "c": 3]))
    let tag = tree.tag("a", spec)
    _ = tree.serverMerge("a", WriteTrie(["a": DatabaseNode(.int(1))]), tag: tag)
    _ = tree.serverOverwrite("a/a", .empty)
    #expect(shown(tree) == Self.numbers(["b": 2, "c": 3]))
    _ = tree.userOverwrite("a/c", DatabaseNode(.int(9)), writeID: 1)
    #expect(shown(tree) == Self.numbers(["b": 2, "c": 9]))
    _ = tree.acknowledge(writeID: 1, isRevert: true)
    #expect(shown(tree) == Self.numbers(["b": 2, "c": 3]))
  }

  @Test func `a merge that moves one child of a full window and removes another leaves the window full`() {
    var tree = tree(Self.numbers(["a": 1, "b": 2, "c": 3]))
    _ = tree.serverMerge("a", WriteTrie(["a": DatabaseNode(.int(9)), "b": .empty]))
    #expect(shown(tree) == Self.numbers(["c": 3, "a": 9]))
  }

  @Test func `a merge that moves both children of a full window lets in the children that precede them now`() {
    for (first, second) in [(9, 3), (3, 9), (9, 8), (4, 6)] as [(Int64, Int64)] {
      let data = Self.numbers(["a": 1, "b": 2, "c": 5])
      var tree = tree(data)
      let merge = WriteTrie(["a": DatabaseNode(.int(first)), "b": DatabaseNode(.int(second))])
      _ = tree.serverMerge("a", merge)
      #expect(shown(tree) == NodeWindow.window(of: merge.applied(to: data), spec), "\(first) \(second)")
    }
  }

  /// A view that is covered by a listen to everything, against all of the data, through merges of several children.
  @Test(arguments: 0..<200)
  func `a covered query shows its window after every merge, with writes pending or not`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var data = random.node(depth: 2)
    var tree = SyncTree()
    var spec = random.spec()
    while spec.limit == nil { spec = random.spec() }
    _ = tree.add(SyncRegistration(id: 1, kinds: [.value]), at: "a", spec)
    _ = tree.serverOverwrite("a", NodeWindow.window(of: data, spec), tag: tree.tag("a", spec))
    let place: DatabasePath = random.oneIn(2) ? "a" : .root
    _ = tree.add(SyncRegistration(id: 2, kinds: [.value]), at: place, .all)
    _ = tree.serverOverwrite(place, place.isRoot ? DatabaseNode(children: [("a", data)]) : data)
    var pending: [(id: Int, trie: WriteTrie)] = []
    for step in 1...40 {
      var trie = WriteTrie.empty
      for _ in 0...random.below(4) { trie.add(random.node(depth: 1), at: random.path(1...2)) }
      switch random.below(4) {
      case 0:
        pending.append((step, trie))
        _ = tree.userMerge("a", trie, writeID: step)
      case 1 where !pending.isEmpty:
        let write = pending.removeFirst()
        let isRevert = random.oneIn(3)
        if !isRevert {
          data = write.trie.applied(to: data)
          _ = tree.serverMerge("a", write.trie)
        }
        _ = tree.acknowledge(writeID: write.id, isRevert: isRevert)
      default:
        data = trie.applied(to: data)
        _ = tree.serverMerge("a", trie)
      }
      guard pending.isEmpty else { continue }
      #expect(tree.completeEventNode("a", spec)?.node == NodeWindow.window(of: data, spec), "\(seed) \(step) \(spec)")
    }
  }

  @Test func `thousands of pending writes to one place are acknowledged in a moment`() {
    var tree = SyncTree()
    _ = tree.add(SyncRegistration(id: 1, kinds: [.value]), at: "a", .all)
    _ = tree.serverOverwrite("a", .empty)
    for id in 1...4000 { _ = tree.userOverwrite("a/x", DatabaseNode(.int(Int64(id))), writeID: id) }
    for id in 1...4000 {
      _ = tree.serverOverwrite("a/x", DatabaseNode(.int(Int64(id))))
      _ = tree.acknowledge(writeID: id)
    }
    #expect(tree.completeEventNode("a", .all)?.node == Self.numbers(["x": 4000]))
  }

  @Test func `a write to thousands of places is shown and acknowledged in a moment`() {
    var tree = SyncTree()
    _ = tree.add(SyncRegistration(id: 1, kinds: [.value]), at: .root, .all)
    _ = tree.serverOverwrite(.root, .empty)
    var trie = WriteTrie.empty
    for number in 0..<5000 { trie.add(DatabaseNode(.int(1)), at: DatabasePath("k\(number)/x")) }
    _ = tree.userMerge(.root, trie, writeID: 1)
    #expect(tree.completeEventNode(.root, .all)?.node.childCount == 5000)
    _ = tree.serverMerge(.root, trie)
    #expect(tree.acknowledge(writeID: 1).isEmpty)
  }

  @Test func `data of a listen that has ended enters no query next to which it was`() {
    for path in ["a", ""] as [DatabasePath] {
      var tree = SyncTree()
      let query = DatabaseQuerySpec(index: .key, limit: .init(1, .first))
      _ = tree.add(SyncRegistration(id: 1, kinds: [.value]), at: "a", query)
      _ = tree.receivedOverwrite("a", Self.numbers(["a": 1]), tag: tree.tag("a", query))
      _ = tree.listenComplete("a", query)
      _ = tree.add(SyncRegistration(id: 2, kinds: [.value]), at: path, .all)
      _ = tree.remove(2, at: path, .all)
      let data = Self.numbers(["a": 1, "b": 2, "c": 3])
      _ = tree.receivedOverwrite(path, path.isRoot ? DatabaseNode(children: [("a", data)]) : data, tag: nil)
      // The service has compared the hash of the window that the client had before.
      _ = tree.listenComplete("a", query)
      let merge = WriteTrie(["a": .empty, "z": DatabaseNode(.int(7))])
      _ = tree.receivedMerge("a", merge, tag: tree.tag("a", query))
      #expect(tree.completeEventNode("a", query)?.node == Self.numbers(["z": 7]))
    }
  }

  @Test func `data of a listen that has ended is for the listens below it that have begun instead`() {
    var tree = SyncTree()
    _ = tree.add(SyncRegistration(id: 1, kinds: [.value]), at: "a", .all)
    _ = tree.receivedOverwrite("a", DatabaseNode(children: [("k", DatabaseNode(.int(1)))]), tag: nil)
    _ = tree.add(SyncRegistration(id: 2, kinds: [.value]), at: "a/k", .all)
    _ = tree.add(SyncRegistration(id: 3, kinds: [.value]), at: "a/l/m", .all)
    _ = tree.remove(1, at: "a", .all)
    let data = DatabaseNode(children: [
      ("k", DatabaseNode(.int(2))), ("l", DatabaseNode(children: [("m", DatabaseNode(.int(3)))])),
    ])
    _ = tree.receivedOverwrite("a", data, tag: nil)
    #expect(tree.completeEventNode("a/k", .all)?.node.leaf == .int(2))
    #expect(tree.completeEventNode("a/l/m", .all)?.node.leaf == .int(3))
    _ = tree.receivedMerge("a", WriteTrie(["l": .empty, "k": DatabaseNode(.int(4))]), tag: nil)
    #expect(tree.completeEventNode("a/k", .all)?.node.leaf == .int(4))
    #expect(tree.completeEventNode("a/l/m", .all)?.node.isEmpty == true)
  }

  @Test func `a query whose hash was right knows its window and nothing beyond it`() {
    var tree = tree(Self.numbers(["a": 1, "b": 2]))
    _ = tree.remove(2, at: "a", .all)
    _ = tree.add(SyncRegistration(id: 3, kinds: [.value]), at: "a/k", .all)
    _ = tree.receivedOverwrite("a/k", DatabaseNode(.int(3)), tag: nil)
    _ = tree.listenComplete("a", spec)
    // Changes of `k` from here on are no longer sent.
    _ = tree.remove(3, at: "a/k", .all)
    let merge = WriteTrie(["a": .empty, "c": DatabaseNode(.int(4))])
    _ = tree.receivedMerge("a", merge, tag: tree.tag("a", spec))
    #expect(shown(tree) == Self.numbers(["b": 2, "c": 4]))
  }

  // MARK: Listens whose data the client has

  private func value(_ events: [SyncEvent], of id: Int) -> [DatabaseNode] {
    events.compactMap { event in
      guard case .data(.value, _, let node, _) = event.content, event.registration == id else { return nil }
      return node.node
    }
  }

  /// A tree in which a query of `/a` has `b` in its window; something else was listened to before it had data.
  private func treeWithWindow(_ path: DatabasePath, _ query: DatabaseQuerySpec, _ child: DatabaseNode) -> SyncTree {
    var tree = SyncTree()
    _ = tree.add(SyncRegistration(id: 1, kinds: [.value]), at: "a", spec)
    _ = tree.add(SyncRegistration(id: 2, kinds: [.value]), at: path, query)
    _ = tree.receivedOverwrite("a", DatabaseNode(children: [("b", child)]), tag: tree.tag("a", spec))
    _ = tree.listenComplete("a", spec)
    return tree
  }

  @Test func `a query without data takes it from the listen that covers it, whose data the client has already`() {
    let child = Self.numbers(["x": 1, "y": 2, "z": 3])
    for late in [true, false] {
      var tree = treeWithWindow("a/b", spec, child)
      _ = tree.add(SyncRegistration(id: 3, kinds: [.value]), at: "a/b", .all)
      #expect(tree.knownServerNode("a/b", .all) == child)
      // The data of the query, which has ended for the service, arrives before or after the reply of the listen.
      let window = NodeWindow.window(of: child, spec), tag = tree.tag("a/b", spec)
      if !late { _ = tree.receivedOverwrite("a/b", window, tag: tag) }
      #expect(value(tree.listenComplete("a/b", .all), of: 2) == [window])
      if late { #expect(tree.receivedOverwrite("a/b", window, tag: tag).isEmpty) }
      #expect(tree.completeEventNode("a/b", spec)?.node == window)
      #expect(value(tree.receivedOverwrite("a/b/x", .empty, tag: nil), of: 2) == [Self.numbers(["y": 2, "z": 3])])
    }
  }

  @Test func `a place below a listen, whose data the client has already, takes its own data from it`() {
    for query in [DatabaseQuerySpec.all, spec] {
      let child = DatabaseNode(children: [("k", Self.numbers(["x": 1, "y": 2, "z": 3]))])
      var tree = treeWithWindow("a/b/k", query, child)
      _ = tree.add(SyncRegistration(id: 3, kinds: [.value]), at: "a/b", .all)
      #expect(value(tree.listenComplete("a/b", .all), of: 2) == [NodeWindow.window(of: child[DatabaseKey("k")], query)])
    }
  }

  @Test func `a query with older data takes the data of the listen that covers it`() {
    var tree = SyncTree()
    _ = tree.add(SyncRegistration(id: 1, kinds: [.value]), at: "a", spec)
    _ = tree.receivedOverwrite("a", DatabaseNode(children: [("b", Self.numbers(["x": 1]))]), tag: tree.tag("a", spec))
    _ = tree.listenComplete("a", spec)
    // It begins with the data of the window.
    _ = tree.add(SyncRegistration(id: 2, kinds: [.value]), at: "a/b", spec)
    _ = tree.receivedMerge("a", WriteTrie(["b": Self.numbers(["x": 2])]), tag: tree.tag("a", spec))
    _ = tree.add(SyncRegistration(id: 3, kinds: [.value]), at: "a/b", .all)
    #expect(tree.receivedOverwrite("a/b", Self.numbers(["x": 2]), tag: tree.tag("a/b", spec)).isEmpty)
    #expect(value(tree.listenComplete("a/b", .all), of: 2) == [Self.numbers(["x": 2])])
  }

  @Test func `a query that is listened to again takes nothing that its earlier listen was sent`() {
    var tree = tree(Self.numbers(["a": 1, "b": 2]))
    let earlier = tree.tag("a", spec)
    _ = tree.takeListenActions()
    _ = tree.remove(2, at: "a", .all)
    let started = tree.takeListenActions().compactMap { if case .start(_, _, let tag) = $0 { tag } else { nil } }
    let tag = tree.tag("a", spec)
    #expect(started.count == 1 && started.first == tag && tag != earlier)
    // A commit removes the children, and another one, which the service has when it compares the hash, restores them.
    #expect(tree.receivedOverwrite("a", .empty, tag: earlier).isEmpty)
    _ = tree.listenComplete("a", spec)
    #expect(shown(tree) == Self.numbers(["a": 1, "b": 2]))
    _ = tree.receivedOverwrite("a", Self.numbers(["c": 3]), tag: tag)
    #expect(shown(tree) == Self.numbers(["c": 3]))
  }

  @Test func `a place begins with the data of the listen that covers it and not with an older window above`() {
    var tree = SyncTree()
    _ = tree.add(SyncRegistration(id: 1, kinds: [.value]), at: "a/b", .all)
    _ = tree.add(SyncRegistration(id: 2, kinds: [.value]), at: "a", spec)
    _ = tree.receivedOverwrite("a/b", Self.numbers(["x": 2]), tag: nil)
    // It was read before the commit that the other listen has been sent already.
    let window = DatabaseNode(children: [("b", Self.numbers(["x": 1]))])
    _ = tree.receivedOverwrite("a", window, tag: tree.tag("a", spec))
    let first = tree.add(SyncRegistration(id: 3, kinds: [.value]), at: "a/b/x", .all)
    #expect(value(first, of: 3) == [DatabaseNode(.int(2))])
  }

  @Test func `the end of a listen without data leaves the windows above it as they are`() {
    var tree = treeWithWindow("a/b", spec, Self.numbers(["x": 1]))
    _ = tree.add(SyncRegistration(id: 3, kinds: [.value]), at: "a/b", .all)
    _ = tree.receivedMerge("a", WriteTrie(["b": .empty]), tag: tree.tag("a", spec))
    #expect(value(tree.listenComplete("a/b", .all), of: 1).isEmpty)
    #expect(tree.completeEventNode("a", spec)?.node.isEmpty == true)
  }
}
