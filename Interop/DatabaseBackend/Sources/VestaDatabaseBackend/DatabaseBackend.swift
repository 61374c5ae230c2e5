public import VestaServiceInterop

/// The service behind the Realtime Database, as its clients see it: connections to databases.
///
/// The embedded engine implements it in process; a remote client implements it over a WebSocket. The promises of
/// a connection, both ways, are the ones of Firebase's service on the wire:
/// - Messages arrive at `receive` one after another, in order, and never from within a call of this protocol.
/// - The first message is ``DatabaseServerMessage/hello(_:)`` or ``DatabaseServerMessage/closed(reason:)``; the last
///   one is ``DatabaseServerMessage/closed(reason:)``, after which nothing follows. Before a first message that is the
///   last one, ``DatabaseServerMessage/failed(reason:)`` says that trying again does not help by itself.
/// - Requests are carried out in the order in which they were sent, and each has one reply unless the connection
///   closes. Requests after a sign-in are carried out in the name of the user whom it signs in, also where it is sent
///   before the reply.
/// - A credential that cannot be verified signs no user in: the reply is `invalid_token`, or `unavailable` where it
///   could not be decided. A connection whose own credential cannot be verified is closed without a first message.
/// - A token that expires while the connection is open signs it out:
///   ``DatabaseServerMessage/authRevoked(status:reason:)`` precedes the end of the listens that the rules then deny.
/// - The data that a write changes is sent to the connection's own listens before the reply of the write.
/// - The operations for the end of a connection are carried out once, whichever way it ends.
/// - A connection without references ends as if it had been closed.
public protocol DatabaseBackend: Sendable {
  /// Opens a connection; returns at once.
  ///
  /// - Parameters:
  ///   - request: Which database.
  ///   - receive: Called with each message, on any thread, never on the caller's stack. The service waits for it to
  ///     return, and others with it: hand the message over and return. A receiver that passes messages on to something
  ///     slow bounds the number that waits there, and closes the connection beyond that. It must not hold the
  ///     connection, which could then not end by being dropped.
  /// - Returns: The connection, to which requests can be sent at once.
  func connect(
    _ request: DatabaseConnectRequest, receive: @escaping @Sendable (DatabaseServerMessage) -> Void
  ) -> any DatabaseConnection

  /// Reads once, without a connection.
  ///
  /// - Parameters:
  ///   - request: The read.
  ///   - context: The caller.
  /// - Throws: `DatabaseServiceError`: `permissionDenied`; `failedPrecondition` without an index that the request
  ///   needs.
  func read(
    _ request: DatabaseReadRequest, context: CallContext
  ) async throws(DatabaseServiceError) -> DatabaseReadResult

  /// Writes once, without a connection.
  ///
  /// - Parameters:
  ///   - request: The write.
  ///   - context: The caller.
  /// - Returns: The written value.
  /// - Throws: `DatabaseServiceError`: `permissionDenied`; `failedPrecondition` when the hash is not that of the data,
  ///   with the data of that moment.
  func write(
    _ request: DatabaseWriteRequest, context: CallContext
  ) async throws(DatabaseServiceError) -> DatabaseNode
}

/// A connection to a database.
public protocol DatabaseConnection: AnyObject, Sendable {
  /// Sends a request; returns at once. After the end of the connection nothing happens.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - id: The number by which the reply names it.
  func send(_ request: DatabaseRequest, id: Int)

  /// Ends the connection; its operations for the end are carried out. Calling it again does nothing.
  func close()
}

/// The parameters of a new connection.
public struct DatabaseConnectRequest: Sendable, Hashable {
  /// The database: the first label of its host, or the `ns` of its URL.
  public var namespace: String

  /// The address by which the program names the database, such as `https://chat.europe-west1.firebasedatabase.app`, for
  /// services that serve each database at its own; others pass over it.
  public var origin: String?

  /// The session of the connection before; `nil` for the first one.
  public var lastSession: String?

  /// The user agent of the client.
  public var userAgent: String

  /// The caller and the app that open the connection: requests are made in its name until one signs in.
  public var context: CallContext

  /// Whether the replies of writes have nodes: the written node, with values of the server filled in, or the current
  /// one where the hash of a write is not that of the data.
  public var wantsNodes: Bool

  /// A request.
  public init(
    namespace: String, origin: String? = nil, lastSession: String? = nil, userAgent: String = "",
    context: CallContext = CallContext(), wantsNodes: Bool = false
  ) {
    self.namespace = namespace
    self.origin = origin
    self.lastSession = lastSession
    self.userAgent = userAgent
    self.context = context
    self.wantsNodes = wantsNodes
  }
}
