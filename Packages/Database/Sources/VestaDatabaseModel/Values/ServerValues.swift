public import VestaDatabaseBackend

/// Replaces server values: the time, and increments.
public enum ServerValues {
  /// Whether anything in a node is for the server to decide.
  public static func areIn(_ node: DatabaseNode) -> Bool {
    if node.priority?.isDeferred == true || node.leaf?.isDeferred == true { return true }
    var found = false
    node.visitChildren { _, child in
      found = areIn(child)
      return !found
    }
    return found
  }

  /// A node with all server values replaced.
  ///
  /// - Parameters:
  ///   - node: The data to write.
  ///   - path: Where the node is, relative to what `existing` takes.
  ///   - now: The time of the server in milliseconds.
  ///   - existing: The value before the write at a path.
  public static func resolve(
    _ node: DatabaseNode, at path: DatabasePath = .root, now: Int64, existing: (DatabasePath) throws -> DatabaseNode
  ) rethrows -> DatabaseNode {
    guard areIn(node) else { return node }
    let priority = try node.priority.map { priority in
      try resolve(priority, now: now) { try existing(path.child(.priority)) } ?? priority
    }
    if let leaf = node.leaf {
      return DatabaseNode(try resolve(leaf, now: now) { try existing(path) } ?? leaf, priority: priority)
    }
    var children: [(DatabaseKey, DatabaseNode)] = []
    try node.forEachChild { key, child in
      children.append((key, try resolve(child, at: path.child(key), now: now, existing: existing)))
    }
    return DatabaseNode(children: children, priority: priority)
  }

  private static func resolve(
    _ leaf: DatabaseLeaf, now: Int64, existing: () throws -> DatabaseNode
  ) rethrows -> DatabaseLeaf? {
    switch leaf {
    case .timestamp: .int(now)
    case .incrementInt(let delta): increment(try existing().leaf, by: .int(delta))
    case .incrementDouble(let delta): increment(try existing().leaf, by: .double(delta))
    case .bool, .int, .double, .string: nil
    }
  }

  /// The sum; the delta alone where there was no number, a double where whole numbers overflow.
  static func increment(_ existing: DatabaseLeaf?, by delta: DatabaseLeaf) -> DatabaseLeaf {
    guard let existing, let old = existing.number else { return delta }
    if case .int(let left) = existing, case .int(let right) = delta {
      let (sum, overflow) = left.addingReportingOverflow(right)
      if !overflow { return .int(sum) }
    }
    let sum = old + (delta.number ?? 0)
    return sum.isFinite ? .double(sum) : .double(sum < 0 ? -Double.greatestFiniteMagnitude : .greatestFiniteMagnitude)
  }
}

extension ServerValues {
  /// Where a node has increments, whose result depends on the value before the write.
  public static func incrementPaths(of node: DatabaseNode, at path: DatabasePath = .root) -> [DatabasePath] {
    guard areIn(node) else { return [] }
    var paths: [DatabasePath] = []
    if isIncrement(node.leaf) { paths.append(path) }
    if isIncrement(node.priority) { paths.append(path.child(.priority)) }
    node.forEachChild { paths += incrementPaths(of: $1, at: path.child($0)) }
    return paths
  }

  private static func isIncrement(_ leaf: DatabaseLeaf?) -> Bool {
    switch leaf {
    case .incrementInt, .incrementDouble: true
    default: false
    }
  }
}
