public import VestaDatabaseBackend

/// A tree as rows: one for each leaf, and one for each node with children that has a priority.
///
/// The rows of a subtree follow one another, a node's before its children's. ``TreeBuilder`` makes a node
/// of them.
public enum TreeRows {
  /// Calls the body for each row of a node, with the bytes of its key and its value.
  ///
  /// - Parameters:
  ///   - node: The node.
  ///   - prefix: The key of the node's own row.
  ///   - body: Called with the key and the value of each row.
  public static func forEach(
    of node: DatabaseNode, prefix: [UInt8], _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Void
  ) rethrows {
    var key = prefix
    try forEach(of: node, &key, body)
  }

  private static func forEach(
    of node: DatabaseNode, _ key: inout [UInt8], _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Void
  ) rethrows {
    if node.isEmpty { return }
    if node.leaf != nil || node.priority != nil {
      try body(key, NodeCoding.encode(leaf: node.leaf, priority: node.priority))
    }
    let length = key.count
    try node.forEachChild { name, child in
      PathCoding.append(name, to: &key)
      try forEach(of: child, &key, body)
      key.removeSubrange(length...)
    }
  }
}
