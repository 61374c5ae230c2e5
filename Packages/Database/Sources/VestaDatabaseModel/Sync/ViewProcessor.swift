import VestaDatabaseBackend

/// Decides what an operation makes of a view.
struct ViewProcessor {
  let filter: NodeFilter
  /// The client's writes at the view's path.
  let writes: WritesBelow
  /// The server's complete data at the view's path, where another view has it.
  let completeServer: DatabaseNode?

  var changes = ChildChanges()

  mutating func apply(_ operation: SyncOperation, to cache: ViewCache) -> ViewCache {
    let path = operation.path
    switch (operation.kind, operation.source) {
    case (.overwrite(let node), .user): return userOverwrite(cache, path, node)
    case (.overwrite(let node), let source):
      let filters = source.isTagged || (cache.server.isFiltered && !path.isRoot)
      return serverOverwrite(cache, path, node, filters: filters)
    case (.merge(let trie), .user): return userMerge(cache, path, trie)
    case (.merge(let trie), let source):
      return serverMerge(cache, path, trie, filters: source.isTagged || cache.server.isFiltered)
    case (.acknowledge(let affected, false), _): return acknowledge(cache, path, affected)
    case (.acknowledge(_, true), _): return revert(cache, path)
    case (.listenComplete, let source):
      var cache = cache
      cache.server.isComplete = cache.server.isComplete || path.isRoot
      if source.isTagged, !cache.server.isFiltered {
        // The service keeps the window current from here on, and nothing beyond it.
        cache.server.indexed = filter.full(cache.server.node)
        cache.server.isFiltered = filter.filtersNodes
      }
      return eventCacheAfterServerChange(cache, path, NoChildSource())
    }
  }

  // MARK: The server's data

  private mutating func serverOverwrite(
    _ old: ViewCache, _ path: DatabasePath, _ node: DatabaseNode, filters: Bool
  ) -> ViewCache {
    let filter = filters ? self.filter : self.filter.unfiltered
    var ignored = ChildChanges()
    let indexed: IndexedNode
    if path.isRoot {
      indexed = filter.full(node)
    } else if filter.filtersNodes, !old.server.isFiltered {
      indexed = filter.full(old.server.node.setting(path, to: node))
    } else {
      guard let key = path.front else { return old }
      if !old.server.isComplete(for: path), path.count > 1 { return old }
      let child = old.server.node[key].setting(path.withoutFront, to: node)
      indexed =
        key.isPriority
        ? filter.updatePriority(old.server.indexed, to: child)
        : filter.updateChild(
          old.server.indexed, key, to: child, affected: path.withoutFront, NoChildSource(), &ignored)
    }
    var cache = old
    cache.server = CacheNode(
      indexed: indexed, isComplete: old.server.isComplete || path.isRoot, isFiltered: filter.filtersNodes)
    return eventCacheAfterServerChange(cache, path, source(cache))
  }

  private mutating func serverMerge(
    _ old: ViewCache, _ path: DatabasePath, _ trie: WriteTrie, filters: Bool
  ) -> ViewCache {
    if old.server.node.isEmpty, !old.server.isComplete { return old }
    var merge = WriteTrie.empty
    merge.add(trie, at: path)
    let server = old.server.node
    if let value = merge.value { return serverOverwrite(old, .root, value, filters: filters) }
    var cache = old
    for (key, below) in merge.sortedChildren where !server[key].isEmpty {
      cache = serverOverwrite(cache, DatabasePath([key]), below.applied(to: server[key]), filters: filters)
    }
    for (key, below) in merge.sortedChildren where server[key].isEmpty {
      if !old.server.isComplete(for: key), below.value == nil { continue }
      cache = serverOverwrite(cache, DatabasePath([key]), below.applied(to: .empty), filters: filters)
    }
    return cache
  }

