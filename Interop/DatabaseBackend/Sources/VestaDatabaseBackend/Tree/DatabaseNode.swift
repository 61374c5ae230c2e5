/// A node of the tree: empty, a leaf, or children; leaf and children can have a priority.
///
/// A value: a change makes a new node, which shares with the old one all that has not changed. An empty node has no
/// priority; a node whose last child is removed is empty.
///
/// Equality is that of the tree: the same leaf (`1` equals `1.0`), the same children, the same priority.
public struct DatabaseNode: Sendable, Hashable {
  enum Storage: Sendable {
    case empty
    case leaf(DatabaseLeaf, priority: DatabaseLeaf?)
    case children(Children)
  }

  /// The children of a node, and its priority.
  final class Children: Sendable {
    let map: OrderedMap<DatabaseKey, DatabaseNode>
    let priority: DatabaseLeaf?
    /// How many children have a priority: with none, the order by priority is that by key.
    let prioritized: Int

    init(_ map: OrderedMap<DatabaseKey, DatabaseNode>, priority: DatabaseLeaf?, prioritized: Int) {
      self.map = map
      self.priority = priority
      self.prioritized = prioritized
    }
  }

  let storage: Storage

  private init(_ storage: Storage) { self.storage = storage }

  /// The node that is not there.
  public static let empty = DatabaseNode(.empty)

  /// A leaf.
  public init(_ leaf: DatabaseLeaf, priority: DatabaseLeaf? = nil) { storage = .leaf(leaf, priority: priority) }

  /// A node of children in any order; empty children are dropped, and of equal keys the last one counts.
  public init(children: [(DatabaseKey, DatabaseNode)], priority: DatabaseLeaf? = nil) {
    let entries = Self.isInOrder(children) ? children : Self.ordered(children)
    guard !entries.isEmpty else {
      self = .empty
      return
    }
    let prioritized = entries.reduce(0) { $0 + ($1.1.priority == nil ? 0 : 1) }
    storage = .children(Children(OrderedMap(sorted: entries), priority: priority, prioritized: prioritized))
  }

  /// Whether nothing has to be dropped or moved.
  private static func isInOrder(_ children: [(DatabaseKey, DatabaseNode)]) -> Bool {
    var last = DatabaseKey.minimum
    // Each child is copied out of the array once, and not once for each question.
    for (key, child) in children {
      if child.isEmpty || !(last < key) { return false }
      last = key
    }
    return true
  }

  /// A child as it is sorted: a small number rather than the child itself.
  private struct Place {
    let order: Int64
    let index: Int
    let isEmpty: Bool
  }

  private static func ordered(_ children: [(DatabaseKey, DatabaseNode)]) -> [(DatabaseKey, DatabaseNode)] {
    var places: [Place] = []
    places.reserveCapacity(children.count)
    for (index, (key, child)) in children.enumerated() {
      places.append(Place(order: key.order, index: index, isEmpty: child.isEmpty))
    }
    // Where keys are equal the places break the tie: the last one of them sorts last.
    places.sort { left, right in
      if left.order != right.order { return left.order < right.order }
      let (first, second) = (children[left.index].0, children[right.index].0)
      return first < second || (left.index < right.index && first == second)
    }
    var entries: [(DatabaseKey, DatabaseNode)] = []
    entries.reserveCapacity(children.count)
    for (number, place) in places.enumerated() where !place.isEmpty {
      let next = number + 1 < places.count ? places[number + 1] : nil
      if let next, next.order == place.order, children[next.index].0 == children[place.index].0 { continue }
      entries.append(children[place.index])
    }
    return entries
  }

  // MARK: Reading

  /// Whether nothing is there.
  public var isEmpty: Bool { if case .empty = storage { true } else { false } }

  /// The leaf; `nil` for a node with children and an empty one.
  public var leaf: DatabaseLeaf? { if case .leaf(let leaf, _) = storage { leaf } else { nil } }

  /// The priority; `nil` for none.
  public var priority: DatabaseLeaf? {
    switch storage {
    case .empty: nil
    case .leaf(_, let priority): priority
    case .children(let children): children.priority
    }
  }

  var children: Children? { if case .children(let children) = storage { children } else { nil } }

  /// How many children it has.
  public var childCount: Int { children?.map.count ?? 0 }

  /// Whether any child has a priority.
  public var hasPrioritizedChildren: Bool { (children?.prioritized ?? 0) > 0 }

  /// A child; empty when there is none.
  ///
  /// `.priority` is the priority as a leaf.
  public subscript(key: DatabaseKey) -> DatabaseNode {
    if key.isPriority { return priority.map { DatabaseNode($0) } ?? .empty }
    return children?.map[key] ?? .empty
  }

