/// A persistent ordered map: a change copies the path to it and shares the rest with the map before.
///
/// A weight-balanced tree: look-ups, changes and positions cost O(log n), building from sorted entries O(n).
struct OrderedMap<Key: Comparable & Sendable, Value: Sendable>: Sendable {
  private(set) var root: OrderedMapNode<Key, Value>?

  init() { root = nil }

  private init(_ root: OrderedMapNode<Key, Value>?) { self.root = root }

  /// A map of entries that are in order and have different keys.
  init(sorted entries: [(Key, Value)]) { root = Self.build(entries[...]) }

  var count: Int { root?.count ?? 0 }
  var isEmpty: Bool { root == nil }

  subscript(key: Key) -> Value? {
    var node = root
    while let current = node {
      if key < current.key {
        node = current.left
      } else if current.key < key {
        node = current.right
      } else {
        return current.value
      }
    }
    return nil
  }

  func setting(_ key: Key, to value: Value) -> OrderedMap { OrderedMap(Self.insert(root, key, value)) }

  func removing(_ key: Key) -> OrderedMap { self[key] == nil ? self : OrderedMap(Self.remove(root, key)) }

  var first: (key: Key, value: Value)? {
    var node = root
    while let left = node?.left { node = left }
    return node.map { ($0.key, $0.value) }
  }

  var last: (key: Key, value: Value)? {
    var node = root
    while let right = node?.right { node = right }
    return node.map { ($0.key, $0.value) }
  }

  /// The entry with the largest key below a key.
  func last(before key: Key) -> (key: Key, value: Value)? {
    var node = root
    var best: OrderedMapNode<Key, Value>?
    while let current = node {
      if current.key < key {
        best = current
        node = current.right
      } else {
        node = current.left
      }
    }
    return best.map { ($0.key, $0.value) }
  }

  /// The entry with the smallest key above a key.
  func first(after key: Key) -> (key: Key, value: Value)? {
    var node = root
    var best: OrderedMapNode<Key, Value>?
    while let current = node {
      if key < current.key {
        best = current
        node = current.left
      } else {
        node = current.right
      }
    }
    return best.map { ($0.key, $0.value) }
  }

  /// The entry with the smallest key that is not below a key.
  func first(from key: Key) -> (key: Key, value: Value)? {
    if let value = self[key] { return (key, value) }
    return first(after: key)
  }

  /// Visits the entries in order until the body returns `false`.
  @discardableResult
  func visit(_ body: (Key, Value) throws -> Bool) rethrows -> Bool { try Self.visit(root, body) }

  private static func visit(
    _ node: OrderedMapNode<Key, Value>?, _ body: (Key, Value) throws -> Bool
  ) rethrows -> Bool {
    guard let node else { return true }
    guard try visit(node.left, body), try body(node.key, node.value) else { return false }
    return try visit(node.right, body)
  }

  private static func build(_ entries: ArraySlice<(Key, Value)>) -> OrderedMapNode<Key, Value>? {
    guard !entries.isEmpty else { return nil }
    let middle = entries.startIndex + entries.count / 2
    let (key, value) = entries[middle]
    return OrderedMapNode(key, value, build(entries[..<middle]), build(entries[(middle + 1)...]))
  }

  private static func insert(_ node: OrderedMapNode<Key, Value>?, _ key: Key, _ value: Value)
    -> OrderedMapNode<Key, Value>
  {
    guard let node else { return OrderedMapNode(key, value, nil, nil) }
    if key < node.key { return balanced(node.key, node.value, insert(node.left, key, value), node.right) }
    if node.key < key { return balanced(node.key, node.value, node.left, insert(node.right, key, value)) }
    return OrderedMapNode(key, value, node.left, node.right)
  }

  private static func remove(_ node: OrderedMapNode<Key, Value>?, _ key: Key) -> OrderedMapNode<Key, Value>? {
    guard let node else { return nil }
    if key < node.key { return balanced(node.key, node.value, remove(node.left, key), node.right) }
    if node.key < key { return balanced(node.key, node.value, node.left, remove(node.right, key)) }
    guard let right = node.right else { return node.left }
    guard let left = node.left else { return right }
    var successor = right
    while let next = successor.left { successor = next }
    return balanced(successor.key, successor.value, left, remove(right, successor.key))
  }

  /// Joins two subtrees of which one may have grown or shrunk by one.
  private static func balanced(
    _ key: Key, _ value: Value, _ left: OrderedMapNode<Key, Value>?, _ right: OrderedMapNode<Key, Value>?
  ) -> OrderedMapNode<Key, Value> {
    let leftCount = left?.count ?? 0, rightCount = right?.count ?? 0
    if let right, rightCount + 1 > 3 * (leftCount + 1) { return rotatedLeft(key, value, left, right) }
    if let left, leftCount + 1 > 3 * (rightCount + 1) { return rotatedRight(key, value, left, right) }
    return OrderedMapNode(key, value, left, right)
  }

  private static func rotatedLeft(
    _ key: Key, _ value: Value, _ left: OrderedMapNode<Key, Value>?, _ right: OrderedMapNode<Key, Value>
  ) -> OrderedMapNode<Key, Value> {
    let inner = right.left
    guard let inner, inner.count + 1 >= 2 * ((right.right?.count ?? 0) + 1) else {
      return OrderedMapNode(right.key, right.value, OrderedMapNode(key, value, left, inner), right.right)
    }
    return OrderedMapNode(
      inner.key, inner.value, OrderedMapNode(key, value, left, inner.left),
      OrderedMapNode(right.key, right.value, inner.right, right.right))
  }

  private static func rotatedRight(
    _ key: Key, _ value: Value, _ left: OrderedMapNode<Key, Value>, _ right: OrderedMapNode<Key, Value>?
  ) -> OrderedMapNode<Key, Value> {
    let inner = left.right
    guard let inner, inner.count + 1 >= 2 * ((left.left?.count ?? 0) + 1) else {
      return OrderedMapNode(left.key, left.value, left.left, OrderedMapNode(key, value, inner, right))
    }
    return OrderedMapNode(
      inner.key, inner.value, OrderedMapNode(left.key, left.value, left.left, inner.left),
      OrderedMapNode(key, value, inner.right, right))
  }
}

/// A node of an ``OrderedMap``; never changed.
final class OrderedMapNode<Key: Comparable & Sendable, Value: Sendable>: Sendable {
  let key: Key
  let value: Value
  let left: OrderedMapNode?
  let right: OrderedMapNode?
  let count: Int

  init(_ key: Key, _ value: Value, _ left: OrderedMapNode?, _ right: OrderedMapNode?) {
    self.key = key
    self.value = value
    self.left = left
    self.right = right
    count = 1 + (left?.count ?? 0) + (right?.count ?? 0)
  }
}
