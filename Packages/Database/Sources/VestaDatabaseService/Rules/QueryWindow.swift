import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseModel

/// The result of a query as its listeners have it, and what commits make of it.
///
/// By the example of the last two by `size`, `{b: 5, c: 7}`: a new child `d: 6` enters and pushes `b` out; a change
/// of `c` that leaves it above `b` changes `c` alone; when `c` falls below `b`, a child that is not in the window may
/// belong there, and only the store can say which.
struct QueryWindow: Sendable {
  let spec: DatabaseQuerySpec
  private(set) var indexed: IndexedNode

  var node: DatabaseNode { indexed.node }

  /// A window as it was read.
  init(_ node: DatabaseNode, _ spec: DatabaseQuerySpec) {
    self.spec = spec
    indexed = IndexedNode(node, index: spec.index)
  }

  // MARK: Changes by a commit

  /// The interval of positions that its children can have, both ends included.
  ///
  /// A full window ends with its last child: later children are outside, and enter only if a child leaves.
  var interval: ClosedInterval<DatabasePosition> {
    var (lower, upper) = (spec.startPosition, spec.endPosition)
    if let limit = spec.limit, node.childCount >= limit.count {
      if limit.side == .first, let edge = indexed.last { upper = spec.index.position(of: edge.key, edge.node) }
      if limit.side == .last, let edge = indexed.first { lower = spec.index.position(of: edge.key, edge.node) }
    }
    return ClosedInterval(lower: lower, upper: upper)
  }

  /// Whether a child that is not in the window may belong there, going by what it is ordered by.
  ///
  /// - Parameter sample: A node with the same position in the order as the child.
  func mayTake(_ key: DatabaseKey, _ sample: DatabaseNode) -> Bool {
    guard spec.contains(key, sample) else { return false }
    guard let limit = spec.limit, node.childCount >= limit.count,
      let edge = limit.side == .first ? indexed.last : indexed.first
    else { return true }
    let (inner, outer) = (spec.index.position(of: key, sample), spec.index.position(of: edge.key, edge.node))
    return limit.side == .first ? inner < outer : outer < inner
  }

  /// Changes children to what they are now.
  ///
  /// - Returns: The changes, in order; `nil` when the query has to be read again, and nothing has been changed.
  mutating func update(_ children: [DatabaseKey: DatabaseNode]) -> [DatabasePathValue]? {
    var next = indexed
    for (key, child) in children {
      let wanted = spec.contains(key, child) ? child : .empty
      if next.node[key] != wanted { next = next.setting(key, to: wanted) }
    }
    var left: [DatabaseKey] = []
    if let limit = spec.limit {
      let isFull = node.childCount >= limit.count
      while next.node.childCount > limit.count, let out = limit.side == .first ? next.last : next.first {
        left.append(out.key)
        next = next.setting(out.key, to: .empty)
      }
      if isFull, !isCertain(next, limit) { return nil }
    }
    let before = node
    indexed = next
    return Set(children.keys).union(left).sorted().compactMap { key in
      before[key] == next.node[key] ? nil : DatabasePathValue(DatabasePath([key]), next.node[key])
    }
  }

  /// Whether no child outside of the window can belong into what a full one has become.
  ///
  /// The window was full, so children outside of it sort after its edge, and a child within that edge sorts before
  /// them.
  private func isCertain(_ next: IndexedNode, _ limit: DatabaseQuerySpec.Limit) -> Bool {
    guard next.node.childCount >= limit.count,
      let old = limit.side == .first ? indexed.last : indexed.first,
      let new = limit.side == .first ? next.last : next.first
    else { return false }
    let (before, after) = (spec.index.position(of: old.key, old.node), spec.index.position(of: new.key, new.node))
    return limit.side == .first ? !(before < after) : !(after < before)
  }

  /// Replaces the window with the one that was read.
  ///
  /// - Returns: The changes; the root alone where the listeners are better sent all of it.
  mutating func replace(_ new: DatabaseNode) -> [DatabasePathValue] {
    let before = node
    indexed = IndexedNode(new, index: spec.index)
    if before == new { return [] }
    if before.childCount == 0 || new.childCount == 0 { return [DatabasePathValue(.root, new)] }
    var changes: [DatabasePathValue] = []
    before.forEachChild { key, _ in
      if new[key].isEmpty { changes.append(DatabasePathValue(DatabasePath([key]), .empty)) }
    }
    new.forEachChild { key, child in
      if before[key] != child { changes.append(DatabasePathValue(DatabasePath([key]), child)) }
    }
    return changes
  }
}
