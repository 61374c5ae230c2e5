import Testing
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaMemoryStore

@Suite struct OrderedTreeTests {
  @Test(arguments: UInt64(0)..<40)
  func `random changes agree with a sorted array and keep the invariants`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var tree = OrderedTree()
    var model = StoreModel()
    // The more keys, the deeper the tree; the more deletions, the more nodes that have to be joined.
    let (keys, deletions) = (UInt64(50) << (seed % 8), random.next() % 8)
    for step in 0..<1_500 {
      let key = numbered(random.next() % keys)
      switch random.next() % 100 {
      case 0..<5:
        let range = KeyRange(from: key, to: random.next() % 9 == 0 ? nil : numbered(random.next() % keys))
        guard random.next() % 20 == 0 || length(of: range, in: model) < 60 else { continue }
        tree.remove(range)
        model.deleteRange(range)
      case 5..<(5 + deletions * 6):
        tree.remove(key)
        model.delete(key)
      default:
        let value = [UInt8(truncatingIfNeeded: random.next())]
        tree.put(value, for: key)
        model.put(value, for: key)
      }
      guard step % 25 == 0 else { continue }
      if let fault = fault(of: tree) {
        Issue.record("seed \(seed), step \(step): \(fault)")
        return
      }
      guard entries(of: tree) == model.entries else {
        Issue.record("seed \(seed), step \(step): the entries differ")
        return
      }
    }
    for number in 0..<keys where tree.get(numbered(number)) != model.get(numbered(number)) {
      Issue.record("seed \(seed): the value of \(number) differs")
    }
  }

  @Test(arguments: UInt64(0)..<12)
  func `ranges cut out of a deep tree leave a sound one`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let count: UInt64 = 4_000
    var full = OrderedTree()
    for number in 0..<count { full.put([], for: numbered(number)) }
    for _ in 0..<6 {
      var tree = full
      var left = Array(0..<count)
      while !left.isEmpty {
        let lower = random.next() % count
        let upper = lower + random.next() % (random.next() % 3 == 0 ? count : 200)
        tree.remove(KeyRange(from: numbered(lower), to: random.next() % 8 == 0 ? nil : numbered(upper)))
        if random.next() % 8 == 7 { tree.remove(KeyRange(from: numbered(lower), to: nil)) }
        left = remaining(of: tree)
        if let fault = fault(of: tree) {
          Issue.record("seed \(seed), \(lower)..<\(upper): \(fault)")
          return
        }
        if random.next() % 6 == 0 { break }
      }
    }
    #expect(remaining(of: full) == Array(0..<count), "a copy's changes are seen in the original")
    #expect(fault(of: full) == nil)
  }

  @Test func `a copy is never touched by changes of the other`() {
    var random = SplitMix(seed: 9)
    var tree = OrderedTree()
    var snapshots: [(OrderedTree, [StoreEntry])] = []
    for step in 0..<4_000 {
      let key = numbered(random.next() % 700)
      if random.next() % 3 == 0 { tree.remove(key) } else { tree.put([UInt8(truncatingIfNeeded: step)], for: key) }
      if step % 200 == 0 { snapshots.append((tree, entries(of: tree))) }
    }
    for (snapshot, expected) in snapshots { #expect(entries(of: snapshot) == expected) }
  }

  @Test func `a row of puts in one transaction copies no node twice`() {
    var tree = OrderedTree()
    for number in 0..<UInt64(100_000) { tree.put([], for: numbered(number &* 7_919 % 100_003)) }
    let nodes = count(of: tree)
    #expect(tree.nodesMade <= nodes + nodes / 4, "\(tree.nodesMade) nodes made for a tree of \(nodes)")
    let snapshot = tree
    let before = tree.nodesMade
    for number in 0..<UInt64(100_000) { tree.put([1], for: numbered(number &* 7_919 % 100_003)) }
    #expect(tree.nodesMade - before == nodes, "a transaction over everything copies every node once")
    #expect(snapshot.get(numbered(5)) == [])
  }

  @Test func `keys in ascending order leave nodes three quarters full`() {
    var tree = OrderedTree()
    for number in 0..<UInt64(20_000) { tree.put([], for: numbered(number)) }
    // All but the nodes on the right edge, where the next key is added.
    func sizes(of node: TreeNode) -> [Int] {
      node.children.dropLast().flatMap { [$0.size] + sizes(of: $0) } + (node.children.last.map(sizes) ?? [])
    }
    let all = sizes(of: tree.root)
    #expect(all.count > 700)
    #expect(all.allSatisfy { $0 >= OrderedTree.maximumSize * 3 / 4 })
  }

  @Test func `one put in a separate transaction copies only the path to its leaf`() {
    var tree = OrderedTree()
    for number in 0..<UInt64(20_000) { tree.put([], for: numbered(number &* 7_919 % 20_011)) }
    let depth = depth(of: tree.root)
    for number in 0..<UInt64(2_000) {
      let snapshot = tree
      tree.put([1], for: numbered(number &* 104_729 % 20_011))
      // Each level may be copied, and split in two; the root may be split into one level more.
      #expect(tree.nodesMade - snapshot.nodesMade <= 2 * depth + 1)
    }
  }

  @Test func `taking away what is not there copies nothing`() {
    var tree = OrderedTree()
    for number in 0..<UInt64(500) { tree.put([], for: numbered(number * 2)) }
    let before = tree
    tree.remove(numbered(501))
    tree.remove(KeyRange(from: numbered(1_000), to: nil))
    #expect(tree.isSame(as: before))
    tree.remove(numbered(500))
    #expect(!tree.isSame(as: before))
  }

  private func numbered(_ number: UInt64) -> [UInt8] { KeyEncoder(.int(Int64(number))).bytes }

  private func length(of range: KeyRange, in model: StoreModel) -> Int {
    model.entries(in: range, order: .ascending, limit: nil).count
  }

  private func entries(of tree: OrderedTree) -> [StoreEntry] {
    var entries: [StoreEntry] = []
    _ = tree.scan(.all, order: .ascending) { key, value in
      entries.append(StoreEntry(key: key, value: value))
      return .next
    }
    return entries
  }

  private func remaining(of tree: OrderedTree) -> [UInt64] {
    entries(of: tree).compactMap { entry in
      var decoder = KeyDecoder(entry.key)
      return (try? decoder.int()).map { UInt64($0) }
    }
  }

  private func depth(of node: TreeNode) -> Int { node.isLeaf ? 1 : 1 + depth(of: node.children[0]) }

  private func count(of tree: OrderedTree) -> Int { count(of: tree.root) }

  private func count(of node: TreeNode) -> Int { node.children.reduce(1) { $0 + count(of: $1) } }

  /// The broken invariant of a tree; `nil` when all hold.
  private func fault(of tree: OrderedTree) -> String? {
    fault(of: tree.root, isRoot: true, depth: depth(of: tree.root), from: nil, to: nil)
  }

  private func fault(of node: TreeNode, isRoot: Bool, depth: Int, from lower: [UInt8]?, to upper: [UInt8]?) -> String? {
    if node.isLeaf != (depth == 1) { return "the leaves are not equally deep" }
    if node.size > OrderedTree.maximumSize { return "a node of \(node.size)" }
    if !isRoot, node.size < OrderedTree.minimumSize { return "a node of \(node.size), \(depth) above the leaves" }
    if isRoot, !node.isLeaf, node.size < 2 { return "a root with one child" }
    if node.isLeaf ? node.values.count != node.keys.count : node.children.count != node.keys.count + 1 {
      return "\(node.keys.count) keys with \(node.values.count) values and \(node.children.count) children"
    }
    for (left, right) in zip(node.keys, node.keys.dropFirst()) where !left.lexicographicallyPrecedes(right) {
      return "keys out of order"
    }
    if let lower, let first = node.keys.first, first.lexicographicallyPrecedes(lower) { return "a key below its bound" }
    if let upper, let last = node.keys.last, !last.lexicographicallyPrecedes(upper) { return "a key above its bound" }
    for (index, child) in node.children.enumerated() {
      let from = index == 0 ? lower : node.keys[index - 1]
      let to = index == node.keys.count ? upper : node.keys[index]
      if let fault = fault(of: child, isRoot: false, depth: depth - 1, from: from, to: to) { return fault }
    }
    return nil
  }
}