  /// Returns the event cache after the server's data has changed at a path.
  private mutating func eventCacheAfterServerChange(
    _ cache: ViewCache, _ path: DatabasePath, _ source: some CompleteChildSource
  ) -> ViewCache {
    if writes.shadow(at: path) != nil { return cache }
    let event = cache.event
    let indexed: IndexedNode
    if let key = path.front {
      if key.isPriority {
        let priority = writes.nodeAfterServerOverwrite(at: path, server: cache.server.node)
        indexed = priority.map { filter.updatePriority(event.indexed, to: $0) } ?? event.indexed
      } else if let child = childAfterServerChange(cache, key, path) {
        indexed = filter.updateChild(event.indexed, key, to: child, affected: path.withoutFront, source, &changes)
      } else {
        indexed = event.indexed
      }
    } else if cache.server.isFiltered {
      let server = cache.server.node.leaf == nil ? cache.server.node : .empty
      indexed = filter.updateFull(event.indexed, to: writes.completeChildren(server: server), &changes)
    } else {
      let node = writes.completeNode(server: cache.server.node) ?? .empty
      indexed = filter.updateFull(event.indexed, to: node, &changes)
    }
    var cache = cache
    cache.event = CacheNode(
      indexed: indexed, isComplete: event.isComplete || path.isRoot, isFiltered: filter.filtersNodes)
    return cache
  }

  private func childAfterServerChange(
    _ cache: ViewCache, _ key: DatabaseKey, _ path: DatabasePath
  ) -> DatabaseNode? {
    guard cache.event.isComplete(for: key) else { return writes.completeChild(key, server: cache.server) }
    let child = cache.event.node[key]
    guard let update = writes.nodeAfterServerOverwrite(at: path, server: cache.server.node) else { return child }
    return child.setting(path.withoutFront, to: update)
  }

  // MARK: The client's writes

  private mutating func userOverwrite(_ old: ViewCache, _ path: DatabasePath, _ node: DatabaseNode) -> ViewCache {
    var cache = old
    guard let key = path.front else {
      let indexed = filter.updateFull(old.event.indexed, to: node, &changes)
      cache.event = CacheNode(indexed: indexed, isComplete: true, isFiltered: filter.filtersNodes)
      return cache
    }
    if key.isPriority {
      cache.event.indexed = filter.updatePriority(old.event.indexed, to: node)
      return cache
    }
    let source = source(old)
    let child = childAfterUserOverwrite(path.withoutFront, node, source.completeChild(key))
    guard old.event.node[key] != child else { return old }
    let indexed = filter.updateChild(
      old.event.indexed, key, to: child, affected: path.withoutFront, source, &changes)
    cache.event = CacheNode(indexed: indexed, isComplete: old.event.isComplete, isFiltered: filter.filtersNodes)
    return cache
  }

  /// A child after a write below it; empty when nothing was known of it.
  private func childAfterUserOverwrite(
    _ path: DatabasePath, _ node: DatabaseNode, _ complete: DatabaseNode?
  ) -> DatabaseNode {
    guard let back = path.back, let parent = path.parent else { return node }
    guard let complete else { return .empty }
    return back.isPriority && complete[parent].isEmpty ? complete : complete.setting(path, to: node)
  }

  private mutating func userMerge(_ old: ViewCache, _ path: DatabasePath, _ trie: WriteTrie) -> ViewCache {
    var cache = old
    let values = trie.values.map { (path: path.appending($0.path), node: $0.node) }
    func isKnown(_ path: DatabasePath) -> Bool { path.front.map { old.event.isComplete(for: $0) } ?? false }
    for (path, node) in values where isKnown(path) { cache = userOverwrite(cache, path, node) }
    for (path, node) in values where !isKnown(path) { cache = userOverwrite(cache, path, node) }
    return cache
  }

