public import VestaBytes

/// A message of the service to a client.
public enum DatabaseServerMessage: Sendable, Hashable {
  /// The connection is open.
  case hello(DatabaseHello)
  /// The reply to a request.
  case reply(Int, DatabaseReply)
  /// A node has been replaced; the tag is that of the query, `nil` for listens to everything.
  case data(DatabasePath, DatabaseNode, tag: Int?)
  /// Several nodes below a path have been replaced.
  case merge(DatabasePath, [DatabasePathValue], tag: Int?)
  /// Ranges of the leaves of a node have been replaced: the first message of a listen with hashes of ranges.
  case rangeMerge(DatabasePath, [DatabaseRangeMerge], tag: Int?)
  /// A listen has been ended, because the client may no longer read.
  case listenRevoked(DatabasePath, DatabaseQuerySpec)
  /// The connection is no longer signed in, because the token has expired.
  ///
  /// It precedes the listens that end with that.
  case authRevoked(status: String, reason: String)
  /// The proof of App Check is no longer accepted.
  case appCheckRevoked(status: String, reason: String)
  /// A text for the log.
  case debug(String)
  /// The service does not want this client to reconnect; the connection closes.
  case shutdown(reason: String)
  /// The database cannot be served without the operator's help; the connection closes.
  case failed(reason: String)
  /// The connection is closed.
  case closed(reason: String)
}

/// The first message of an open connection.
public struct DatabaseHello: Sendable, Hashable {
  /// The time of the service, in milliseconds.
  public var timestamp: Int64
  /// The session that begins.
  public var session: String

  /// A first message.
  public init(timestamp: Int64, session: String) {
    self.timestamp = timestamp
    self.session = session
  }
}

/// The leaves of a node in a range of paths.
public struct DatabaseRangeMerge: Sendable, Hashable {
  /// The last leaf before the range; `nil` from the first leaf on.
  public var start: DatabasePath?
  /// The last leaf of the range; `nil` up to the last one.
  public var end: DatabasePath?
  /// The leaves of the range, in their places.
  public var node: DatabaseNode

  /// A range and its leaves.
  public init(after start: DatabasePath?, through end: DatabasePath?, _ node: DatabaseNode) {
    self.start = start
    self.end = end
    self.node = node
  }
}

/// The reply to a request.
public struct DatabaseReply: Sendable, Hashable {
  /// The outcome of the request.
  public var status: DatabaseStatus
  /// An explanation, where the status is not ``DatabaseStatus/ok``.
  public var message: String
  /// The data that was read; of a write see ``DatabaseConnectRequest/wantsNodes``.
  public var node: DatabaseNode
  /// Warnings, such as `no_index`.
  public var warnings: [String]
  /// The variable `auth` of the rules after a sign-in; `nil` for an owner, and for a caller who is not signed in.
  public var auth: JSONObject?
  /// The time at which the token of a sign-in expires, in seconds since 1970; `nil` where it does not.
  public var expires: Int64?

  /// A reply.
  public init(
    _ status: DatabaseStatus, message: String = "", node: DatabaseNode = .empty, warnings: [String] = []
  ) {
    self.status = status
    self.message = message
    self.node = node
    self.warnings = warnings
  }

  /// The reply of success, without data and message.
  public static let ok = DatabaseReply(.ok)
}

/// The outcome of a request, as the wire names it; open, because the service can bring new ones.
public struct DatabaseStatus: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// The name on the wire.
  public let rawValue: String

  /// A status by its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Done.
  public static let ok = DatabaseStatus(rawValue: "ok")
  /// The rules do not allow it.
  public static let permissionDenied = DatabaseStatus(rawValue: "permission_denied")
  /// The hash is not that of the data: read again and try again.
  public static let dataStale = DatabaseStatus(rawValue: "datastale")
  /// The service cannot be reached, or its store does not work.
  public static let unavailable = DatabaseStatus(rawValue: "unavailable")
  /// The request breaks a rule of the tree: a wrong key, a path that is too deep, paths that overlap.
  public static let invalid = DatabaseStatus(rawValue: "invalid")
  /// The write or the data is too large.
  public static let tooBig = DatabaseStatus(rawValue: "too_big")
  /// The token is not accepted.
  public static let invalidToken = DatabaseStatus(rawValue: "invalid_token")
  /// The token is too old.
  public static let expiredToken = DatabaseStatus(rawValue: "expired_token")

  /// The name on the wire.
  public var description: String { rawValue }
}
