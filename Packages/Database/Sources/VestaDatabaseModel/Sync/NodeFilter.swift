import VestaDatabaseBackend

/// Where a filter looks for a child that moves into its window.
protocol CompleteChildSource {
  /// All that is known of a child, writes included; `nil` when it is not known.
  func completeChild(_ key: DatabaseKey) -> DatabaseNode?

  /// The child next to a position, in the complete data with writes; `nil` when there is none or it is not known.
  func child(
    next position: DatabasePosition, index: DatabaseIndex, side: DatabaseQuerySpec.Side
  ) -> (key: DatabaseKey, node: DatabaseNode)?
}

/// The source of the server's own data, which is never refilled.
struct NoChildSource: CompleteChildSource {
  func completeChild(_ key: DatabaseKey) -> DatabaseNode? { nil }
  func child(
    next position: DatabasePosition, index: DatabaseIndex, side: DatabaseQuerySpec.Side
  ) -> (key: DatabaseKey, node: DatabaseNode)? { nil }
}

/// Keeps a node to what a query wants, and says how its children change.
struct NodeFilter: Sendable {
  let spec: DatabaseQuerySpec

  /// The filter that wants all children, in the query's order.
  var unfiltered: NodeFilter { NodeFilter(spec: DatabaseQuerySpec(index: spec.index)) }

  var filtersNodes: Bool { !spec.loadsAllData }

  /// The children of a node that it keeps, in the query's order.
  func full(_ node: DatabaseNode) -> IndexedNode {
    IndexedNode(filtersNodes ? window(of: node) : node, index: spec.index)
  }

  /// Replaces the whole node.
  func updateFull(_ old: IndexedNode, to new: DatabaseNode, _ changes: inout ChildChanges) -> IndexedNode {
    let wanted = filtersNodes ? window(of: new) : new
    var different: [ChildChange] = []
    old.node.forEachChild { key, child in
      if wanted[key].isEmpty { different.append(ChildChange(kind: .removed, key: key, node: child, old: child)) }
    }
    different.reserveCapacity(different.count + (old.node.childCount == 0 ? wanted.childCount : 0))
    wanted.forEachChild { key, child in
      let before = old.node[key]
      if before != child {
        different.append(ChildChange(kind: before.isEmpty ? .added : .changed, key: key, node: child, old: before))
      }
    }
    changes.add(different: different)
    return IndexedNode(wanted, index: spec.index)
  }

  /// Replaces the priority; the result of a query with a range or a limit has none.
  func updatePriority(_ old: IndexedNode, to priority: DatabaseNode) -> IndexedNode {
    filtersNodes ? old : old.withPriority(priority.leaf)
  }

  /// Replaces a child.
  ///
  /// - Parameter affected: The path below the child that may have changed.
  func updateChild(
    _ old: IndexedNode, _ key: DatabaseKey, to new: DatabaseNode, affected: DatabasePath,
    _ source: some CompleteChildSource, _ changes: inout ChildChanges
  ) -> IndexedNode {
    let new = spec.contains(key, new) ? new : .empty
    if let limit = spec.limit {
      if old.node[key] == new { return old }
      if old.node.childCount >= limit.count { return updateFullWindow(old, key, to: new, limit, source, &changes) }
    }
    return updateIndexed(old, key, to: new, affected: affected, &changes)
  }

  private func updateIndexed(
    _ old: IndexedNode, _ key: DatabaseKey, to new: DatabaseNode, affected: DatabasePath,
    _ changes: inout ChildChanges
  ) -> IndexedNode {
    let before = old.node[key]
    if before[affected] == new[affected], before.isEmpty == new.isEmpty { return old }
    if new.isEmpty {
      if !before.isEmpty { changes.removed(key, before) }
    } else if before.isEmpty {
      changes.added(key, new)
    } else {
      changes.changed(key, new, from: before)
    }
    if old.node.leaf != nil, new.isEmpty { return old }
    return old.setting(key, to: new)
  }

  /// The part of a node that the query wants.
  func window(of node: DatabaseNode) -> DatabaseNode {
    guard node.leaf == nil, !node.isEmpty else { return .empty }
    if spec.limit == nil {
      var wanted: [(DatabaseKey, DatabaseNode)] = []
      node.forEachChild { if spec.contains($0, $1) { wanted.append(($0, $1)) } }
      return DatabaseNode(children: wanted)
    }
    return DatabaseNode(children: limitedWindow(of: IndexedNode(node, index: spec.index)))
  }

  private func limitedWindow(of node: IndexedNode) -> [(DatabaseKey, DatabaseNode)] {
    guard let limit = spec.limit else { return [] }
    var wanted: [(DatabaseKey, DatabaseNode)] = []
    if limit.side == .first {
      node.visitChildren { key, child in
        let position = spec.index.position(of: key, child)
        guard spec.endIsAbove(position) else { return false }
        if spec.startIsBelow(position) { wanted.append((key, child)) }
        return wanted.count < limit.count
      }
    } else {
      var next = node.last
      while let (key, child) = next, wanted.count < limit.count {
        let position = spec.index.position(of: key, child)
        guard spec.startIsBelow(position) else { break }
        if spec.endIsAbove(position) { wanted.append((key, child)) }
        next = node.child(before: position)
      }
    }
    return wanted
  }

  /// Replaces a child where the window is full: one that leaves makes room for the next, one that enters pushes the
  /// last out.
  private func updateFullWindow(
    _ old: IndexedNode, _ key: DatabaseKey, to new: DatabaseNode, _ limit: DatabaseQuerySpec.Limit,
    _ source: some CompleteChildSource, _ changes: inout ChildChanges
  ) -> IndexedNode {
    guard let edge = limit.side == .first ? old.last : old.first else { return old }
    func isOrdered(_ left: DatabasePosition, _ right: DatabasePosition) -> Bool {
      limit.side == .first ? left < right : right < left
    }
    let position = spec.index.position(of: key, new)
    let edgePosition = spec.index.position(of: edge.key, edge.node)
    let before = old.node[key]
    if before.isEmpty {
      guard !new.isEmpty, !isOrdered(edgePosition, position) else { return old }
      changes.removed(edge.key, edge.node)
      changes.added(key, new)
      return old.setting(key, to: new).setting(edge.key, to: .empty)
    }
    if !new.isEmpty, !isOrdered(edgePosition, position) {
      // Children outside sort after the edge, and this child does not.
      changes.changed(key, new, from: before)
      return old.setting(key, to: new)
    }
    var next = source.child(next: edgePosition, index: spec.index, side: limit.side)
    // The data may be ahead of the window: a child of it, this one too, can be further on there.
    while let candidate = next, !old.node[candidate.key].isEmpty {
      let after = spec.index.position(of: candidate.key, candidate.node)
      next = source.child(next: after, index: spec.index, side: limit.side)
    }
    let nextPosition = next.map { spec.index.position(of: $0.key, $0.node) }
    if !new.isEmpty, nextPosition.map({ !isOrdered($0, position) }) ?? true {
      changes.changed(key, new, from: before)
      return old.setting(key, to: new)
    }
    changes.removed(key, before)
    let without = old.setting(key, to: .empty)
    guard let next, let nextPosition, spec.contains(nextPosition) else { return without }
    changes.added(next.key, next.node)
    return without.setting(next.key, to: next.node)
  }
}
