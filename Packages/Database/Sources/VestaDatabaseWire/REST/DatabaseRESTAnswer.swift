public import VestaBytes
public import VestaDatabaseBackend

/// The answer to a call of the REST API.
public struct DatabaseRESTAnswer: Sendable, Hashable {
  /// The status of HTTP.
  public var status: Int
  /// The body; empty for none.
  public var body: [UInt8]
  /// The ETag, if the call wants one.
  public var etag: String?

  /// An answer.
  public init(status: Int, body: [UInt8], etag: String? = nil) {
    self.status = status
    self.body = body
    self.etag = etag
  }
}

extension DatabaseRESTWire {
  /// The ETag of no data.
  public static let nullETag = "null_etag"

  /// The ETag of a hash of data.
  public static func etag(ofHash hash: String) -> String { hash.isEmpty ? nullETag : hash }

  /// The hash of an ETag; empty for that of no data.
  public static func hash(ofETag etag: String) -> String { etag == nullETag ? "" : etag }

  /// The answer of a read, or of a write that sends its data back.
  ///
  /// - Parameters:
  ///   - node: The data.
  ///   - call: The call.
  ///   - hash: The hash of the data, where the call wants an ETag.
  public static func answer(
    _ node: DatabaseNode, to call: DatabaseRESTCall, hash: String? = nil
  ) -> DatabaseRESTAnswer {
    let etag = call.wantsETag || call.ifNoneMatch != nil ? hash.map { self.etag(ofHash: $0) } : nil
    if call.print == .silent { return DatabaseRESTAnswer(status: 204, body: [], etag: etag) }
    let json = NodeWire.bytes(of: node, form: call.nodeForm, isPretty: call.print == .pretty)
    return DatabaseRESTAnswer(status: 200, body: scripted(json, call), etag: etag)
  }

  /// The answer of a child that was appended: its key.
  public static func answer(appended key: DatabaseKey, to call: DatabaseRESTCall) -> DatabaseRESTAnswer {
    if call.print == .silent { return DatabaseRESTAnswer(status: 204, body: []) }
    let object: JSONObject = ["name": .string(key.text)]
    return DatabaseRESTAnswer(status: 200, body: scripted((try? object.json()) ?? [], call))
  }

  /// The values of a body that replaces several nodes: an object by relative paths.
  ///
  /// - Throws: `BytesError` with `.malformed` for anything but an object.
  public static func values(
    json: [UInt8], tuning: DatabaseWireTuning = DatabaseWireTuning()
  ) throws(BytesError) -> [DatabasePathValue] {
    var values: [DatabasePathValue] = []
    for member in try JSONObject(json: json, limits: tuning.limits).members {
      values.append(DatabasePathValue(DatabasePath(member.name), try NodeWire.node(member.value)))
    }
    return values
  }

  /// The answer of several nodes that were replaced, by their relative paths.
  public static func answer(merged values: [DatabasePathValue], to call: DatabaseRESTCall) -> DatabaseRESTAnswer {
    if call.print == .silent { return DatabaseRESTAnswer(status: 204, body: []) }
    return DatabaseRESTAnswer(status: 200, body: scripted(json(of: values, form: call.nodeForm), call))
  }

  /// The body that replaces several nodes, as ``values(json:tuning:)`` reads it.
  public static func json(of values: [DatabasePathValue], form: NodeWire.Form = .export) -> [UInt8] {
    var writer = ProtobufJSONWriter()
    writer.open(UInt8(ascii: "{"))
    for value in values {
      writer.name(key: value.path.text)
      NodeWire.write(value.node, form, to: &writer)
    }
    writer.close(UInt8(ascii: "}"))
    return writer.bytes
  }

  /// The answer of a failure.
  ///
  /// - Parameters:
  ///   - reply: The failure; of a stale hash, with the data that is there.
  ///   - call: The call.
  ///   - hash: The hash of that data.
  public static func answer(
    failure reply: DatabaseReply, to call: DatabaseRESTCall, hash: String? = nil
  ) -> DatabaseRESTAnswer {
    let status = Self.status(of: reply.status)
    if reply.status == .dataStale {
      let json = NodeWire.bytes(of: reply.node, form: call.nodeForm)
      return DatabaseRESTAnswer(status: status, body: json, etag: hash.map { etag(ofHash: $0) })
    }
    let text = reply.status == .permissionDenied ? "Permission denied" : reply.message
    let object: JSONObject = ["error": .string(text.isEmpty ? reply.status.rawValue : text)]
    return DatabaseRESTAnswer(status: status, body: (try? object.json()) ?? [])
  }

  /// The reply that an answer stands for.
  ///
  /// - Throws: `BytesError` with `.malformed` for a success whose body is no JSON.
  public static func reply(
    _ answer: DatabaseRESTAnswer, tuning: DatabaseWireTuning = DatabaseWireTuning()
  ) throws(BytesError) -> DatabaseReply {
    switch answer.status {
    case 204, 304: return .ok
    case 200: return DatabaseReply(.ok, node: try NodeWire.node(json: answer.body, tuning: tuning))
    case 412:
      return DatabaseReply(.dataStale, node: (try? NodeWire.node(json: answer.body, tuning: tuning)) ?? .empty)
    default:
      let message = ErrorEnvelope(json: answer.body, limits: tuning.limits)?.message ?? ""
      return DatabaseReply(Self.status(ofHTTP: answer.status, message), message: message)
    }
  }

  /// The key of an appended child; `nil` for an answer that has none.
  public static func appendedKey(_ answer: DatabaseRESTAnswer) -> DatabaseKey? {
    guard answer.status == 200, let object = try? JSONObject(json: answer.body) else { return nil }
    return object["name"]?.string.map { DatabaseKey($0) }
  }

  /// The status of HTTP for a status of the protocol.
  static func status(of status: DatabaseStatus) -> Int {
    switch status {
    case .ok: 200
    case .permissionDenied, .invalidToken, .expiredToken: 401
    case .dataStale: 412
    case .tooBig: 413
    case .unavailable: 503
    default: 400
    }
  }

  private static func status(ofHTTP status: Int, _ message: String) -> DatabaseStatus {
    switch status {
    case 401 where message.contains("expired"): .expiredToken
    case 401 where message.contains("token"): .invalidToken
    case 401, 403: .permissionDenied
    case 413: .tooBig
    case 400..<500: .invalid
    default: .unavailable
    }
  }

  /// The answer as a script that calls a function.
  private static func scripted(_ json: [UInt8], _ call: DatabaseRESTCall) -> [UInt8] {
    guard let callback = call.callback else { return json }
    return Array("/**/\(callback)(".utf8) + ScriptText.safe(json) + Array(");".utf8)
  }
}
