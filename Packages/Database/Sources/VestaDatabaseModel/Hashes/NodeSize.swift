public import VestaDatabaseBackend

/// The estimated size of a node, as caches and hashes count it.
public enum NodeSize {
  /// The size in bytes.
  public static func estimate(_ node: DatabaseNode) -> Int {
    guard let leaf = node.leaf else {
      var size = node.isEmpty ? 4 : 1
      node.forEachChild { size += $0.text.utf8.count + 4 + estimate($1) }
      return size + (node.priority.map { estimate($0) } ?? 0)
    }
    return estimate(leaf) + (node.priority.map { 24 + estimate($0) } ?? 0)
  }

  private static func estimate(_ leaf: DatabaseLeaf) -> Int {
    switch leaf {
    case .bool: 4
    case .string(let text): text.utf8.count + 2
    case .int, .double, .timestamp, .incrementInt, .incrementDouble: 8
    }
  }
}
