import Testing
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaTesting

/// The children and the value of one listener, rebuilt from its events.
private struct Mirror {
  let path: DatabasePath
  let spec: DatabaseQuerySpec
  var children: [DatabaseKey: DatabaseNode] = [:]
  var order: [DatabaseKey] = []
  var value: IndexedNode?

  mutating func apply(_ event: SyncEvent) {
    guard case .data(let kind, let key, let node, let previous) = event.content else { return }
    guard let key else {
      value = node
      return
    }
    switch kind {
    case .childRemoved:
      #expect(children.removeValue(forKey: key) != nil)
      order.removeAll { $0 == key }
    case .childAdded:
      #expect(children.updateValue(node.node, forKey: key) == nil)
      insert(key, after: previous)
    case .childMoved:
      order.removeAll { $0 == key }
      insert(key, after: previous)
    case .childChanged: #expect(children.updateValue(node.node, forKey: key) != nil)
    case .value: break
    }
  }

  /// The predecessor is one of the new order, in which children that are added later in the same operation may
  /// stand already.
  private mutating func insert(_ key: DatabaseKey, after previous: DatabaseKey?) {
    let index = previous.flatMap { order.firstIndex(of: $0) }.map { $0 + 1 } ?? (previous == nil ? 0 : order.count)
    order.insert(key, at: index)
  }
}

struct SyncTreeTests {
  @Test func `a leaf that writes have replaced and removed on the server is absent once they are acknowledged`() {
    var tree = SyncTree()
    var shown: [DatabaseNode] = []
    func raise(_ events: [SyncEvent]) {
      for event in events { if case .data(.value, _, let node, _) = event.content { shown.append(node.node) } }
    }
    raise(tree.add(SyncRegistration(id: 1, kinds: [.value]), at: "c", .all))
    raise(tree.serverOverwrite("c", DatabaseNode(.int(0))))
    raise(tree.listenComplete("c", .all))
    raise(tree.userMerge("c", WriteTrie(["a": DatabaseNode(.int(1))]), writeID: 1))
    raise(tree.userMerge("c", WriteTrie(["a": .empty]), writeID: 2))
    raise(tree.serverMerge("c", WriteTrie(["a": DatabaseNode(.int(1))])))
    raise(tree.acknowledge(writeID: 1))
    raise(tree.serverMerge("c", WriteTrie(["a": .empty])))
    raise(tree.acknowledge(writeID: 2))
    #expect(shown.last == .empty, "\(shown)")
  }

