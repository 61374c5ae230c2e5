public import VestaConcurrency
public import VestaServiceInterop

/// Decides which requests of a `DatabaseBackend` its callers may make; only the engine asks it.
///
/// | request | asked |
/// |---|---|
/// | `get` | ``mayRead(_:state:context:)``, in the snapshot that is read |
/// | `listen` | ``mayRead(_:state:context:)``, in the snapshot of its first data |
/// | `put`, `merge` | ``mayWrite(_:before:after:context:)``, in the transaction that writes |
/// | `onDisconnectPut`, `onDisconnectMerge` | ``mayWrite(_:before:after:context:)``, in the transaction that keeps the operation, with the state that it would find now; not again at the end of the connection |
///
/// - A merge is one question about all its paths. Values of the server are filled in.
/// - It is asked before the hash of a write is looked at, so that a caller who is denied learns nothing of the data.
///   The reply is `permission_denied`, and nothing has changed.
/// - Each listen of a connection is asked about again when the connection is signed in or out, before the reply, and
///   each listen of the engine when the rules change (``observe(_:)``); one that is denied then ends with
///   `listenRevoked`.
/// - A caller for whom `CallContext.isOwner` holds is not asked about.
///
/// An engine without a guard checks no rules.
public protocol DatabaseGuard: Sendable {
  /// Whether the caller may read a query at a path.
  ///
  /// It is called while a snapshot of the engine is open: it must not call the engine.
  ///
  /// - Throws: Any error where it cannot decide; the reply is `unavailable` then.
  nonisolated(nonsending) func mayRead(
    _ read: DatabaseGuardedRead, state: any DatabaseGuardState, context: CallContext
  ) async throws -> Bool

  /// Whether the caller may write values.
  ///
  /// It is called while a transaction of the engine is open, perhaps more than once for a write whose transaction
  /// has to be repeated: it must not call the engine, and changes nothing.
  ///
  /// - Throws: Any error where it cannot decide; the reply is `unavailable` then, and nothing has changed.
  nonisolated(nonsending) func mayWrite(
    _ write: DatabaseGuardedWrite, before: any DatabaseGuardState, after: any DatabaseGuardState, context: CallContext
  ) async throws -> Bool

  /// Calls back after each change of the rules, on any thread, until the registration is cancelled.
  func observe(_ changed: @escaping @Sendable () -> Void) -> ListenerRegistration
}

/// A read that a guard decides about.
public struct DatabaseGuardedRead: Sendable, Hashable {
  /// The database; "" where there is only one.
  public var namespace: String
  /// The path.
  public var path: DatabasePath
  /// The query.
  public var spec: DatabaseQuerySpec
  /// The time of the request, in milliseconds since 1970.
  public var time: Int64

  /// A read.
  public init(_ path: DatabasePath, _ spec: DatabaseQuerySpec, at time: Int64, in namespace: String = "") {
    self.namespace = namespace
    self.path = path
    self.spec = spec
    self.time = time
  }
}

/// A write that a guard decides about.
public struct DatabaseGuardedWrite: Sendable, Hashable {
  /// The database; "" where there is only one.
  public var namespace: String
  /// The paths from the root, none of which is at or below another, with values of the server filled in.
  public var values: [DatabasePathValue]
  /// The time of the request, in milliseconds since 1970.
  public var time: Int64

  /// A write.
  public init(_ values: [DatabasePathValue], at time: Int64, in namespace: String = "") {
    self.namespace = namespace
    self.values = values
    self.time = time
  }
}

/// A node without its children.
public enum DatabaseGlance: Sendable, Hashable {
  /// There is nothing.
  case empty
  /// A leaf.
  case leaf(DatabaseLeaf, priority: DatabaseLeaf?)
  /// A node with children.
  case parent(priority: DatabaseLeaf?)

  /// The glance at a node.
  public init(_ node: DatabaseNode) {
    if let leaf = node.leaf {
      self = .leaf(leaf, priority: node.priority)
    } else {
      self = node.isEmpty ? .empty : .parent(priority: node.priority)
    }
  }
}

/// A state of the tree that a guard looks at, one path at a time.
///
/// It is valid during the question only.
public protocol DatabaseGuardState {
  /// The node at a path, without its children; costs as much however many there are.
  nonisolated(nonsending) func glance(at path: DatabasePath) async throws -> DatabaseGlance

  /// The keys of the children of a path, in the order of keys.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - key: The key after which they begin; `nil` for the first one.
  ///   - limit: The largest number of keys.
  nonisolated(nonsending) func childKeys(
    of path: DatabasePath, after key: DatabaseKey?, limit: Int
  ) async throws -> [DatabaseKey]
}
