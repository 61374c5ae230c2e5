import VestaDatabaseBackend

/// The known data of a path, and whether it is complete.
struct CacheNode: Sendable {
  var indexed: IndexedNode
  /// Whether everything that belongs here is known.
  var isComplete: Bool
  /// Whether children may be missing because a query does not want them.
  var isFiltered: Bool

  var node: DatabaseNode { indexed.node }

  /// The data when all of it is known.
  var completeNode: DatabaseNode? { isComplete ? node : nil }

  func isComplete(for path: DatabasePath) -> Bool {
    guard let front = path.front else { return isComplete && !isFiltered }
    return isComplete(for: front)
  }

  func isComplete(for key: DatabaseKey) -> Bool { (isComplete && !isFiltered) || !node[key].isEmpty }
}

/// The data of a view: the server's, and the server's with this client's writes on top.
struct ViewCache: Sendable {
  var event: CacheNode
  var server: CacheNode
}
