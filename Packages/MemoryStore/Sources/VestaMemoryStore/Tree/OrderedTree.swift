import VestaStoreInterop

/// A sorted map of keys to values whose copies cost nothing: a B+ tree that copies a node before it changes it.
///
/// A copy of the tree is one reference to its root. A change copies the nodes on the way from the root to its leaf,
/// unless the transaction alone has them: a second change to the same place in the same transaction happens in place.
/// So a transaction of many changes copies each node once at the most, and a snapshot never copies a thing.
///
/// Invariants: all leaves are equally deep; each node but the root has `minimumSize...maximumSize` entries or children;
/// an inner root has two children at least.
struct OrderedTree: Sendable {
  // 32 keys of a node are found in five comparisons, and copying 32 references is cheaper than one more level.
  static let maximumSize = 32
  static let minimumSize = maximumSize / 4

  private(set) var root = TreeNode.empty

  /// How many nodes have been copied or made by changes to this value; tests bound it.
  private(set) var nodesMade = 0

  /// Whether two trees are one and the same, so that neither has changed.
  func isSame(as other: OrderedTree) -> Bool { root === other.root }

  /// The value under a key.
  func get(_ key: [UInt8]) -> [UInt8]? {
    var node = root
    while !node.isLeaf { node = node.children[node.child(for: key)] }
    let position = node.position(of: key)
    return position < node.keys.count && node.keys[position] == key ? node.values[position] : nil
  }

  /// Puts a value under a key.
  mutating func put(_ value: [UInt8], for key: [UInt8]) {
    var made = 0
    if let split = OrderedTree.put(value, for: key, in: &root, &made) {
      root = TreeNode(keys: [split.separator], children: [root, split.right])
      made += 1
    }
    nodesMade += made
  }

  /// Takes the keys of a range away; a range without keys leaves the tree as it is.
  mutating func remove(_ range: KeyRange) {
    guard !range.isEmpty, hasKey(in: range) else { return }
    var made = 0
    OrderedTree.remove(from: range.lower, to: range.upper, in: &root, &made)
    while !root.isLeaf, root.children.count == 1 { root = root.children[0] }
    nodesMade += made
  }

  /// Takes one key away; nothing happens when it is not there.
  mutating func remove(_ key: [UInt8]) { remove(KeyRange(from: key, to: key + [0])) }

  private func hasKey(in range: KeyRange) -> Bool {
    var found = false
    _ = scan(range, order: .ascending) { _, _ in
      found = true
      return .stop
    }
    return found
  }
}

// The changes are functions on a reference to a node, so that the one reference in its parent can be seen to be the
// only one.
extension OrderedTree {
  /// Makes sure that no other reader sees a change of this node.
  private static func own(_ node: inout TreeNode, _ made: inout Int) {
    if isKnownUniquelyReferenced(&node) { return }
    node = node.copy()
    made += 1
  }

  private static func put(
    _ value: [UInt8],
    for key: [UInt8],
    in node: inout TreeNode,
    _ made: inout Int
  ) -> (separator: [UInt8], right: TreeNode)? {
    own(&node, &made)
    if node.isLeaf {
      let position = node.position(of: key)
      if position < node.keys.count, node.keys[position] == key {
        node.values[position] = value
        return nil
      }
      node.keys.insert(key, at: position)
      node.values.insert(value, at: position)
      return splitIfFull(node, grownAt: position, &made)
    }
    let index = node.child(for: key)
    guard let split = put(value, for: key, in: &node.children[index], &made) else { return nil }
    node.keys.insert(split.separator, at: index)
    node.children.insert(split.right, at: index + 1)
    return splitIfFull(node, grownAt: index + 1, &made)
  }

  /// Halves a node that has grown too large.
  ///
  /// One that has grown at its end keeps more: keys often arrive in order.
  private static func splitIfFull(
    _ node: TreeNode,
    grownAt position: Int,
    _ made: inout Int
  ) -> (separator: [UInt8], right: TreeNode)? {
    let size = node.size
    guard size > maximumSize else { return nil }
    made += 1
    return node.split(at: position == size - 1 ? size - minimumSize : size / 2)
  }

  /// Takes the keys from `lower` up to `upper` out of a subtree, which may become too small, or empty.
  private static func remove(
    from lower: [UInt8],
    to upper: [UInt8]?,
    in node: inout TreeNode,
    _ made: inout Int
  ) {
    own(&node, &made)
    if node.isLeaf {
      let range = node.position(of: lower)..<node.end(below: upper)
      node.keys.removeSubrange(range)
      node.values.removeSubrange(range)
      return
    }
    let first = node.child(for: lower)
    let last = node.end(below: upper)
    remove(from: lower, to: upper, in: &node.children[first], &made)
    if last > first { remove(from: lower, to: upper, in: &node.children[last], &made) }
    let dropFrom = isEmpty(node.children[first]) ? first : first + 1
    let dropTo = isEmpty(node.children[last]) ? last + 1 : last
    if dropFrom < dropTo { node.dropChildren(dropFrom..<dropTo) }
    mend(node, around: dropFrom, &made)
  }

  private static func isEmpty(_ node: TreeNode) -> Bool { node.isLeaf && node.keys.isEmpty }

  /// Joins the children on both sides of a seam with their neighbours where they have become too small.
  private static func mend(_ node: TreeNode, around seam: Int, _ made: inout Int) {
    mendChild(seam, of: node, &made)
    mendChild(seam - 1, of: node, &made)
  }

  private static func mendChild(_ index: Int, of node: TreeNode, _ made: inout Int) {
    var index = index
    while node.children.count > 1, node.children.indices.contains(index), node.children[index].size < minimumSize {
      index = max(index - 1, 0)
      joinChildren(at: index, of: node, &made)
    }
  }

  /// Makes one child out of two neighbours, or two children of a fair size when they are too many for one.
  private static func joinChildren(at index: Int, of node: TreeNode, _ made: inout Int) {
    own(&node.children[index], &made)
    let left = node.children[index]
    let right = node.children.remove(at: index + 1)
    let separator = node.keys.remove(at: index)
    if left.isLeaf {
      left.keys += right.keys
      left.values += right.values
    } else {
      let seam = left.children.count
      left.keys.append(separator)
      left.keys += right.keys
      left.children += right.children
      // A child at the seam may be too small still: where it was the only one, it had no neighbour to be joined with.
      mend(left, around: seam, &made)
    }
    guard left.size > maximumSize else { return }
    let split = left.split(at: left.size / 2)
    made += 1
    node.keys.insert(split.separator, at: index)
    node.children.insert(split.right, at: index + 1)
  }
}
