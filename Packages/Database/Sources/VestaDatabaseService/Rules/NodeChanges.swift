import VestaDatabaseBackend

/// The part of a node that has to be written in place of another one.
enum NodeChanges {
  /// The paths at which a node differs from the existing one, and its values there.
  ///
  /// Removed children are last: a node whose last child is removed before another is added would not exist in between,
  /// and its priority with it.
  ///
  /// - Parameter limit: The most paths.
  /// - Returns: `nil` when there are more; all of the node is written then.
  static func places(_ old: DatabaseNode, _ new: DatabaseNode, limit: Int) -> [DatabasePathValue]? {
    var found: [DatabasePathValue] = []
    guard add(.root, old, new, limit, &found) else { return nil }
    return found.filter { !$0.node.isEmpty } + found.filter(\.node.isEmpty)
  }

  private static func add(
    _ path: DatabasePath, _ old: DatabaseNode, _ new: DatabaseNode, _ limit: Int, _ found: inout [DatabasePathValue]
  ) -> Bool {
    if old == new { return true }
    guard found.count < limit else { return false }
    guard old.childCount > 0, new.childCount > 0 else {
      found.append(DatabasePathValue(path, new))
      return true
    }
    if old.priority != new.priority {
      found.append(DatabasePathValue(path.child(.priority), new.priority.map { DatabaseNode($0) } ?? .empty))
    }
    var fits = true
    new.visitChildren { key, child in
      fits = add(path.child(key), old[key], child, limit, &found)
      return fits
    }
    guard fits else { return false }
    old.visitChildren { key, child in
      if new[key].isEmpty { fits = add(path.child(key), child, .empty, limit, &found) }
      return fits
    }
    return fits
  }
}
