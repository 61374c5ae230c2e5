public import VestaBytes
public import VestaDatabaseBackend

/// A message of a client, as the protocol has it.
public enum DatabaseClientMessage: Sendable, Hashable {
  /// A request with the number that its reply names.
  case request(Int, DatabaseRequest)
  /// Asks whether the connection works.
  case ping
  /// The client has moved to this connection; the last message on the other one follows.
  case upgradeReady
  /// Nothing follows on this connection, because the session moves to another one.
  case endOfTransmission
}

/// Messages of clients as text of the protocol, and back.
public enum DatabaseClientWire {
  /// The JSON of a message.
  ///
  /// - Throws: `BytesError` with `.invalidValue` for an override with a number that is not finite.
  public static func bytes(of message: DatabaseClientMessage) throws(BytesError) -> [UInt8] {
    var writer = ProtobufJSONWriter()
    switch message {
    case .request(let id, let request):
      writer.openRequest(id, request.action)
      try write(request, to: &writer)
      writer.closeRequest()
    case .ping: writer.write(raw: #"{"t":"c","d":{"t":"p","d":{}}}"#)
    case .upgradeReady: writer.write(raw: #"{"t":"c","d":{"t":"a","d":{}}}"#)
    case .endOfTransmission: writer.write(raw: #"{"t":"c","d":{"t":"n","d":{}}}"#)
    }
    return writer.bytes
  }

  /// Reads a message.
  ///
  /// - Throws: ``DatabaseWireError``, with the number of the request where it has one.
  public static func message(
    json: [UInt8], tuning: DatabaseWireTuning = DatabaseWireTuning()
  ) throws(DatabaseWireError) -> DatabaseClientMessage {
    let (kind, body) = try Envelope.read(json, tuning)
    guard kind == .data else { return try control(body) }
    guard let id = body["r"]?.integer.flatMap({ Int(exactly: $0) }) else {
      throw DatabaseWireError(BytesError(.malformed, "a request has no number"))
    }
    do throws(BytesError) {
      guard let action = body["a"]?.string else { throw BytesError(.malformed, "a request has no action") }
      return .request(id, try request(action, body["b"]?.object ?? JSONObject()))
    } catch {
      throw DatabaseWireError(error, requestID: id)
    }
  }

  // MARK: Reading

  private static func control(_ body: JSONObject) throws(DatabaseWireError) -> DatabaseClientMessage {
    switch body["t"]?.string {
    case "p": return .ping
    case "a": return .upgradeReady
    case "n": return .endOfTransmission
    default: throw DatabaseWireError(BytesError(.malformed, "the type of a control message is unknown"))
    }
  }

  private static func request(_ action: String, _ body: JSONObject) throws(BytesError) -> DatabaseRequest {
    switch action {
    case "unauth": .unauthenticate
    case "appcheck": .appCheck(token: try body.required("token"))
    case "unappeck": .unappCheck
    case "q": .listen(try listen(body))
    case "n": .unlisten(try body.path(), try QueryWire.spec(body["q"]), tag: try body.tag())
    case "g": .get(try body.path(), try QueryWire.spec(body["q"]))
    case "auth", "gauth": try signIn(body, isOwner: action == "gauth")
    case "m": .merge(try body.path(), try body.values(), hash: try body.text("h"))
    case "p": .put(try body.path(), try NodeWire.node(body["d"] ?? .null), hash: try body.text("h"))
    case "o": .onDisconnectPut(try body.path(), try NodeWire.node(body["d"] ?? .null))
    case "om": .onDisconnectMerge(try body.path(), try body.values())
    case "oc": .onDisconnectCancel(try body.path())
    case "s": .stats(stats(body["c"]?.object ?? JSONObject()))
    default: throw BytesError(.malformed, "the action of a request is unknown")
    }
  }

  private static func signIn(_ body: JSONObject, isOwner: Bool) throws(BytesError) -> DatabaseRequest {
    let token = try body.required("cred")
    var override: DatabaseCredential.Override?
    if let claims = body["authvar"], !claims.isNull {
      guard case .object(let object) = claims else { throw BytesError(.malformed, "authvar is no object") }
      override = .claims(object)
    }
    if body["noauth"]?.bool == true { override = .nobody }
    return .authenticate(DatabaseCredential(token: token, isOwner: isOwner, override: override))
  }

  private static func listen(_ body: JSONObject) throws(BytesError) -> DatabaseListen {
    var listen = DatabaseListen(
      path: try body.path(), spec: try QueryWire.spec(body["q"]), tag: try body.tag(), hash: try body.text("h") ?? "")
    guard let compound = body["ch"]?.object else { return listen }
    guard let hashes = compound["hs"]?.strings, let posts = compound["ps"]?.strings, hashes.count == posts.count + 1
    else { throw BytesError(.malformed, "a compound hash has not one hash more than posts") }
    listen.compound = DatabaseCompoundHash(posts: posts.map { DatabasePath($0) }, hashes: hashes)
    return listen
  }

  /// Counters that are no numbers say nothing and are dropped.
  private static func stats(_ counters: JSONObject) -> [String: Int] {
    counters.members.reduce(into: [:]) { counts, member in
      if let count = member.value.integer.flatMap({ Int(exactly: $0) }) { counts[member.name] = count }
    }
  }

  // MARK: Writing

  private static func write(_ request: DatabaseRequest, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    switch request {
    case .authenticate(let credential): try write(credential, to: &writer)
    case .unauthenticate, .unappCheck: break
    case .appCheck(let token): writer.member("token", token)
    case .listen(let listen): try write(listen, to: &writer)
    case .unlisten(let path, let spec, let tag):
      writer.member("p", path.description)
      try writer.query(spec, tag: tag)
    case .get(let path, let spec):
      writer.member("p", path.description)
      writer.name("q")
      try writer.write(.object(QueryWire.object(of: spec)))
    case .put(let path, let node, let hash):
      writer.member("p", path.description)
      writer.member("d", node)
      if let hash { writer.member("h", hash) }
    case .merge(let path, let values, let hash):
      writer.member("p", path.description)
      writer.member("d", values)
      if let hash { writer.member("h", hash) }
    case .onDisconnectMerge(let path, let values):
      writer.member("p", path.description)
      writer.member("d", values)
    case .onDisconnectPut(let path, let node):
      writer.member("p", path.description)
      writer.member("d", node)
    case .onDisconnectCancel(let path):
      writer.member("p", path.description)
      writer.member("d", DatabaseNode.empty)
    case .stats(let counts):
      writer.name("c")
      var object = JSONObject()
      for (name, count) in counts.sorted(by: { $0.key < $1.key }) { object[name] = .integer(Int64(count)) }
      try writer.write(.object(object))
    }
  }

  private static func write(_ listen: DatabaseListen, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.member("p", listen.path.description)
    try writer.query(listen.spec, tag: listen.tag)
    writer.member("h", listen.hash)
    guard let compound = listen.compound else { return }
    let posts = compound.posts.map { JSONValue.string($0.text) }
    let hashes = compound.hashes.map(JSONValue.string)
    writer.name("ch")
    try writer.write(.object(["hs": .array(hashes), "ps": .array(posts)]))
  }

  private static func write(
    _ credential: DatabaseCredential, to writer: inout ProtobufJSONWriter
  ) throws(BytesError) {
    writer.member("cred", credential.token)
    switch credential.override {
    case .nobody:
      writer.name("noauth")
      writer.write(raw: "true")
    case .claims(let claims):
      writer.name("authvar")
      try writer.write(.object(claims))
    case nil: break
    }
  }
}

extension DatabaseRequest {
  /// The name of the action on the wire.
  var action: String {
    switch self {
    case .authenticate(let credential): credential.isOwner ? "gauth" : "auth"
    case .unauthenticate: "unauth"
    case .appCheck: "appcheck"
    case .unappCheck: "unappeck"
    case .listen: "q"
    case .unlisten: "n"
    case .get: "g"
    case .put: "p"
    case .merge: "m"
    case .onDisconnectPut: "o"
    case .onDisconnectMerge: "om"
    case .onDisconnectCancel: "oc"
    case .stats: "s"
    }
  }
}
