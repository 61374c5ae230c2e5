import VestaBytes
import VestaDatabaseBackend

/// The queries of one path.
///
/// A commit is compared with those queries only that it can change. By the example of ten thousand queries of `/rooms`
/// by `size`: a room whose size becomes 40 concerns the queries that had it and those in whose range 40 is.
///
/// Queries that are settled are in groups, one for each order; all of them have what the commits up to now have
/// left. A query whose store read may be ahead of the commits that the hub has sent is settled with the next commit
/// that it has not seen.
struct QueryPlace: Sendable {
  let path: DatabasePath
  /// The queries that are not settled.
  var unsettled: Set<Int> = []
  /// The settled ones, by their order.
  private(set) var groups: [DatabaseIndex: WindowGroup] = [:]

  init(_ path: DatabasePath) { self.path = path }

  var isEmpty: Bool { unsettled.isEmpty && groups.isEmpty }

  /// The settled queries.
  var settled: [Int] { groups.values.flatMap(\.ids) }

  /// Returns those ids that are queries of this path; the cost follows the smaller of both sets.
  func queries(among ids: Set<Int>) -> [Int] {
    let count = groups.values.reduce(unsettled.count) { $0 + $1.ids.count }
    if ids.count > count { return unsettled.filter(ids.contains) + settled.filter(ids.contains) }
    return ids.filter { id in unsettled.contains(id) || groups.values.contains { $0.contains(id) } }
  }

  mutating func settle(_ id: Int, _ window: QueryWindow) {
    unsettled.remove(id)
    groups[window.spec.index, default: WindowGroup(window.spec.index)].insert(id, window)
  }

  /// Takes a settled query out of its group.
  mutating func unsettle(_ id: Int, _ window: QueryWindow) {
    let index = window.spec.index
    guard groups[index]?.remove(id, window) == true else { return }
    if groups[index]?.isEmpty == true { groups[index] = nil }
  }

  /// Notes the new window of a settled query.
  mutating func update(_ id: Int, from old: QueryWindow, to new: QueryWindow, _ keys: some Sequence<DatabaseKey>) {
    groups[new.spec.index]?.update(id, from: old, to: new, keys)
  }

  /// Notes the new nodes of children, after the windows.
  mutating func update(_ children: [DatabaseKey: DatabaseNode]) {
    for index in Array(groups.keys) {
      for (key, node) in children { groups[index]?.note(key, node) }
    }
  }

  /// A child as it was before the commit; `nil` when no query has it.
  func node(_ key: DatabaseKey) -> DatabaseNode? {
    for group in groups.values { if let node = group.node(key) { return node } }
    return nil
  }

  /// The settled queries that a changed child may concern.
  func concerned(by key: DatabaseKey, _ node: DatabaseNode) -> Set<Int> {
    groups.values.reduce(into: []) { $0.formUnion($1.concerned(by: key, node)) }
  }
}

/// The settled queries of one path and one order, found by the position of a child.
///
/// A window has all children between its ends, so the old and the new position of a child say which windows it can
/// change.
struct WindowGroup: Sendable {
  private struct Member {
    var node: DatabaseNode
    /// How many windows have the child.
    var count: Int
  }

  private let index: DatabaseIndex
  private var members: [DatabaseKey: Member] = [:]
  private var intervals: [Int: ClosedInterval<DatabasePosition>] = [:]
  private var tree = IntervalTree<DatabasePosition, Int>()

  init(_ index: DatabaseIndex) { self.index = index }

  var isEmpty: Bool { intervals.isEmpty }
  var ids: some Collection<Int> { intervals.keys }

  func contains(_ id: Int) -> Bool { intervals[id] != nil }

  func node(_ key: DatabaseKey) -> DatabaseNode? { members[key]?.node }

  mutating func insert(_ id: Int, _ window: QueryWindow) {
    window.node.forEachChild { add($0, $1) }
    intervals[id] = window.interval
    tree.insert(id, window.interval)
  }

  /// - Returns: Whether the window was there.
  mutating func remove(_ id: Int, _ window: QueryWindow) -> Bool {
    guard let interval = intervals.removeValue(forKey: id) else { return false }
    tree.remove(id, interval)
    window.node.forEachChild { key, _ in drop(key) }
    return true
  }

  mutating func update(_ id: Int, from old: QueryWindow, to new: QueryWindow, _ keys: some Sequence<DatabaseKey>) {
    guard let interval = intervals[id] else { return }
    for key in keys {
      switch (old.node[key].isEmpty, new.node[key].isEmpty) {
      case (true, false): add(key, new.node[key])
      case (false, true): drop(key)
      default: break
      }
    }
    guard new.spec.limit != nil else { return }
    tree.remove(id, interval)
    intervals[id] = new.interval
    tree.insert(id, new.interval)
  }

  mutating func note(_ key: DatabaseKey, _ node: DatabaseNode) { members[key]?.node = node }

  /// The windows that have a child or may take it.
  func concerned(by key: DatabaseKey, _ node: DatabaseNode) -> Set<Int> {
    var ids: Set<Int> = []
    if let old = members[key] { tree.visit(index.position(of: key, old.node)) { ids.insert($0) } }
    return node.isEmpty ? ids : ids.union(windows(at: key, node))
  }

  /// The windows that contain the position of a child.
  func windows(at key: DatabaseKey, _ node: DatabaseNode) -> Set<Int> {
    var ids: Set<Int> = []
    tree.visit(index.position(of: key, node)) { ids.insert($0) }
    return ids
  }

  private mutating func add(_ key: DatabaseKey, _ node: DatabaseNode) {
    members[key, default: Member(node: node, count: 0)].count += 1
  }

  private mutating func drop(_ key: DatabaseKey) {
    members[key]?.count -= 1
    if members[key]?.count == 0 { members[key] = nil }
  }
}
