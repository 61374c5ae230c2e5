/// A request of a client to the service.
public enum DatabaseRequest: Sendable, Hashable {
  /// Signs the connection in.
  ///
  /// Later requests wait until the credential has been verified.
  case authenticate(DatabaseCredential)
  /// Signs the connection out.
  case unauthenticate
  /// Proves that the app is genuine.
  case appCheck(token: String)
  /// Takes the proof back.
  case unappCheck
  /// Starts to listen: sends data and changes of it, first what differs from the hash, then the reply.
  case listen(DatabaseListen)
  /// Stops to listen.
  case unlisten(DatabasePath, DatabaseQuerySpec, tag: Int?)
  /// Reads once.
  case get(DatabasePath, DatabaseQuerySpec)
  /// Replaces a node; with a hash only if that is the hash of the node that is there.
  case put(DatabasePath, DatabaseNode, hash: String?)
  /// Replaces several nodes below a path, all or none; with a hash only if that is the hash of the node at the path.
  case merge(DatabasePath, [DatabasePathValue], hash: String? = nil)
  /// Replaces a node when the connection ends.
  case onDisconnectPut(DatabasePath, DatabaseNode)
  /// Replaces several nodes when the connection ends.
  case onDisconnectMerge(DatabasePath, [DatabasePathValue])
  /// Forgets what was to be done at a path and below it when the connection ends.
  case onDisconnectCancel(DatabasePath)
  /// Counts of what the client is and does.
  case stats([String: Int])

  /// Signs the connection in with the ID token of a user.
  public static func authenticate(token: String) -> DatabaseRequest { .authenticate(DatabaseCredential(token: token)) }
}

/// A query to listen to.
public struct DatabaseListen: Sendable, Hashable {
  /// The path.
  public var path: DatabasePath
  /// Which children.
  public var spec: DatabaseQuerySpec
  /// The number that the query's data carries; `nil` for a listen to everything.
  public var tag: Int?
  /// The hash of the data that the client has; empty for none.
  public var hash: String
  /// The hashes of parts of that data, so that only parts that differ are sent; `nil` for small data.
  public var compound: DatabaseCompoundHash?

  /// A listen.
  public init(
    path: DatabasePath, spec: DatabaseQuerySpec = .all, tag: Int? = nil, hash: String = "",
    compound: DatabaseCompoundHash? = nil
  ) {
    self.path = path
    self.spec = spec
    self.tag = tag
    self.hash = hash
    self.compound = compound
  }
}

/// The hashes of consecutive ranges of the leaves of a node.
///
/// Leaves are in depth-first order: children in the order of their keys, the priority of a node before its children.
public struct DatabaseCompoundHash: Sendable, Hashable {
  /// The last leaf of each range but the last range, below the path of the listen.
  public var posts: [DatabasePath]
  /// The hash of each range, one more than posts; empty for a range without leaves.
  public var hashes: [String]

  /// Hashes of ranges.
  public init(posts: [DatabasePath], hashes: [String]) {
    self.posts = posts
    self.hashes = hashes
  }
}

/// A node for a path.
public struct DatabasePathValue: Sendable, Hashable {
  /// Where, relative to what the value belongs to.
  public var path: DatabasePath
  /// The node; empty to remove.
  public var node: DatabaseNode

  /// A value.
  public init(_ path: DatabasePath, _ node: DatabaseNode) {
    self.path = path
    self.node = node
  }
}
