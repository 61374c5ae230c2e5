public import VestaBytes

/// A call of the messaging service by its method and target.
///
/// A registration is named by its token or by the id of its installation.
public struct MessagingRoute: Sendable, Hashable {
  /// The calls.
  public enum Call: Sendable, Hashable {
    /// The owner sends a message.
    case send
    /// An installation is registered.
    case register
    /// A registration is renewed.
    case renew(String)
    /// A registration is removed.
    case unregister(String)
    /// A registration subscribes to a topic.
    case subscribe(String, topic: String)
    /// A registration leaves a topic.
    case unsubscribe(String, topic: String)
    /// The owner subscribes many registrations to a topic.
    case subscribeMany
    /// The owner takes many registrations from a topic.
    case unsubscribeMany
    /// Reads what is known of a registration.
    case info(String)
    /// The messages that were sent, for their inspection while developing.
    case outbox(pageSize: Int, pageToken: String?)
    /// The numbers of accepted and delivered messages.
    case statistics
    /// Reads the key by which push services of browsers know the project.
    case webPushKey
    /// A client of Vesta's own connects.
    case connect
    /// A client of Vesta's own acknowledges what it has received.
    case acknowledge
  }

  /// The project; `nil` for the calls that name none.
  public var project: String?
  /// The call.
  public var call: Call

  /// A route.
  public init(project: String?, _ call: Call) {
    self.project = project
    self.call = call
  }

  /// Reads a route.
  ///
  /// - Parameters:
  ///   - method: The method of HTTP.
  ///   - target: The path and the query.
  /// - Returns: The route; `nil` for a target that is not the service's.
  /// - Throws: `BytesError` for a target that is not percent-encoded well, and for a parameter that has no such value.
  public init?(method: String, target: String) throws(BytesError) {
    let parts = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    var path: [String] = []
    for part in parts[0].split(separator: UInt8(ascii: "/"), maxSplits: 9) {
      path.append(try PercentEncoding.decode(Substring(part)))
    }
    let query = { () throws(BytesError) in try FormFields(parts.count > 1 ? String(Substring(parts[1])) : "") }
    if path.first == "iid" {
      guard let call = Self.instanceID(method, path) else { return nil }
      self.init(project: nil, call)
    } else if path.count == 5, path[0] == "emulator", path[1] == "v1", path[2] == "projects", method == "GET" {
      guard let call = try Self.emulator(path[4], query) else { return nil }
      self.init(project: path[3], call)
    } else if path.count >= 4, path[0] == "v1", path[1] == "projects" {
      guard let call = try Self.call(method, Array(path[3...]), query) else { return nil }
      self.init(project: path[2], call)
    } else {
      return nil
    }
  }

  /// The calls of a local test suite.
  private static func emulator(
    _ name: String, _ query: () throws(BytesError) -> FormFields
  ) throws(BytesError) -> Call? {
    switch name {
    case "messages": return try outbox(try query())
    case "messages:statistics": return .statistics
    default: return nil
    }
  }

  /// The calls below a project.
  private static func call(
    _ method: String, _ path: [String], _ query: () throws(BytesError) -> FormFields
  ) throws(BytesError) -> Call? {
    if path[0].hasPrefix("registrations") { return try registration(method, path, query) }
    return path.count == 1 ? project(method, path[0]) : nil
  }

  /// The method of HTTP.
  public var method: String {
    switch call {
    case .send, .register, .subscribe, .subscribeMany, .unsubscribeMany, .connect, .acknowledge: "POST"
    case .renew: "PATCH"
    case .unregister, .unsubscribe: "DELETE"
    case .info, .outbox, .statistics, .webPushKey: "GET"
    }
  }

  /// The path and the query.
  public var target: String {
    let encode = PercentEncoding.unreserved.encode
    let base = "/v1/projects/\(encode(project ?? "-"))"
    switch call {
    case .send: return "\(base)/messages:send"
    case .register: return "\(base)/registrations"
    case .renew(let id), .unregister(let id): return "\(base)/registrations/\(encode(id))"
    case .subscribe(let id, let topic):
      return "\(base)/registrations/\(encode(id))/topicSubscriptions?topic_name=\(encode(topic))"
    case .unsubscribe(let id, let topic):
      return "\(base)/registrations/\(encode(id))/topicSubscriptions/\(encode(topic))?allow_missing=true"
    case .subscribeMany: return "/iid/v1:batchAdd"
    case .unsubscribeMany: return "/iid/v1:batchRemove"
    case .info(let id): return "/iid/info/\(encode(id))?details=true"
    case .webPushKey: return "\(base)/webPushKey"
    case .connect: return "\(base)/registrations:connect"
    case .acknowledge: return "\(base)/registrations:acknowledge"
    case .statistics: return "/emulator\(base)/messages:statistics"
    case .outbox(let size, let token):
      let rest = token.map { "&pageToken=\(encode($0))" } ?? ""
      return "/emulator\(base)/messages?pageSize=\(size)\(rest)"
    }
  }

  // MARK: Parts

  private static func project(_ method: String, _ name: String) -> Call? {
    switch (method, name) {
    case ("POST", "messages:send"): .send
    case ("GET", "webPushKey"): .webPushKey
    default: nil
    }
  }

  private static func instanceID(_ method: String, _ path: [String]) -> Call? {
    switch (method, path.count) {
    case ("POST", 2) where path[1] == "v1:batchAdd": .subscribeMany
    case ("POST", 2) where path[1] == "v1:batchRemove": .unsubscribeMany
    case ("GET", 3) where path[1] == "info": .info(path[2])
    default: nil
    }
  }

  /// The calls below `registrations`; `path` begins with that part.
  private static func registration(
    _ method: String, _ path: [String], _ query: () throws(BytesError) -> FormFields
  ) throws(BytesError) -> Call? {
    switch (method, path.count) {
    case ("POST", 1):
      return [
        "registrations": .register, "registrations:connect": .connect, "registrations:acknowledge": .acknowledge,
      ][
        path[0]]
    case _ where path[0] != "registrations": return nil
    case ("PATCH", 2): return .renew(path[1])
    case ("DELETE", 2): return .unregister(path[1])
    case ("POST", 3) where path[2] == "topicSubscriptions":
      let fields = try query()
      guard let topic = fields["topic_name"] ?? fields["topicName"] else {
        throw BytesError(.malformed, "the parameter topic_name is missing")
      }
      return .subscribe(path[1], topic: topic)
    case ("DELETE", 4) where path[2] == "topicSubscriptions": return .unsubscribe(path[1], topic: path[3])
    case ("POST", 4) where path[2] == "topicSubscriptions": return subscription(of: path[1], path[3])
    default: return nil
    }
  }

  /// `TOPIC:subscribe` or `TOPIC:unsubscribe`; the verb is after the last colon, as a topic has none.
  private static func subscription(of registration: String, _ text: String) -> Call? {
    if text.hasSuffix(":subscribe") { return .subscribe(registration, topic: String(text.dropLast(10))) }
    if text.hasSuffix(":unsubscribe") { return .unsubscribe(registration, topic: String(text.dropLast(12))) }
    return nil
  }

  private static func outbox(_ fields: FormFields) throws(BytesError) -> Call {
    let text = fields["pageSize"] ?? "100"
    guard let size = Int(text) else { throw BytesError(.malformed, "the parameter pageSize is no number") }
    return .outbox(pageSize: size, pageToken: fields["pageToken"].flatMap { $0.isEmpty ? nil : $0 })
  }
}