  /// Server and client in one: writes are acknowledged late, the server pushes to the listeners.
  @Test(arguments: 0..<150)
  func `listeners see the server's data with pending writes on top, and their events agree with it`(seed: UInt64) {
    var random = SplitMix(seed: seed &+ 5000)
    var tree = SyncTree()
    var server = DatabaseNode.empty
    var pending: [(id: Int, path: DatabasePath, node: DatabaseNode)] = []
    var mirrors: [Int: Mirror] = [:]
    var nextID = 0

    func raise(_ events: [SyncEvent]) { for event in events { mirrors[event.registration]?.apply(event) } }
    func push(_ path: DatabasePath) {
      for listen in tree.listens {
        if let tag = listen.tag {
          guard listen.path.contains(path) || path.contains(listen.path) else { continue }
          let data = NodeWindow.window(of: server[listen.path], listen.spec)
          raise(tree.serverOverwrite(listen.path, data, tag: tag))
        } else if listen.path.contains(path) {
          raise(tree.serverOverwrite(path, server[path]))
        } else if path.contains(listen.path) {
          raise(tree.serverOverwrite(listen.path, server[listen.path]))
        }
      }
    }
    func answerListens() {
      for action in tree.takeListenActions() {
        guard case .start(let path, let spec, let tag) = action else { continue }
        let data = tag == nil ? server[path] : NodeWindow.window(of: server[path], spec)
        raise(tree.serverOverwrite(path, data, tag: tag))
        raise(tree.listenComplete(path, spec))
      }
    }

    for step in 0..<60 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        let path = random.path(0...2), spec = random.spec()
        mirrors[step] = Mirror(path: path, spec: spec)
        raise(tree.add(SyncRegistration(id: step, kinds: Set(SyncEventKind.allCases)), at: path, spec))
        answerListens()
      case 1:
        if let (id, mirror) = mirrors.sorted(by: { $0.key < $1.key }).randomElement(using: &random) {
          mirrors[id] = nil
          raise(tree.remove(id, at: mirror.path, mirror.spec))
          answerListens()
        }
      case 2, 3:
        let path = random.path(0...3), node = random.node()
        pending.append((nextID, path, node))
        raise(tree.userOverwrite(path, node, writeID: nextID))
        nextID += 1
      case 4:
        guard !pending.isEmpty else { continue }
        let write = pending.removeFirst()
        let isRevert = Int.random(in: 0..<4, using: &random) == 0
        if !isRevert {
          server = server.setting(write.path, to: write.node)
          push(write.path)
        }
        raise(tree.acknowledge(writeID: write.id, isRevert: isRevert))
      default:
        let path = random.path(0...3)
        server = server.setting(path, to: random.node())
        push(path)
      }
    }
    while let write = pending.first {
      pending.removeFirst()
      server = server.setting(write.path, to: write.node)
      push(write.path)
      raise(tree.acknowledge(writeID: write.id))
    }
    for (_, mirror) in mirrors {
      let expected = NodeWindow.window(of: server[mirror.path], mirror.spec)
      #expect(mirror.value?.node == expected, "seed \(seed), \(mirror.path) \(mirror.spec)")
      #expect(DatabaseNode(children: mirror.children.map { ($0.key, $0.value) }).childCount == expected.childCount)
      var keys: [DatabaseKey] = []
      IndexedNode(expected, index: mirror.spec.index).visitChildren { key, node in
        keys.append(key)
        #expect(mirror.children[key] == node)
        return true
      }
      #expect(mirror.order == keys, "seed \(seed), \(mirror.path) \(mirror.spec)")
    }
  }

  @Test func `a reverted write gives the old value back`() {
    var tree = SyncTree()
    _ = tree.add(SyncRegistration(id: 1, kinds: [.value]), at: "a", .all)
    _ = tree.serverOverwrite("a", DatabaseNode(.int(1)))
    #expect(tree.userOverwrite("a", DatabaseNode(.int(2)), writeID: 1).count == 1)
    let events = tree.acknowledge(writeID: 1, isRevert: true)
    guard case .data(.value, _, let node, _)? = events.first?.content else {
      Issue.record("no event")
      return
    }
    #expect(node.node.leaf == .int(1))
  }

  @Test func `a reverted write of which nothing was known before leaves nothing known`() {
    var tree = SyncTree()
    _ = tree.add(SyncRegistration(id: 1, kinds: [.value]), at: "a", .all)
    for path: DatabasePath in ["a", "a/b"] {
      _ = tree.userOverwrite(path, DatabaseNode(.int(2)), writeID: 1)
      let events = tree.acknowledge(writeID: 1, isRevert: true)
      #expect(tree.completeEventNode("a", .all) == nil && events.isEmpty, "\(path) \(events)")
    }
  }

  @Test func `an acknowledged merge leaves nothing in a window that the service has taken out of it`() {
    var tree = SyncTree()
    var spec = DatabaseQuerySpec()
    spec.limit = .init(2, .first)
    _ = tree.add(SyncRegistration(id: 1, kinds: [.value]), at: "a", spec)
    let tag = tree.tag("a", spec)
    let one = DatabaseNode(.int(1))
    _ = tree.serverOverwrite("a", DatabaseNode(children: [("x", one)]), tag: tag)
    _ = tree.userMerge("a", WriteTrie(["b": one, "c": one]), writeID: 1)
    _ = tree.serverOverwrite("a", DatabaseNode(children: [("b", one), ("c", one)]), tag: tag)
    _ = tree.serverOverwrite("a", DatabaseNode(children: [("x", one)]), tag: tag)
    _ = tree.acknowledge(writeID: 1)
    #expect(tree.completeEventNode("a", spec)?.node == DatabaseNode(children: [("x", one)]))
  }

  @Test func `an acknowledged write gives way to a value that the service has put above it`() {
    var tree = SyncTree()
    let (one, leaf) = (DatabaseNode(.int(1)), DatabaseNode(.int(5), priority: .int(1)))
    _ = tree.add(SyncRegistration(id: 1, kinds: [.value]), at: .root, .all)
    _ = tree.serverOverwrite(.root, DatabaseNode(children: [("x", one)]))
    _ = tree.userOverwrite("a/b/c", one, writeID: 1)
    _ = tree.serverOverwrite("a/b/c", one)
    _ = tree.serverOverwrite("a/b", leaf)
    _ = tree.acknowledge(writeID: 1)
    #expect(tree.completeEventNode("a/b", .all)?.node == leaf)
  }

  @Test func `the values of a merge are put in their places in the order of their keys`() {
    let one = DatabaseNode(.int(1))
    for first in ["1", "a", "b", "c", "d"] {
      let old = DatabaseNode(children: [(DatabaseKey(first), one)], priority: .int(2))
      let trie = WriteTrie([DatabasePath(first): .empty, "e": one])
      #expect(trie.applied(to: old) == DatabaseNode(children: [("e", one)]), "\(first) goes first, its parent with it")
    }
  }

  @Test func `a transaction starts from what was written, also where nothing is known of the service`() {
    var tree = SyncTree()
    let (one, two) = (DatabaseNode(.int(1)), DatabaseNode(.int(2)))
    #expect(tree.node(at: "a") == .empty)
    _ = tree.userMerge("a", WriteTrie(["b": one]), writeID: 1)
    #expect(tree.node(at: "a") == DatabaseNode(children: [("b", one)]))
    _ = tree.userOverwrite("a/c", two, writeID: 2, isVisible: false)
    #expect(tree.node(at: "a") == DatabaseNode(children: [("b", one), ("c", two)]))
    #expect(tree.node(at: "a", excluding: [2]) == DatabaseNode(children: [("b", one)]))
    #expect(tree.node(at: "a/c", excluding: [1]) == two && tree.node(at: "a", excluding: [1, 2]) == .empty)
    _ = tree.userOverwrite("a", two, writeID: 3)
    #expect(tree.node(at: "a") == two && tree.node(at: "a/b") == .empty)
    #expect(tree.node(at: "a/b", excluding: [3]) == one)
  }

  @Test func `a query that the service has sent all of is complete on the device, data or not`() {
    var tree = SyncTree()
    tree.cache = SyncCache(limit: 1 << 20, now: 0)
    _ = tree.add(SyncRegistration(id: 1, kinds: [.value]), at: "a", .all)
    #expect(tree.cache?.queries.map(\.isComplete) == [false])
    _ = tree.listenComplete("a", .all)
    #expect(tree.cache?.queries.map(\.isComplete) == [true])
    // A query by its tag, and one that is covered.
    let spec = DatabaseQuerySpec(index: .key, limit: .init(2, .first))
    _ = tree.add(SyncRegistration(id: 2, kinds: [.value]), at: "b", spec)
    _ = tree.add(SyncRegistration(id: 3, kinds: [.value]), at: "a/c", .all)
    #expect(tree.cache?.queries.map(\.isComplete) == [true, false, false])
    _ = tree.serverOverwrite("b", DatabaseNode(children: [("x", DatabaseNode(.int(1)))]), tag: tree.tag("b", spec))
    #expect(tree.cache?.node == DatabaseNode(children: [("b", DatabaseNode(children: [("x", DatabaseNode(.int(1)))]))]))
    _ = tree.listenComplete("b", spec)
    _ = tree.listenComplete("a", .all)
    #expect(tree.cache?.queries.map(\.isComplete) == [true, true, true])
  }

  @Test func `what is known of the service shows again when a write over all of it has been acknowledged`() {
    var tree = SyncTree()
    let (one, two) = (DatabaseNode(.int(1)), DatabaseNode(.int(2)))
    _ = tree.add(SyncRegistration(id: 1, kinds: [.childAdded]), at: "a", .all)
    // A part of the data, before the rest has arrived.
    _ = tree.serverOverwrite("a/x", one)
    _ = tree.userOverwrite("a", DatabaseNode(children: [("y", two)]), writeID: 1)
    #expect(tree.completeEventNode("a", .all)?.node == DatabaseNode(children: [("y", two)]))
    let events = tree.acknowledge(writeID: 1)
    let added = events.compactMap { event in
      if case .data(.childAdded, let key, _, _) = event.content { key?.text } else { nil }
    }
    #expect(added == ["x"])
  }

  @Test func `an acknowledged write is kept on the device where no listener is sent it`() {
    var tree = SyncTree()
    tree.cache = SyncCache(limit: 1 << 20, now: 0)
    let (one, two) = (DatabaseNode(.int(1)), DatabaseNode(.int(2)))
    _ = tree.userOverwrite("w/x", one, writeID: 1)
    _ = tree.acknowledge(writeID: 1)
    #expect(tree.cache?.node["w/x" as DatabasePath] == one && tree.cache?.queries.map(\.isComplete) == [true])
    // One that was refused leaves nothing, and one that a listener is sent originates at the service.
    _ = tree.userOverwrite("w/y", two, writeID: 2)
    _ = tree.acknowledge(writeID: 2, isRevert: true)
    _ = tree.add(SyncRegistration(id: 1, kinds: [.value]), at: "w", .all)
    _ = tree.userOverwrite("w/x", two, writeID: 3)
    _ = tree.acknowledge(writeID: 3)
    #expect(tree.cache?.node == DatabaseNode(children: [("w", DatabaseNode(children: [("x", one)]))]))
  }
}
