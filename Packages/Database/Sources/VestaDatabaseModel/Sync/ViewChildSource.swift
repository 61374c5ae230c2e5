import VestaDatabaseBackend

/// Finds children in the data that a view knows and in the complete data that another view may have.
struct ViewChildSource: CompleteChildSource {
  let writes: WritesBelow
  let cache: ViewCache
  let completeServer: DatabaseNode?

  func completeChild(_ key: DatabaseKey) -> DatabaseNode? {
    if cache.event.isComplete(for: key) { return cache.event.node[key] }
    guard let completeServer else { return writes.completeChild(key, server: cache.server) }
    let server = CacheNode(
      indexed: IndexedNode(completeServer, index: .key), isComplete: true, isFiltered: false)
    return writes.completeChild(key, server: server)
  }

  func child(
    next position: DatabasePosition, index: DatabaseIndex, side: DatabaseQuerySpec.Side
  ) -> (key: DatabaseKey, node: DatabaseNode)? {
    let indexed: IndexedNode
    if writes.trie.isEmpty, cache.server.isComplete, completeServer == nil || !cache.server.isFiltered {
      indexed = cache.server.indexed.reindexed(index)
    } else {
      guard let node = writes.completeNode(server: completeServer ?? cache.server.completeNode) else { return nil }
      indexed = IndexedNode(node, index: index)
    }
    return side == .first ? indexed.child(after: position) : indexed.child(before: position)
  }
}
