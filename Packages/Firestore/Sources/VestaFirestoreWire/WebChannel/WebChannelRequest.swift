public import VestaBytes

/// A request of a WebChannel by its method and query.
public enum WebChannelRequest: Sendable, Hashable {
  /// Opens a session; the body has the headers of the call and the first messages.
  case open(database: String?, sessionParameter: String?)
  /// Sends messages of a session; with the last array that the client has.
  case forward(Session, confirmed: Int)
  /// Waits for arrays of a session.
  case back(Session, confirmed: Int, BackChannel)
  /// Ends a session.
  case terminate(Session)

  /// The ids of a session.
  public struct Session: Sendable, Hashable {
    /// The id of the session, which is its secret.
    public var id: String
    /// The id that the response to the opening had in its header; `nil` for none.
    public var httpID: String?
    /// The database of the path; `nil` for none.
    public var database: String?

    /// A session.
    public init(id: String, httpID: String? = nil, database: String? = nil) {
      self.id = id
      self.httpID = httpID
      self.database = database
    }
  }

  /// How a back channel is answered.
  public enum BackChannel: Sendable, Hashable {
    /// With frames for as long as the connection lasts.
    case streaming
    /// With one response that ends; it is held for some milliseconds when there is nothing to say.
    case buffered(milliseconds: Int?)
  }

  /// Reads a request.
  ///
  /// - Parameters:
  ///   - method: The method of HTTP.
  ///   - query: The query of the URL.
  /// - Throws: `BytesError` with `.malformed`, also for another version of the protocol.
  public init(method: String, query: String) throws(BytesError) {
    let fields = try FormFields(query, maximumCount: 64)
    guard fields["VER"] == "8" else { throw BytesError(.malformed, "the version of the channel is not 8") }
    guard let id = fields["SID"] else {
      guard method == "POST" else { throw BytesError(.malformed, "a channel is opened by POST") }
      self = .open(database: fields["database"], sessionParameter: fields["X-HTTP-Session-Id"])
      return
    }
    let session = Session(id: id, httpID: fields["gsessionid"], database: fields["database"])
    if fields["TYPE"] == "terminate" {
      self = .terminate(session)
      return
    }
    let confirmed = try Self.number(fields["AID"] ?? "0")
    if fields["RID"] == "rpc" {
      let isBuffered = fields["CI"] == "1"
      let hold = try fields["TO"].map { text throws(BytesError) in try Self.number(text) }
      self = .back(session, confirmed: confirmed, isBuffered ? .buffered(milliseconds: hold) : .streaming)
    } else {
      guard method == "POST" else { throw BytesError(.malformed, "messages are sent by POST") }
      self = .forward(session, confirmed: confirmed)
    }
  }

  /// The query of the URL.
  ///
  /// - Parameter number: The number of the request in its session; a back channel has none.
  public func query(number: Int) -> String {
    var fields = FormFields()
    fields.append("VER", "8")
    switch self {
    case .open(let database, let parameter):
      fields.append("database", database)
      fields.append("RID", "\(number)")
      fields.append("CVER", "22")
      fields.append("X-HTTP-Session-Id", parameter)
    case .forward(let session, let confirmed):
      Self.append(session, to: &fields)
      fields.append("RID", "\(number)")
      fields.append("AID", "\(confirmed)")
    case .back(let session, let confirmed, let kind):
      Self.append(session, to: &fields)
      fields.append("RID", "rpc")
      fields.append("AID", "\(confirmed)")
      switch kind {
      case .streaming: fields.append("CI", "0")
      case .buffered(let hold):
        fields.append("CI", "1")
        fields.append("TO", hold.map { "\($0)" })
      }
      fields.append("TYPE", "xmlhttp")
    case .terminate(let session):
      Self.append(session, to: &fields)
      fields.append("RID", "\(number)")
      fields.append("TYPE", "terminate")
    }
    return fields.text
  }

  private static func append(_ session: Session, to fields: inout FormFields) {
    fields.append("database", session.database)
    fields.append("gsessionid", session.httpID)
    fields.append("SID", session.id)
  }

  static func number(_ text: String) throws(BytesError) -> Int {
    guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ $0 &- 48 < 10 }), let number = Int(text) else {
      throw BytesError(.malformed, "a number of the channel is no number")
    }
    return number
  }
}
