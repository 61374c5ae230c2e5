/// A request to read once.
public struct DatabaseReadRequest: Sendable, Hashable {
  /// The parts of a node that are read.
  public enum Depth: Sendable, Hashable {
    /// The whole node.
    case all
    /// The keys of the children, each with the value `true`; a leaf as it is.
    ///
    /// It costs as much for large children as for small ones.
    case keys
  }

  /// The database.
  public var namespace: String
  /// The path.
  public var path: DatabasePath
  /// The children that are read; with ``Depth/keys`` in the order of keys alone.
  public var spec: DatabaseQuerySpec
  /// The parts that are read.
  public var depth: Depth
  /// Whether a query without an index is refused instead of read with a warning.
  public var requiresIndex: Bool

  /// A request.
  public init(
    namespace: String, path: DatabasePath, spec: DatabaseQuerySpec = .all, depth: Depth = .all,
    requiresIndex: Bool = false
  ) {
    self.namespace = namespace
    self.path = path
    self.spec = spec
    self.depth = depth
    self.requiresIndex = requiresIndex
  }
}

/// The data of a read.
public struct DatabaseReadResult: Sendable, Hashable {
  /// The node.
  public var node: DatabaseNode
  /// Warnings, such as `no_index`.
  public var warnings: [String]

  /// A result.
  public init(_ node: DatabaseNode, warnings: [String] = []) {
    self.node = node
    self.warnings = warnings
  }
}

/// A request to write once.
public struct DatabaseWriteRequest: Sendable, Hashable {
  /// The change at a path.
  public enum Change: Sendable, Hashable {
    /// Replaces the node; an empty one removes it.
    case put(DatabaseNode)
    /// Replaces several nodes below the path, all or none.
    case merge([DatabasePathValue])
  }

  /// The database.
  public var namespace: String
  /// The path.
  public var path: DatabasePath
  /// The change.
  public var change: Change
  /// The hash that the node at the path must have, empty for no node; `nil` for a write that asks nothing.
  public var hash: String?

  /// A request.
  public init(namespace: String, path: DatabasePath, _ change: Change, hash: String? = nil) {
    self.namespace = namespace
    self.path = path
    self.change = change
    self.hash = hash
  }

  /// The request that a connection sends for it.
  public var request: DatabaseRequest {
    switch change {
    case .put(let node): .put(path, node, hash: hash)
    case .merge(let values): .merge(path, values, hash: hash)
    }
  }
}
