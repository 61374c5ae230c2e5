public import VestaDatabaseBackend

/// The writes of this client that the service has not acknowledged yet, in order, and what they make of the server's
/// data.
public struct WriteTree: Sendable {
  /// One write.
  public struct Record: Sendable {
    /// The data of a write.
    public enum Change: Sendable {
      /// A node in the place of the one that was there.
      case overwrite(DatabaseNode)
      /// Nodes at several paths below the path.
      case merge(WriteTrie)
    }

    /// The number of the write; later writes have larger ones.
    public let id: Int
    /// The path.
    public let path: DatabasePath
    /// The data.
    public let change: Change
    /// Whether listeners see it.
    public let isVisible: Bool
    /// Whether the device keeps what it has written as data of the service.
    var isKept = false

    /// Whether the write covers a path.
    func covers(_ other: DatabasePath) -> Bool {
      switch change {
      case .overwrite: path.contains(other)
      case .merge(let trie):
        path.relative(other).map { trie.completeNode(at: $0) != nil } ?? false
      }
    }

    /// The paths below its own that the write changes.
    var affected: AffectedPaths {
      switch change {
      case .overwrite: AffectedPaths.all
      case .merge(let trie): AffectedPaths(trie.values.map(\.path))
      }
    }
  }

  /// The writes that have not been acknowledged, oldest first.
  public private(set) var records: [Record] = []
  private(set) var visible = WriteTrie.empty

  /// No writes.
  public init() {}

  /// Adds a write; its number is larger than those before.
  public mutating func add(_ change: Record.Change, at path: DatabasePath, id: Int, isVisible: Bool) {
    let record = Record(id: id, path: path, change: change, isVisible: isVisible)
    records.append(record)
    if isVisible { Self.layer(record, on: &visible, below: .root) }
  }

  /// The write with a number.
  public func record(_ id: Int) -> Record? { records.first { $0.id == id } }

  /// Notes that the device keeps what a write has written.
  mutating func keep(_ id: Int) {
    if let index = records.firstIndex(where: { $0.id == id }) { records[index].isKept = true }
  }

  /// Removes a write.
  ///
  /// - Returns: Whether anything that listeners see can have changed.
  mutating func remove(_ id: Int) -> Bool {
    guard let index = records.firstIndex(where: { $0.id == id }) else { return false }
    let removed = records.remove(at: index)
    guard removed.isVisible else { return false }
    let isShadowed = records[index...].contains { $0.isVisible && $0.covers(removed.path) }
    func overlaps(_ other: Record) -> Bool {
      other.isVisible && (other.path.contains(removed.path) || removed.path.contains(other.path))
    }
    let hasEarlier = records[..<index].contains(where: overlaps)
    // Nodes below a later write are as that write has left them, unless an earlier one appears below it.
    if isShadowed, !hasEarlier { return false }
    if hasEarlier || records[index...].contains(where: overlaps) {
      visible = Self.layered(records.filter(\.isVisible), below: .root)
    } else {
      switch removed.change {
      case .overwrite: visible.remove(removed.path)
      case .merge(let trie): trie.forEach(at: removed.path) { path, _ in visible.remove(path) }
      }
    }
    return !isShadowed
  }

  /// The result of the given writes at a path.
  private static func layered(_ records: [Record], below base: DatabasePath) -> WriteTrie {
    records.reduce(into: .empty) { layer($1, on: &$0, below: base) }
  }

  private static func layer(_ record: Record, on trie: inout WriteTrie, below base: DatabasePath) {
    switch record.change {
    case .overwrite(let node):
      if let relative = base.relative(record.path) {
        trie.add(node, at: relative)
      } else if let inner = record.path.relative(base) {
        trie.add(node[inner], at: .root)
      }
    case .merge(let values):
      if let relative = base.relative(record.path) {
        trie.add(values, at: relative)
      } else if let inner = record.path.relative(base) {
        trie.add(values.child(inner), at: .root)
      }
    }
  }

