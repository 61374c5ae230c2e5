/// The order of the children of a node.
public enum DatabaseIndex: Hashable, Sendable {
  /// By priority; the default.
  case priority
  /// By key.
  case key
  /// By the value of the child.
  case value
  /// By the value of a descendant of the child.
  case child(DatabasePath)

  /// Returns the value by which a child is ordered.
  ///
  /// - Parameter node: The child.
  /// - Returns: The node that counts; empty for children that lack it, and in the order by key.
  public func sortValue(of node: DatabaseNode) -> DatabaseNode {
    switch self {
    case .priority: node.priority.map { DatabaseNode($0) } ?? .empty
    case .key: .empty
    case .value: node.leaf.map { DatabaseNode($0) } ?? node
    case .child(let path): node[path]
    }
  }

  /// Whether a change of a child may have moved it among the others.
  public func isMoved(from old: DatabaseNode, to new: DatabaseNode) -> Bool {
    switch self {
    case .priority: old.priority != new.priority
    case .key: false
    case .value: old != new
    case .child(let path):
      DatabaseNode.isOrdered(old[path], before: new[path]) || DatabaseNode.isOrdered(new[path], before: old[path])
    }
  }

  /// The position of a child.
  public func position(of key: DatabaseKey, _ node: DatabaseNode) -> DatabasePosition {
    DatabasePosition(value: sortValue(of: node), key: key)
  }
}

/// The position of a child in an order: first by value, then by key.
public struct DatabasePosition: Comparable, Hashable, Sendable {
  /// The value by which the child is ordered.
  public let value: DatabaseNode

  /// The key of the child.
  public let key: DatabaseKey

  /// A position.
  public init(value: DatabaseNode, key: DatabaseKey) {
    self.value = value
    self.key = key
  }

  /// Whether the order makes no difference between the two.
  public static func == (left: DatabasePosition, right: DatabasePosition) -> Bool { !(left < right) && !(right < left) }

  /// Feeds the parts that equality compares to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }

  /// Whether the first sorts first.
  public static func < (left: DatabasePosition, right: DatabasePosition) -> Bool {
    if DatabaseNode.isOrdered(left.value, before: right.value) { return true }
    if DatabaseNode.isOrdered(right.value, before: left.value) { return false }
    return left.key < right.key
  }
}
