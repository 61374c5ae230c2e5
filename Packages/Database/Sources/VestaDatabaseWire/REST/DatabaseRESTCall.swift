public import VestaBytes
public import VestaDatabaseBackend

/// A call of the REST API: `GET /users/bob.json?print=pretty`.
public struct DatabaseRESTCall: Sendable, Hashable {
  /// The operation.
  public enum Action: String, Sendable, Hashable, CaseIterable {
    /// Reads, or listens when events are accepted.
    case get = "GET"
    /// Replaces.
    case put = "PUT"
    /// Replaces several nodes below the path.
    case patch = "PATCH"
    /// Appends a child under a new key.
    case post = "POST"
    /// Removes.
    case delete = "DELETE"
  }

  /// The form of the answer.
  public enum Print: String, Sendable, Hashable {
    /// No answer but the status 204.
    case silent
    /// Lines and indentation.
    case pretty
  }

  /// The largest write that is allowed.
  public enum WriteSizeLimit: String, Sendable, Hashable {
    /// Writes of about a second.
    case tiny
    /// Writes of about ten seconds.
    case small
    /// Writes of about thirty seconds.
    case medium
    /// Writes of about a minute.
    case large
    /// No bound.
    case unlimited
  }

  /// The credential of the caller, as it was sent.
  public enum Credential: Sendable, Hashable {
    /// An ID token, or an old secret of the database: `auth=`.
    case auth(String)
    /// An access token: `access_token=` or the header `Authorization`.
    case bearer(String)
  }

  /// The operation.
  public var action: Action
  /// The path of the node.
  public var path: DatabasePath
  /// The namespace; `nil` when the host names it.
  public var namespace: String?
  /// The query of a read.
  public var spec: DatabaseQuerySpec = .all
  /// Whether only the keys of the children are read.
  public var isShallow = false
  /// Whether priorities are part of the answer: `format=export`.
  public var isExport = false
  /// The form of the answer; `nil` for one line.
  public var print: Print?
  /// The function that a script calls with the answer; `nil` for JSON.
  public var callback: String?
  /// The name of the file that the answer is saved as.
  public var download: String?
  /// The longest time of the read, in milliseconds.
  public var timeout: Int64?
  /// The largest write that is allowed.
  public var writeSizeLimit: WriteSizeLimit?
  /// Whether functions are not notified of the write.
  public var disablesTriggers = false
  /// The credential of the caller.
  public var credential: Credential?
  /// The claims that an owner acts with: `auth_variable_override`, null for no user.
  public var authOverride: JSONValue?
  /// Whether the answer is to have an ETag.
  public var wantsETag = false
  /// The ETag that the data has to have for a write.
  public var ifMatch: String?
  /// The ETag that the data must not have for an answer.
  public var ifNoneMatch: String?
  /// Whether changes are sent as events.
  public var wantsEvents = false

  /// A call.
  public init(_ action: Action, _ path: DatabasePath, namespace: String? = nil) {
    self.action = action
    self.path = path
    self.namespace = namespace
  }

  /// The parts of the node that the answer has.
  public var nodeForm: NodeWire.Form { isShallow ? .shallow : isExport ? .export : .plain }
}

/// Calls of the REST API as a method, a target and header fields, and back.
public enum DatabaseRESTWire {
  /// Reads a call.
  ///
  /// - Parameters:
  ///   - method: The method of HTTP.
  ///   - target: The path and the query, as they were sent.
  ///   - field: Returns the value of a header field by its name in lower case.
  /// - Returns: The call; `nil` for a path without `.json`, which is not the API's.
  /// - Throws: `BytesError` with `.malformed` and the sentence that the service answers.
  public static func call(
    method: String, target: String, field: (String) -> String?
  ) throws(BytesError) -> DatabaseRESTCall? {
    let parts = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = try path(String(Substring(parts[0]))) else { return nil }
    let fields = try FormFields(parts.count > 1 ? String(Substring(parts[1])) : "")
    let override = fields["x-http-method-override"] ?? field("x-http-method-override")
    let action = try action(method.uppercased() == "POST" ? override ?? method : method)
    var call = DatabaseRESTCall(action, path, namespace: fields["ns"])
    try read(fields, into: &call)
    if call.credential == nil, let value = field("authorization"), let token = bearer(value) {
      call.credential = .bearer(token)
    }
    call.wantsETag = field("x-firebase-etag")?.lowercased() == "true"
    call.ifMatch = field("if-match")
    call.ifNoneMatch = field("if-none-match")
    call.wantsEvents = action == .get && field("accept")?.lowercased().contains("text/event-stream") == true
    return call
  }

  private static func action(_ method: String) throws(BytesError) -> DatabaseRESTCall.Action {
    guard let action = DatabaseRESTCall.Action(rawValue: method.uppercased()) else {
      throw BytesError(.malformed, "the method \(method.prefix(16)) is not supported")
    }
    return action
  }

