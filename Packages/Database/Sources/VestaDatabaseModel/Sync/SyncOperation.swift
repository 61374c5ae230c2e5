import VestaDatabaseBackend

/// Something that changes what views show.
struct SyncOperation: Sendable {
  enum Source: Sendable, Equatable {
    /// A write of this client.
    case user
    /// Data for the listeners at the path.
    case server
    /// Data for one query.
    case query(DatabaseQuerySpec)

    var isTagged: Bool { if case .query = self { true } else { false } }
  }

  enum Kind: Sendable {
    case overwrite(DatabaseNode)
    case merge(WriteTrie)
    case acknowledge(AffectedPaths, isRevert: Bool)
    case listenComplete
  }

  let source: Source
  let path: DatabasePath
  let kind: Kind

  /// Returns the operation for a child; `nil` when it does not concern it.
  func child(_ key: DatabaseKey) -> SyncOperation? {
    if !path.isRoot { return SyncOperation(source: source, path: path.withoutFront, kind: kind) }
    switch kind {
    case .overwrite(let node): return SyncOperation(source: source, path: .root, kind: .overwrite(node[key]))
    case .merge(let trie):
      let below = trie.child(DatabasePath([key]))
      if below.isEmpty { return nil }
      return SyncOperation(source: source, path: .root, kind: below.value.map { .overwrite($0) } ?? .merge(below))
    case .acknowledge(let affected, let isRevert):
      guard let below = affected.child(key) else { return nil }
      return SyncOperation(source: source, path: .root, kind: .acknowledge(below, isRevert: isRevert))
    case .listenComplete: return self
    }
  }
}
