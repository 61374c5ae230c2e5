/// A node of an `OrderedTree`: a leaf with keys and values, or an inner node with children between separators.
///
/// In an inner node every key of `children[i]` is below `keys[i]`, and no key of `children[i + 1]` is.
// Sound as @unchecked Sendable: a node is changed only while one single reference to it exists (see `OrderedTree`), so
// never after it has been seen by a second thread.
final class TreeNode: @unchecked Sendable {
  var keys: [[UInt8]]
  var values: [[UInt8]]
  var children: [TreeNode]

  init(keys: [[UInt8]] = [], values: [[UInt8]] = [], children: [TreeNode] = []) {
    self.keys = keys
    self.values = values
    self.children = children
  }

  /// The root of every empty tree; being shared, it is never changed.
  static let empty = TreeNode()

  /// A separate node with the same contents; the arrays are shared until one of the two changes them.
  func copy() -> TreeNode { TreeNode(keys: keys, values: values, children: children) }

  var isLeaf: Bool { children.isEmpty }

  /// How many entries or children the node has.
  var size: Int { isLeaf ? keys.count : children.count }

  /// The first position whose key is not below `key`.
  func position(of key: [UInt8]) -> Int {
    var low = 0
    var high = keys.count
    while low < high {
      let middle = (low + high) >> 1
      if compareKeys(keys[middle], key) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The child of an inner node in which a key would be.
  func child(for key: [UInt8]) -> Int {
    let position = position(of: key)
    return position < keys.count && keys[position] == key ? position + 1 : position
  }

  /// The last child of an inner node, or the end in a leaf, that holds keys below a bound; `nil` is above all keys.
  func end(below bound: [UInt8]?) -> Int {
    if let bound { return position(of: bound) }
    return keys.count
  }

  /// Moves everything from a position on into a new node; returns it with the separator between the two.
  func split(at position: Int) -> (separator: [UInt8], right: TreeNode) {
    let right = TreeNode()
    defer { keys.removeSubrange((isLeaf ? position : position - 1)...) }
    right.keys = Array(keys[position...])
    guard isLeaf else {
      right.children = Array(children[position...])
      children.removeSubrange(position...)
      return (keys[position - 1], right)
    }
    right.values = Array(values[position...])
    values.removeSubrange(position...)
    return (right.keys[0], right)
  }

  /// Drops children of an inner node with the separators that no longer separate anything.
  func dropChildren(_ range: Range<Int>) {
    children.removeSubrange(range)
    let first = max(range.lowerBound - 1, 0)
    keys.removeSubrange(first..<min(first + range.count, keys.count))
  }
}
