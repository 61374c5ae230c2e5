/// A node together with the order of its children by an index.
///
/// Persistent, as the node is: a change of one child costs O(log n).
public struct IndexedNode: Sendable {
  /// The node.
  public let node: DatabaseNode

  /// The order of the children.
  public let index: DatabaseIndex

  /// The children in order; `nil` where that is the order of the keys.
  private let order: OrderedMap<DatabasePosition, DatabaseNode>?

  /// A node with its order, which is made here in O(n log n), or in O(1) where it is that of the keys.
  public init(_ node: DatabaseNode, index: DatabaseIndex) {
    self.node = node
    self.index = index
    order = Self.isKeyOrder(node, index) ? nil : Self.order(of: node, index)
  }

  private init(_ node: DatabaseNode, _ index: DatabaseIndex, _ order: OrderedMap<DatabasePosition, DatabaseNode>?) {
    self.node = node
    self.index = index
    self.order = order
  }

  /// The same node in another order.
  public func reindexed(_ index: DatabaseIndex) -> IndexedNode {
    index == self.index ? self : IndexedNode(node, index: index)
  }

  /// The node with another child.
  public func setting(_ key: DatabaseKey, to child: DatabaseNode) -> IndexedNode {
    if key.isPriority { return withPriority(child.leaf) }
    let changed = node.setting(key, to: child)
    // An order that has been made is kept, so that a child that gets and loses a priority in turn costs no new one.
    guard var order, !changed.isEmpty else { return IndexedNode(changed, index: index) }
    let old = node[key]
    if !old.isEmpty { order = order.removing(index.position(of: key, old)) }
    if !child.isEmpty { order = order.setting(index.position(of: key, child), to: child) }
    return IndexedNode(changed, index, order)
  }

  /// The node with another priority.
  public func withPriority(_ priority: DatabaseLeaf?) -> IndexedNode {
    IndexedNode(node.withPriority(priority), index, order)
  }

  /// The first child.
  public var first: (key: DatabaseKey, node: DatabaseNode)? {
    guard let order else { return node.children?.map.first.map { ($0.key, $0.value) } }
    return order.first.map { ($0.key.key, $0.value) }
  }

  /// The last child.
  public var last: (key: DatabaseKey, node: DatabaseNode)? {
    guard let order else { return node.children?.map.last.map { ($0.key, $0.value) } }
    return order.last.map { ($0.key.key, $0.value) }
  }

  /// The child before a position.
  public func child(before position: DatabasePosition) -> (key: DatabaseKey, node: DatabaseNode)? {
    if let order { return order.last(before: position).map { ($0.key.key, $0.value) } }
    return node.children?.map.last(before: keyBound(position)).map { ($0.key, $0.value) }
  }

  /// The child after a position.
  public func child(after position: DatabasePosition) -> (key: DatabaseKey, node: DatabaseNode)? {
    if let order { return order.first(after: position).map { ($0.key.key, $0.value) } }
    return node.children?.map.first(after: keyBound(position)).map { ($0.key, $0.value) }
  }

  /// Calls the body for the children in order until it returns `false`.
  public func visitChildren(_ body: (DatabaseKey, DatabaseNode) throws -> Bool) rethrows {
    guard let order else { return try node.visitChildren(body) }
    try order.visit { try body($0.key, $1) }
  }

  /// In the order of the keys every child is at "no value", and a position with a value is after all of them.
  private func keyBound(_ position: DatabasePosition) -> DatabaseKey {
    position.value.isEmpty || index == .key ? position.key : .maximum
  }

  private static func isKeyOrder(_ node: DatabaseNode, _ index: DatabaseIndex) -> Bool {
    switch index {
    case .key: true
    case .priority: !node.hasPrioritizedChildren
    case .value, .child: node.childCount == 0
    }
  }

  private static func order(of node: DatabaseNode, _ index: DatabaseIndex) -> OrderedMap<DatabasePosition, DatabaseNode>
  {
    var entries: [(DatabasePosition, DatabaseNode)] = []
    entries.reserveCapacity(node.childCount)
    node.forEachChild { entries.append((index.position(of: $0, $1), $1)) }
    return OrderedMap(sorted: entries.sorted { $0.0 < $1.0 })
  }
}
