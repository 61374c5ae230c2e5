import VestaBytes
public import VestaDatabaseBackend

/// A tree as rows: one for each leaf, and one for each node with children that has a priority.
///
/// The rows of a subtree follow one another, that of a node before those of its children.
public enum TreeRows {
  /// A row: where it belongs, and what it says.
  public struct Row: Sendable {
    /// The keys below the node that the rows are of.
    public let keys: [DatabaseKey]
    /// The leaf; `nil` for a row that holds a priority only.
    public let leaf: DatabaseLeaf?
    /// The priority.
    public let priority: DatabaseLeaf?

    /// A row.
    public init(keys: [DatabaseKey], leaf: DatabaseLeaf?, priority: DatabaseLeaf?) {
      self.keys = keys
      self.leaf = leaf
      self.priority = priority
    }
  }

  /// Calls the body for each row of a node, with the bytes of its key and its value.
  ///
  /// - Parameters:
  ///   - node: The node.
  ///   - prefix: The key of the node's own row.
  ///   - body: Called with the key and the value of each row.
  public static func forEach(
    of node: DatabaseNode, prefix: [UInt8], _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Void
  ) rethrows {
    if node.isEmpty { return }
    if node.leaf != nil || node.priority != nil {
      try body(prefix, NodeCoding.encode(leaf: node.leaf, priority: node.priority))
    }
    try node.forEachChild { key, child in
      var below = prefix
      PathCoding.append(key, to: &below)
      try forEach(of: child, prefix: below, body)
    }
  }

  /// Builds the node of rows that are in order.
  public static func node(of rows: [Row]) -> DatabaseNode { node(of: rows[...], depth: 0) }

  private static func node(of rows: ArraySlice<Row>, depth: Int) -> DatabaseNode {
    guard let first = rows.first else { return .empty }
    var rest = rows
    var priority: DatabaseLeaf?
    if first.keys.count == depth {
      if let leaf = first.leaf { return DatabaseNode(leaf, priority: first.priority) }
      priority = first.priority
      rest = rows.dropFirst()
    }
    var children: [(DatabaseKey, DatabaseNode)] = []
    while let row = rest.first, row.keys.count > depth {
      let key = row.keys[depth]
      let end = rest.firstIndex { $0.keys.count <= depth || $0.keys[depth] != key } ?? rest.endIndex
      children.append((key, node(of: rest[..<end], depth: depth + 1)))
      rest = rest[end...]
    }
    return DatabaseNode(children: children, priority: priority)
  }
}