  /// Returns a node with the writes on top of the server's data; `nil` when that is not known.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - server: The server's data there; `nil` when that is not known.
  ///   - excluded: Writes that do not count.
  ///   - includesHidden: Whether invisible writes count.
  public func completeNode(
    at path: DatabasePath, server: DatabaseNode?, excluding excluded: Set<Int> = [], includesHidden: Bool = false
  ) -> DatabaseNode? {
    if excluded.isEmpty, !includesHidden {
      let writes = visible.child(path)
      if writes.isEmpty { return server }
      guard server != nil || writes.value != nil else { return nil }
      return writes.applied(to: server ?? .empty)
    }
    let counted = records.filter {
      ($0.isVisible || includesHidden) && !excluded.contains($0.id)
        && ($0.path.contains(path) || path.contains($0.path))
    }
    let writes = Self.layered(counted, below: path)
    guard server != nil || writes.value != nil || includesHidden else { return nil }
    return writes.applied(to: server ?? .empty)
  }

  /// The writes as they apply to one path.
  func at(_ path: DatabasePath) -> WritesBelow { WritesBelow(trie: visible.child(path)) }
}

/// The visible writes at and below one path.
struct WritesBelow: Sendable {
  let trie: WriteTrie

  func child(_ key: DatabaseKey) -> WritesBelow { WritesBelow(trie: trie.child(DatabasePath([key]))) }

  /// The node that a write puts at a path, whatever the server has there.
  func shadow(at path: DatabasePath) -> DatabaseNode? { trie.completeNode(at: path) }

  func completeNode(server: DatabaseNode?) -> DatabaseNode? {
    if trie.isEmpty { return server }
    guard server != nil || trie.value != nil else { return nil }
    return trie.applied(to: server ?? .empty)
  }

  /// The completely known children, given the server's.
  func completeChildren(server: DatabaseNode) -> DatabaseNode {
    if let value = trie.value { return value.leaf == nil ? value.withPriority(nil) : .empty }
    var children: [(DatabaseKey, DatabaseNode)] = []
    server.forEachChild { children.append(($0, trie.isEmpty ? $1 : trie.child(DatabasePath([$0])).applied(to: $1))) }
    var node = DatabaseNode(children: children)
    for (key, child) in trie.completeChildren where !key.isPriority { node = node.setting(key, to: child) }
    return node
  }

  /// The server's data at a path with the writes on top; `nil` when a write covers all of it.
  func nodeAfterServerOverwrite(at path: DatabasePath, server: DatabaseNode) -> DatabaseNode? {
    if trie.completeNode(at: path) != nil { return nil }
    return trie.child(path).applied(to: server[path])
  }

  /// A child with the writes on top; `nil` when it is not known.
  func completeChild(_ key: DatabaseKey, server: CacheNode) -> DatabaseNode? {
    let path = DatabasePath([key])
    if let shadow = trie.completeNode(at: path) { return shadow }
    guard server.isComplete(for: key) else { return nil }
    return trie.child(path).applied(to: server.node[key])
  }
}

/// The paths that an acknowledged or reverted write had changed.
public struct AffectedPaths: Sendable {
  /// Whether this path, with all that is below it, was changed.
  let isAll: Bool
  private(set) var children: [DatabaseKey: AffectedPaths] = [:]

  static let all = AffectedPaths(isAll: true)

  private init(isAll: Bool) { self.isAll = isAll }

  init(_ paths: [DatabasePath]) {
    self.init(isAll: paths.contains { $0.isRoot })
    for (front, below) in Dictionary(grouping: paths.filter { !$0.isRoot }, by: { $0.front ?? .minimum }) {
      children[front] = AffectedPaths(below.map(\.withoutFront))
    }
  }

  func child(_ key: DatabaseKey) -> AffectedPaths? { isAll ? self : children[key] }

  var paths: [DatabasePath] {
    if isAll { return [.root] }
    return children.sorted { $0.key < $1.key }.flatMap { key, below in
      below.paths.map { DatabasePath([key]).appending($0) }
    }
  }
}