  /// A descendant; empty when there is none.
  public subscript(path: DatabasePath) -> DatabaseNode {
    var node = self
    for key in path.keys {
      if node.isEmpty { return .empty }
      node = node[key]
    }
    return node
  }

  /// Visits the children in the order of their keys until the body returns `false`.
  public func visitChildren(_ body: (DatabaseKey, DatabaseNode) throws -> Bool) rethrows {
    _ = try children?.map.visit(body)
  }

  /// Calls the body for each child in the order of the keys.
  public func forEachChild(_ body: (DatabaseKey, DatabaseNode) throws -> Void) rethrows {
    _ = try children?.map.visit {
      try body($0, $1)
      return true
    }
  }

  /// The first child whose key is not below a key.
  public func firstChild(from key: DatabaseKey) -> (key: DatabaseKey, node: DatabaseNode)? {
    children?.map.first(from: key).map { ($0.key, $0.value) }
  }

  // MARK: Changing

  /// The node with another priority; an empty node stays empty.
  public func withPriority(_ priority: DatabaseLeaf?) -> DatabaseNode {
    switch storage {
    case .empty: self
    case .leaf(let leaf, _): DatabaseNode(leaf, priority: priority)
    case .children(let children):
      DatabaseNode(.children(Children(children.map, priority: priority, prioritized: children.prioritized)))
    }
  }

  /// The node with another child; an empty one removes it.
  ///
  /// `.priority` sets the priority.
  ///
  /// A child on a leaf replaces the leaf's value and keeps its priority; removing a child of a leaf changes nothing.
  public func setting(_ key: DatabaseKey, to child: DatabaseNode) -> DatabaseNode {
    if key.isPriority { return withPriority(child.leaf) }
    let old = children
    let map = old?.map ?? OrderedMap()
    let before = map[key]
    if child.isEmpty, before == nil { return self }
    let changed = child.isEmpty ? map.removing(key) : map.setting(key, to: child)
    guard !changed.isEmpty else { return .empty }
    let prioritized =
      (old?.prioritized ?? 0) - (before?.priority == nil ? 0 : 1) + (child.priority == nil ? 0 : 1)
    return DatabaseNode(.children(Children(changed, priority: priority, prioritized: prioritized)))
  }

  /// The node with another descendant; an empty one removes it.
  public func setting(_ path: DatabasePath, to node: DatabaseNode) -> DatabaseNode {
    guard let front = path.front else { return node }
    if path.count == 1 { return setting(front, to: node) }
    return setting(front, to: self[front].setting(path.withoutFront, to: node))
  }

  // MARK: Equality and order

  /// Whether leaf or children and the priority are equal.
  public static func == (left: DatabaseNode, right: DatabaseNode) -> Bool {
    switch (left.storage, right.storage) {
    case (.empty, .empty): return true
    case (.leaf(let left, let leftPriority), .leaf(let right, let rightPriority)):
      return left == right && leftPriority == rightPriority
    case (.children(let left), .children(let right)):
      if left === right { return true }
      guard left.priority == right.priority, left.map.count == right.map.count else { return false }
      if left.map.root === right.map.root { return true }
      var others = OrderedMapIterator(right.map)
      return left.map.visit { key, node in
        guard let other = others.next() else { return false }
        return key == other.key && node == other.value
      }
    default: return false
    }
  }

  /// Feeds the parts that equality compares to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(leaf)
    hasher.combine(priority)
    hasher.combine(childCount)
  }

  /// The order of values in a query: empty, leaves, nodes with children, of which all are alike.
  ///
  /// - Returns: Whether the first sorts before the second; priorities do not count.
  public static func isOrdered(_ left: DatabaseNode, before right: DatabaseNode) -> Bool {
    switch (left.storage, right.storage) {
    case (.leaf(let left, _), .leaf(let right, _)): left < right
    case (.empty, .leaf), (.empty, .children), (.leaf, .children): true
    default: false
    }
  }
}

/// Walks an ``OrderedMap`` in order, one entry at a time.
struct OrderedMapIterator<Key: Comparable & Sendable, Value: Sendable> {
  private var open: [OrderedMapNode<Key, Value>] = []

  init(_ map: OrderedMap<Key, Value>) { descend(map.root) }

  mutating func next() -> OrderedMapNode<Key, Value>? {
    guard let node = open.popLast() else { return nil }
    descend(node.right)
    return node
  }

  private mutating func descend(_ node: OrderedMapNode<Key, Value>?) {
    var node = node
    while let current = node {
      open.append(current)
      node = current.left
    }
  }
}
