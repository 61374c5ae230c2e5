import VestaDatabaseBackend

/// A change of one child.
struct ChildChange: Sendable {
  enum Kind: Sendable { case added, removed, changed }

  var kind: Kind
  let key: DatabaseKey
  var node: DatabaseNode
  /// The node before, of a child that changed.
  var old: DatabaseNode
}

/// Gathers the changes of one operation, of which there is one for each child at most.
struct ChildChanges: Sendable {
  /// The changes as long as they are of different children, which is all there is in most operations.
  private var different: [ChildChange] = []
  /// All changes, once a child may have changed twice.
  private var byKey: [DatabaseKey: ChildChange]?

  var isEmpty: Bool { byKey?.isEmpty ?? different.isEmpty }
  var all: [ChildChange] { byKey.map { Array($0.values) } ?? different }

  /// Adds changes that are of different children among themselves.
  mutating func add(different changes: [ChildChange]) {
    if byKey == nil, different.isEmpty {
      different = changes
    } else {
      for change in changes { add(change) }
    }
  }

  mutating func added(_ key: DatabaseKey, _ node: DatabaseNode) {
    add(ChildChange(kind: .added, key: key, node: node, old: .empty))
  }

  mutating func removed(_ key: DatabaseKey, _ node: DatabaseNode) {
    add(ChildChange(kind: .removed, key: key, node: node, old: node))
  }

  mutating func changed(_ key: DatabaseKey, _ node: DatabaseNode, from old: DatabaseNode) {
    add(ChildChange(kind: .changed, key: key, node: node, old: old))
  }

  private mutating func add(_ new: ChildChange) {
    if byKey == nil, different.isEmpty { return different = [new] }
    var changes = byKey ?? Dictionary(different.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
    (byKey, different) = (nil, [])
    Self.add(new, to: &changes)
    byKey = changes
  }

  private static func add(_ new: ChildChange, to changes: inout [DatabaseKey: ChildChange]) {
    guard var before = changes[new.key] else {
      changes[new.key] = new
      return
    }
    switch (before.kind, new.kind) {
    case (.removed, .added):
      before.kind = .changed
      before.old = before.node
      before.node = new.node
      changes[new.key] = before
    case (.added, .removed): changes[new.key] = nil
    case (.changed, .removed):
      before.kind = .removed
      before.node = before.old
      changes[new.key] = before
    default:
      before.node = new.node
      changes[new.key] = before
    }
  }
}
