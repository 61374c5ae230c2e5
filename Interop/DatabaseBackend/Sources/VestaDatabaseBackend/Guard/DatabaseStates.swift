/// The state of a tree that is in memory.
public struct DatabaseNodeState: DatabaseGuardState, Sendable {
  private let root: DatabaseNode

  /// The state of a tree.
  public init(_ root: DatabaseNode) { self.root = root }

  /// The node at a path, without its children.
  public nonisolated(nonsending) func glance(at path: DatabasePath) async throws -> DatabaseGlance {
    DatabaseGlance(root[path])
  }

  /// The keys of the children of a path, in the order of keys.
  public nonisolated(nonsending) func childKeys(
    of path: DatabasePath, after key: DatabaseKey?, limit: Int
  ) async throws -> [DatabaseKey] {
    root[path].childKeys(after: key, limit: limit)
  }
}

/// The state after a write, before it is carried out.
///
/// By the example of a write of nothing to `/rooms/hall`: a glance at `/rooms` finds the children before the write; if
/// `hall` is the only one, `/rooms` is empty afterwards. A node that keeps a child keeps its priority.
public struct DatabaseStateAfter: DatabaseGuardState {
  private let before: any DatabaseGuardState
  private let values: [DatabasePathValue]

  /// The number of keys that are read at a time, to find one that the write leaves.
  private static let keysAtATime = 16

  /// A state with values written to it.
  ///
  /// - Parameters:
  ///   - before: The state before the write.
  ///   - values: The paths; none is at or below another.
  public init(_ before: any DatabaseGuardState, _ values: [DatabasePathValue]) {
    self.before = before
    self.values = values
  }

  /// The written node at a path; `nil` where the path is not in what is written.
  private func written(at path: DatabasePath) -> DatabaseNode? {
    for value in values {
      if let rest = value.path.relative(path) { return value.node[rest] }
    }
    return nil
  }

  /// The node at a path, without its children.
  public nonisolated(nonsending) func glance(at path: DatabasePath) async throws -> DatabaseGlance {
    if let node = written(at: path) { return DatabaseGlance(node) }
    var below: [DatabasePathValue] = []
    var priority: DatabaseLeaf??
    for value in values {
      guard let rest = path.relative(value.path), let key = rest.front else { continue }
      if key.isPriority { priority = .some(value.node.leaf) } else { below.append(DatabasePathValue(rest, value.node)) }
    }
    let old = try await before.glance(at: path)
    if below.allSatisfy(\.node.isEmpty) {
      // A node removed below a leaf was not there.
      if case .leaf(let leaf, let own) = old { return .leaf(leaf, priority: priority ?? own) }
      guard case .parent(let own) = old else { return .empty }
      let isThere = below.isEmpty ? true : try await leavesChild(of: path)
      return isThere ? .parent(priority: priority ?? own) : .empty
    }
    // A child on a leaf replaces its value and keeps its priority.
    switch old {
    case .empty: return .parent(priority: priority ?? nil)
    case .leaf(_, let own), .parent(let own): return .parent(priority: priority ?? own)
    }
  }

  /// Whether a node with children has any after a write that only removes some of what is below it.
  private nonisolated(nonsending) func leavesChild(of path: DatabasePath) async throws -> Bool {
    var last: DatabaseKey?
    while true {
      let keys = try await before.childKeys(of: path, after: last, limit: DatabaseStateAfter.keysAtATime)
      for key in keys {
        if case .empty = try await glance(at: path.child(key)) { continue }
        return true
      }
      guard keys.count == DatabaseStateAfter.keysAtATime, let next = keys.last else { return false }
      last = next
    }
  }

  /// The keys of the children of a path, in the order of keys.
  public nonisolated(nonsending) func childKeys(
    of path: DatabasePath, after key: DatabaseKey?, limit: Int
  ) async throws -> [DatabaseKey] {
    if let node = written(at: path) { return node.childKeys(after: key, limit: limit) }
    let own = Set(values.compactMap { path.relative($0.path)?.front }).filter { !$0.isPriority }
    var found: [DatabaseKey] = []
    var last = key
    // Keys that the write adds, and as many of the others as fit.
    var added = own.filter { candidate in key.map { $0 < candidate } ?? true }.sorted()[...]
    while found.count < limit {
      let batch = try await before.childKeys(of: path, after: last, limit: limit)
      let isEnd = batch.count < limit
      let merged = Array(Set(batch).union(isEnd ? added : added.prefix { $0 <= (batch.last ?? $0) })).sorted()
      added = added.drop { merged.contains($0) }
      for key in merged where found.count < limit {
        if own.contains(key), case .empty = try await glance(at: path.child(key)) { continue }
        found.append(key)
      }
      if isEnd { break }
      last = batch.last
    }
    return found
  }
}

extension DatabaseNode {
  /// The keys of the children after a key.
  fileprivate func childKeys(after key: DatabaseKey?, limit: Int) -> [DatabaseKey] {
    var keys: [DatabaseKey] = []
    guard limit > 0 else { return keys }
    visitChildren { child, _ in
      if let key, !(key < child) { return true }
      keys.append(child)
      return keys.count < limit
    }
    return keys
  }
}