  private mutating func acknowledge(
    _ cache: ViewCache, _ path: DatabasePath, _ affected: AffectedPaths
  ) -> ViewCache {
    if writes.shadow(at: path) != nil { return cache }
    let server = cache.server
    if server.isComplete, server.isFiltered { return showWindow(cache) }
    if affected.isAll {
      if (path.isRoot && server.isComplete) || server.isComplete(for: path) {
        let path = replacedPlace(cache, path)
        return serverOverwrite(cache, path, server.node[path], filters: server.isFiltered)
      }
      guard path.isRoot else { return cache }
      var known = WriteTrie.empty
      server.node.forEachChild { known.add($1, at: DatabasePath([$0])) }
      return serverMerge(cache, path, known, filters: server.isFiltered)
    }
    var known = WriteTrie.empty
    for relative in affected.paths {
      let place = path.appending(relative)
      guard server.isComplete(for: place) else { continue }
      let shown = replacedPlace(cache, place)
      known.add(server.node[shown], at: shown)
    }
    return serverMerge(cache, .root, known, filters: server.isFiltered)
  }

  /// The path to show again after a write at a path.
  ///
  /// It is higher up where a node above the path has no children for the server or for listeners: the write and the
  /// server's data have then replaced that node for each other.
  private func replacedPlace(_ cache: ViewCache, _ path: DatabasePath) -> DatabasePath {
    var (place, above) = (path, path.parent)
    while let current = above, !current.isRoot || cache.server.isComplete {
      if cache.server.node[current].childCount == 0 || cache.event.node[current].childCount == 0 { place = current }
      above = current.parent
    }
    return place
  }

  /// Shows the server's window with the writes again, after a write has ended.
  ///
  /// A child of the write that is not in the window may have left it before the write ended, and one that is not in it
  /// may belong there by the data of another view.
  private mutating func showWindow(_ old: ViewCache) -> ViewCache {
    let server = old.server.node.leaf == nil ? old.server.node : .empty
    let node = writes.completeNode(server: completeServer) ?? writes.completeChildren(server: server)
    var cache = old
    cache.event.indexed = filter.updateFull(old.event.indexed, to: node, &changes)
    return cache
  }

  private mutating func revert(_ old: ViewCache, _ path: DatabasePath) -> ViewCache {
    if writes.shadow(at: path) != nil { return old }
    if old.server.isComplete, old.server.isFiltered { return showWindow(old) }
    var cache = old
    if let key = path.front, !key.isPriority {
      cache.event.indexed = revertChild(old, key, path.withoutFront)
    } else {
      let node =
        old.server.isComplete
        ? writes.completeNode(server: old.server.node) ?? .empty
        : writes.completeChildren(server: old.server.node)
      cache.event.indexed = filter.updateFull(old.event.indexed, to: node, &changes)
    }
    // No other write covers all of the view's path: it would cover this path too.
    cache.event.isComplete = old.server.isComplete
    cache.event.isFiltered = filter.filtersNodes
    return cache
  }

  private mutating func revertChild(_ old: ViewCache, _ key: DatabaseKey, _ below: DatabasePath) -> IndexedNode {
    let event = old.event.indexed
    var indexed = event
    let source = source(old)
    if let child = writes.completeChild(key, server: old.server) {
      indexed = filter.updateChild(event, key, to: child, affected: below, source, &changes)
    } else if !event.node[key].isEmpty {
      indexed = filter.updateChild(event, key, to: .empty, affected: below, source, &changes)
    }
    if indexed.node.isEmpty, old.server.isComplete,
      let complete = writes.completeNode(server: old.server.node), complete.leaf != nil
    {
      indexed = filter.updateFull(indexed, to: complete, &changes)
    }
    return indexed
  }

  // MARK: Sources of children

  /// Where a filter finds children.
  ///
  /// The view's own data counts where it is complete: that of another view is still the data before the operation, in
  /// which a child that the operation has moved is at its old position.
  private func source(_ cache: ViewCache) -> ViewChildSource {
    let isOwn = cache.server.isComplete && !cache.server.isFiltered
    return ViewChildSource(writes: writes, cache: cache, completeServer: isOwn ? cache.server.node : completeServer)
  }
}
