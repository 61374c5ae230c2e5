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
  private var changes: [DatabaseKey: ChildChange] = [:]

  var isEmpty: Bool { changes.isEmpty }
  var all: [ChildChange] { Array(changes.values) }

  mutating func added(_ key: DatabaseKey, _ node: DatabaseNode) {
    track(ChildChange(kind: .added, key: key, node: node, old: .empty))
  }

  mutating func removed(_ key: DatabaseKey, _ node: DatabaseNode) {
    track(ChildChange(kind: .removed, key: key, node: node, old: node))
  }

  mutating func changed(_ key: DatabaseKey, _ node: DatabaseNode, from old: DatabaseNode) {
    track(ChildChange(kind: .changed, key: key, node: node, old: old))
  }

  private mutating func track(_ new: ChildChange) {
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
