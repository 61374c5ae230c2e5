public import VestaBytes
public import VestaDatabaseBackend

/// A message of the service, as the protocol has it.
public enum DatabaseServerFrame: Sendable, Hashable {
  /// The first message: the connection is open, and this host serves it.
  case handshake(DatabaseHello, host: String)
  /// Another host serves the database: connect there.
  case redirect(host: String)
  /// The client must not connect again.
  case shutdown(reason: String)
  /// A text for the log.
  case log(String)
  /// The answer to a ping.
  case pong
  /// The other connection of the session can take over.
  case upgradeReady
  /// Nothing follows on this connection, because the session moves to another one.
  case endOfTransmission
  /// The reply to a request; what its data means depends on the request.
  case reply(Int, DatabaseReplyBody)
  /// Data and revocations: `DatabaseServerMessage.data(_:_:tag:)` and the like.
  case push(DatabaseServerMessage)
  /// Listens that have been ended: all of a path without queries.
  case listensRevoked(DatabasePath, [DatabaseQuerySpec])

  /// The messages of the seam that a frame stands for; none for a reply and for what a connection does itself.
  public var messages: [DatabaseServerMessage] {
    switch self {
    case .handshake(let hello, _): [.hello(hello)]
    case .shutdown(let reason): [.shutdown(reason: reason)]
    case .push(let message): [message]
    case .listensRevoked(let path, let specs): specs.map { .listenRevoked(path, $0) }
    case .redirect, .log, .pong, .upgradeReady, .endOfTransmission, .reply: []
    }
  }
}

/// The meaning of the data of a reply, by the request that it answers.
public enum DatabaseReplyKind: Sendable, Hashable {
  /// The warnings of a listen.
  case listen
  /// The data that was read.
  case get
  /// The variables of the rules after a sign-in, and the end of the token.
  case signIn
  /// Nothing.
  case other

  /// The kind of the reply to a request.
  public init(answering request: DatabaseRequest) {
    switch request {
    case .listen: self = .listen
    case .get: self = .get
    case .authenticate: self = .signIn
    default: self = .other
    }
  }
}

/// The status and the data of a reply, before it is known what was asked.
public struct DatabaseReplyBody: Sendable, Hashable {
  /// The outcome.
  public var status: DatabaseStatus
  /// The data, the warnings or the explanation.
  public var data: JSONValue

  /// A body.
  public init(status: DatabaseStatus, data: JSONValue) {
    self.status = status
    self.data = data
  }

  /// The reply.
  ///
  /// - Parameter kind: The kind of the request.
  /// - Throws: `BytesError` with `.malformed` for data that is no node.
  public func reply(to kind: DatabaseReplyKind) throws(BytesError) -> DatabaseReply {
    guard status == .ok else { return DatabaseReply(status, message: data.string ?? "") }
    switch kind {
    case .get: return DatabaseReply(.ok, node: try NodeWire.node(data))
    case .listen: return DatabaseReply(.ok, warnings: data.object?["w"]?.strings ?? [])
    case .signIn:
      var reply = DatabaseReply.ok
      reply.auth = data.object?["auth"]?.object
      reply.expires = data.object?["expires"]?.integer
      return reply
    case .other: return .ok
    }
  }
}

