public import VestaBytes

/// The parameters with which a client opens a WebSocket: `/.ws?v=5&ns=…`.
public struct DatabaseOpening: Sendable, Hashable {
  /// The version of the protocol.
  public var version = "5"
  /// The database; `nil` when the host names it.
  public var namespace: String?
  /// The session of the connection before.
  public var lastSession: String?
  /// The session that moves to this connection.
  public var movedSession: String?
  /// The token of App Check.
  public var appCheckToken: String?
  /// The id of the app.
  public var appID: String?

  /// An opening.
  public init(namespace: String?) { self.namespace = namespace }

  /// Reads the query of a URL.
  ///
  /// Clients do not encode the values, so a `+` stays one.
  ///
  /// - Throws: `BytesError` with `.malformed`, also for a protocol of another version.
  public init(query: String) throws(BytesError) {
    try self.init(FormFields(query, plusIsSpace: false, maximumCount: 32))
  }

  init(_ fields: FormFields) throws(BytesError) {
    guard fields["v"] == "5" else { throw BytesError(.malformed, "the version of the protocol is not 5") }
    namespace = fields["ns"]
    lastSession = fields["ls"]
    movedSession = fields["s"]
    appCheckToken = fields["ac"]
    appID = fields["p"]
  }

  /// The query of the URL.
  public var query: String { fields.text }

  var fields: FormFields {
    var fields = FormFields()
    fields.append("v", version)
    fields.append("s", movedSession)
    fields.append("ls", lastSession)
    fields.append("ac", appCheckToken)
    fields.append("p", appID)
    fields.append("ns", namespace)
    return fields
  }
}