  /// The path and the query of a call.
  public static func target(of call: DatabaseRESTCall) -> String {
    let keys = call.path.keys.map { PercentEncoding.unreserved.encode($0.text) }
    var fields = FormFields()
    fields.append("ns", call.namespace)
    QueryParameters.append(call.spec, to: &fields)
    if call.isShallow { fields.append("shallow", "true") }
    if call.isExport { fields.append("format", "export") }
    fields.append("print", call.print?.rawValue)
    fields.append("callback", call.callback)
    fields.append("download", call.download)
    fields.append("timeout", call.timeout.map { "\($0)ms" })
    fields.append("writeSizeLimit", call.writeSizeLimit?.rawValue)
    if call.disablesTriggers { fields.append("disableTriggers", "true") }
    if case .auth(let token)? = call.credential { fields.append("auth", token) }
    fields.append("auth_variable_override", call.authOverride.flatMap { try? $0.json() }.map { utf8($0) })
    return "/" + keys.joined(separator: "/") + ".json" + (fields.fields.isEmpty ? "" : "?" + fields.text)
  }

  /// The header fields of a call, by their names in lower case.
  public static func fields(of call: DatabaseRESTCall) -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    if case .bearer(let token)? = call.credential { fields.append(("authorization", "Bearer \(token)")) }
    if call.wantsETag { fields.append(("x-firebase-etag", "true")) }
    if let etag = call.ifMatch { fields.append(("if-match", etag)) }
    if let etag = call.ifNoneMatch { fields.append(("if-none-match", etag)) }
    if call.wantsEvents { fields.append(("accept", "text/event-stream")) }
    return fields
  }

  // MARK: Parts

  private static func read(_ fields: FormFields, into call: inout DatabaseRESTCall) throws(BytesError) {
    call.isShallow = fields["shallow"] == "true"
    call.spec = try QueryParameters.spec(shallowLimit(fields, call.isShallow))
    call.isExport = fields["format"] == "export"
    call.print = try value("print", fields) { .init(rawValue: $0) }
    call.writeSizeLimit = try value("writeSizeLimit", fields) { .init(rawValue: $0) }
    call.timeout = try value("timeout", fields, timeout)
    call.callback = try value("callback", fields) { isFunctionName($0) ? $0 : nil }
    call.download = fields["download"]
    call.disablesTriggers = fields["disableTriggers"] == "true"
    if let token = fields["access_token"] { call.credential = .bearer(token) }
    if let token = fields["auth"] { call.credential = .auth(token) }
    call.authOverride = try value("auth_variable_override", fields, claims)
  }

  /// The fields, without the limit that may accompany `shallow` without an order: keys are read one by one anyway.
  private static func shallowLimit(_ fields: FormFields, _ isShallow: Bool) -> FormFields {
    guard isShallow, fields["orderBy"] == nil, fields["limitToFirst"] ?? fields["limitToLast"] != nil else {
      return fields
    }
    var ordered = fields
    ordered.append("orderBy", "\"$key\"")
    return ordered
  }

  private static func value<Value>(
    _ name: String, _ fields: FormFields, _ read: (String) -> Value?
  ) throws(BytesError) -> Value? {
    guard let text = fields[name] else { return nil }
    guard let value = read(text) else { throw BytesError(.malformed, "the parameter \(name) has no such value") }
    return value
  }

  /// The path in front of `.json`; `nil` for another one.
  ///
  /// Each part between two slashes is a key.
  private static func path(_ text: String) throws(BytesError) -> DatabasePath? {
    guard text.hasSuffix(".json"), text.hasPrefix("/") else { return nil }
    var keys: [DatabaseKey] = []
    for part in text.dropLast(5).utf8.split(separator: UInt8(ascii: "/")) {
      let key = try PercentEncoding.decode(Substring(part))
      guard !key.utf8.contains(UInt8(ascii: "/")) else {
        throw BytesError(.malformed, "Invalid path: a key has a slash")
      }
      keys.append(DatabaseKey(key))
    }
    return DatabasePath(keys)
  }

  /// The milliseconds of `10s`, `3ms` or `2min`; 15 minutes at most.
  private static func timeout(_ text: String) -> Int64? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let units: [Substring: Int64] = ["ms": 1, "s": 1_000, "min": 60_000]
    guard let count = Int64(digits), digits.utf8.count < 10, let unit = units[text.dropFirst(digits.count)] else {
      return nil
    }
    return count * unit <= 900_000 ? count * unit : nil
  }

  /// An object or null; `nil` for other text.
  ///
  /// Written out, because a bare nil would be JSON's null.
  private static func claims(_ text: String) -> JSONValue? {
    guard let value = try? JSONValue(json: text), value.isNull || value.object != nil else {
      return Optional<JSONValue>.none
    }
    return value
  }

  /// Names alone: what a script calls must not be anything else.
  private static func isFunctionName(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        byte &- 48 < 10 || (byte | 32) &- 97 < 26 || "_$.".utf8.contains(byte)
      }
  }

  private static func bearer(_ value: String) -> String? {
    let parts = value.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return String(parts[1])
  }

  private static func utf8(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
