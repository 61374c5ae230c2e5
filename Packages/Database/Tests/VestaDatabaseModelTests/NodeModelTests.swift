import Testing
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaTesting

/// The tree as an obvious model: values by their paths.
private struct FlatTree {
  var leaves: [DatabasePath: DatabaseLeaf] = [:]
  var priorities: [DatabasePath: DatabaseLeaf] = [:]

  mutating func set(_ path: DatabasePath, _ node: DatabaseNode) {
    if path.back?.isPriority == true {
      guard let parent = path.parent, exists(parent) else { return }
      priorities[parent] = node.leaf
      return
    }
    leaves = leaves.filter { !path.contains($0.key) }
    priorities = priorities.filter { !path.contains($0.key) }
    if !node.isEmpty {
      var place = path.parent
      while let parent = place {
        leaves[parent] = nil
        place = parent.parent
      }
    }
    add(path, node)
    priorities = priorities.filter { exists($0.key) }
  }

  private mutating func add(_ path: DatabasePath, _ node: DatabaseNode) {
    leaves[path] = node.leaf
    priorities[path] = node.priority
    node.forEachChild { add(path.child($0), $1) }
  }

  func exists(_ path: DatabasePath) -> Bool { leaves.keys.contains { path.contains($0) } }

  func node(_ path: DatabasePath = .root) -> DatabaseNode {
    if let leaf = leaves[path] { return DatabaseNode(leaf, priority: priorities[path]) }
    let keys = Set(leaves.keys.compactMap { path.relative($0)?.front })
    return DatabaseNode(children: keys.map { ($0, node(path.child($0))) }, priority: priorities[path])
  }
}

struct NodeModelTests {
  @Test(arguments: 0..<40)
  func `a tree behaves as a table of leaves and priorities`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var node = DatabaseNode.empty
    var model = FlatTree()
    for _ in 0..<60 {
      var path = random.path(0...3)
      var value = random.node()
      if Int.random(in: 0..<5, using: &random) == 0 {
        path = path.child(.priority)
        value = DatabaseNode(.int(Int64.random(in: 0..<3, using: &random)))
      }
      // Below a leaf the tree ignores the removal of what is not there.
      node = node.setting(path, to: value)
      model.set(path, value)
      #expect(node == model.node())
      #expect(NodeHash.hash(node) == NodeHash.hash(model.node()))
    }
  }

  @Test(arguments: 0..<40)
  func `an indexed node keeps its children in order through changes`(seed: UInt64) {
    var random = SplitMix(seed: seed &+ 1000)
    let index = random.spec().index
    var indexed = IndexedNode(random.node(), index: index)
    for _ in 0..<50 {
      indexed = indexed.setting(random.key(), to: random.node())
      var expected: [DatabasePosition] = []
      indexed.node.forEachChild { expected.append(index.position(of: $0, $1)) }
      expected.sort()
      var actual: [DatabaseKey] = []
      indexed.visitChildren { key, child in
        #expect(indexed.node[key] == child)
        actual.append(key)
        return true
      }
      #expect(actual == expected.map(\.key))
      #expect(indexed.first?.key == expected.first?.key && indexed.last?.key == expected.last?.key)
      if let middle = expected.randomElement(using: &random) {
        #expect(indexed.child(before: middle)?.key == expected.last { $0 < middle }?.key)
        #expect(indexed.child(after: middle)?.key == expected.first { middle < $0 }?.key)
      }
    }
  }

  @Test(arguments: 0..<40)
  func `export and import give the same tree`(seed: UInt64) throws {
    var random = SplitMix(seed: seed &+ 2000)
    let node = random.node(depth: 3)
    #expect(try NodeImport(at: .root).node(node.exportValue) == node)
  }
}