/// Messages of the service as text of the protocol, and back.
public enum DatabaseServerWire {
  /// The JSON of a reply.
  ///
  /// - Parameters:
  ///   - reply: The reply.
  ///   - kind: The kind of the request.
  ///   - id: The number of the request.
  public static func bytes(of reply: DatabaseReply, to kind: DatabaseReplyKind, id: Int) -> [UInt8] {
    var writer = ProtobufJSONWriter()
    writer.write(raw: #"{"t":"d","d":{"r":\#(id),"b":"#)
    writer.open(UInt8(ascii: "{"))
    writer.member("s", reply.status.rawValue)
    switch (reply.status, kind) {
    case (.ok, .get): writer.member("d", reply.node)
    case (.ok, .listen):
      writer.name("d")
      writeListen(reply, to: &writer)
    case (.ok, .signIn):
      writer.name("d")
      writeSignIn(reply, to: &writer)
    default: writer.member("d", reply.message)
    }
    writer.closeRequest()
    return writer.bytes
  }

  private static func writeListen(_ reply: DatabaseReply, to writer: inout ProtobufJSONWriter) {
    writer.open(UInt8(ascii: "{"))
    if !reply.warnings.isEmpty { writer.member("w", strings: reply.warnings) }
    writer.close(UInt8(ascii: "}"))
  }

  private static func writeSignIn(_ reply: DatabaseReply, to writer: inout ProtobufJSONWriter) {
    writer.open(UInt8(ascii: "{"))
    if let auth = try? reply.auth?.json() {
      writer.name("auth")
      writer.write(raw: String(decoding: auth, as: UTF8.self))
    }
    if let expires = reply.expires {
      writer.name("expires")
      writer.write(raw: "\(expires)")
    }
    writer.close(UInt8(ascii: "}"))
  }

  /// The JSON of a message that is not a reply.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - host: The host that the client reached, which a first message repeats.
  /// - Returns: `nil` for a message that is none on the wire: the end of the connection.
  public static func bytes(of message: DatabaseServerMessage, host: String) throws(BytesError) -> [UInt8]? {
    switch message {
    case .hello(let hello): return try bytes(of: .handshake(hello, host: host))
    case .shutdown(let reason): return try bytes(of: .shutdown(reason: reason))
    case .listenRevoked(let path, let spec): return try bytes(of: .listensRevoked(path, [spec]))
    case .reply(let id, let reply): return bytes(of: reply, to: .other, id: id)
    case .failed, .closed: return nil
    case .data, .merge, .rangeMerge, .authRevoked, .appCheckRevoked, .debug: return try bytes(of: .push(message))
    }
  }

  /// The JSON of a frame.
  ///
  /// - Throws: `BytesError` with `.invalidValue` for the data of a reply with a number that is not finite, and for a
  ///   push that is not on the wire.
  public static func bytes(of frame: DatabaseServerFrame) throws(BytesError) -> [UInt8] {
    var writer = ProtobufJSONWriter()
    switch frame {
    case .handshake(let hello, let host): write(hello, host, to: &writer)
    case .redirect(let host): writer.control("r", host)
    case .shutdown(let reason): writer.control("s", reason)
    case .log(let text): writer.control("e", text)
    case .pong: writer.write(raw: #"{"t":"c","d":{"t":"o","d":{}}}"#)
    case .upgradeReady: writer.write(raw: #"{"t":"c","d":{"t":"a","d":{}}}"#)
    case .endOfTransmission: writer.write(raw: #"{"t":"c","d":{"t":"n","d":{}}}"#)
    case .reply(let id, let body): try write(body, id: id, to: &writer)
    case .listensRevoked(let path, let specs):
      writer.openPush("c", path)
      // A listen without a query has none: clients look for it by another name than that of an empty query.
      if specs.contains(where: { !$0.isDefault }) {
        writer.name("q")
        try writer.write(.array(specs.map { .object(QueryWire.object(of: $0)) }))
      }
      writer.closeRequest()
    case .push(let message): try write(message, to: &writer)
    }
    return writer.bytes
  }

  private static func write(_ hello: DatabaseHello, _ host: String, to writer: inout ProtobufJSONWriter) {
    writer.write(raw: #"{"t":"c","d":{"t":"h","d":"#)
    writer.open(UInt8(ascii: "{"))
    writer.name("ts")
    writer.write(raw: "\(hello.timestamp)")
    writer.member("v", "5")
    writer.member("h", host)
    writer.member("s", hello.session)
    writer.closeRequest()
  }

  private static func write(
    _ reply: DatabaseReplyBody, id: Int, to writer: inout ProtobufJSONWriter
  ) throws(BytesError) {
    writer.write(raw: #"{"t":"d","d":{"r":\#(id),"b":"#)
    writer.open(UInt8(ascii: "{"))
    writer.member("s", reply.status.rawValue)
    writer.name("d")
    try writer.write(reply.data)
    writer.closeRequest()
  }

  private static func write(_ message: DatabaseServerMessage, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    switch message {
    case .data(let path, let node, let tag):
      writer.openPush("d", path)
      writer.member("d", node)
      writer.tag(tag)
    case .merge(let path, let values, let tag):
      writer.openPush("m", path)
      writer.member("d", values)
      writer.tag(tag)
    case .rangeMerge(let path, let ranges, let tag):
      writer.openPush("rm", path)
      writer.member("d", ranges)
      writer.tag(tag)
    case .authRevoked(let status, let reason): writer.openPush("ac", status: status, reason)
    case .appCheckRevoked(let status, let reason): writer.openPush("apc", status: status, reason)
    case .debug(let text):
      writer.write(raw: #"{"t":"d","d":{"a":"sd","b":"#)
      writer.open(UInt8(ascii: "{"))
      writer.member("msg", text)
    default: throw BytesError(.invalidValue, "this message is no push")
    }
    writer.closeRequest()
  }
}

extension ProtobufJSONWriter {
  fileprivate mutating func control(_ type: String, _ text: String) {
    write(raw: #"{"t":"c","d":{"t":"\#(type)","d":"#)
    write(string: text)
    write(raw: "}}")
  }

  fileprivate mutating func member(_ name: StaticString, strings: [String]) {
    self.name(name)
    open(UInt8(ascii: "["))
    for text in strings {
      element()
      write(string: text)
    }
    close(UInt8(ascii: "]"))
  }

  /// Writes the beginning of a push; its paths have no slash at the front.
  fileprivate mutating func openPush(_ action: String, _ path: DatabasePath) {
    write(raw: #"{"t":"d","d":{"a":"\#(action)","b":"#)
    open(UInt8(ascii: "{"))
    member("p", path.text)
  }

  fileprivate mutating func openPush(_ action: String, status: String, _ reason: String) {
    write(raw: #"{"t":"d","d":{"a":"\#(action)","b":"#)
    open(UInt8(ascii: "{"))
    member("s", status)
    member("d", reason)
  }

  fileprivate mutating func tag(_ tag: Int?) {
    guard let tag else { return }
    name("t")
    write(raw: "\(tag)")
  }

  fileprivate mutating func member(_ name: StaticString, _ ranges: [DatabaseRangeMerge]) {
    self.name(name)
    open(UInt8(ascii: "["))
    for range in ranges {
      element()
      open(UInt8(ascii: "{"))
      if let start = range.start { member("s", start.text) }
      if let end = range.end { member("e", end.text) }
      member("m", range.node)
      close(UInt8(ascii: "}"))
    }
    close(UInt8(ascii: "]"))
  }
}
