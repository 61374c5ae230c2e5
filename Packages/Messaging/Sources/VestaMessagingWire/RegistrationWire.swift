public import VestaBytes
public import VestaMessagingBackend

/// The bodies of `registrations`, and back.
///
/// | part | of a browser | of an app of Apple's systems | of one of Vesta's own clients |
/// |---|---|---|---|
/// | name | `web` | `ios` | `vesta` |
/// | address | `endpoint`, `auth`, `p256dh`, `applicationPubKey`, `origin` | `apns_token`, `apns_environment`, `bundle_id` | `address`, if it has one |
/// | other members | | | `platform`, `senderId`, `currentToken` |
public enum RegistrationWire {
  /// The bounds of bodies.
  public static let limits = JSONLimits(maximumDepth: 16, maximumSize: 1 << 16)

  /// A registration as a client asks for it.
  public struct Registration: Sendable, Hashable {
    /// The request.
    public var request: RegisterRequest

    /// Whether the client shows the token that it has, as Vesta's own clients do; others keep theirs by their
    /// installation.
    public var showsToken: Bool

    /// A registration.
    public init(_ request: RegisterRequest, showsToken: Bool) {
      self.request = request
      self.showsToken = showsToken
    }
  }

  /// Reads the body of a registration.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - installationID: The installation, which the body does not name.
  ///   - appID: The app, which the body does not name.
  /// - Throws: `MessagingServiceError` with the field that is wrong.
  public static func registration(
    _ body: [UInt8], installationID: String, appID: String
  ) throws(MessagingServiceError) -> Registration {
    let object: JSONObject
    do { object = try JSONObject(json: body, limits: limits) } catch { throw .invalid("body", "\(error)") }
    var found: Registration?
    for name in ["web", "ios", "android", "vesta"] {
      guard let part = object[name]?.object else { continue }
      guard found == nil else { throw .invalid(name, "A registration has one platform.") }
      var request = RegisterRequest(installationID: installationID, platform: name, appID: appID)
      if name == "vesta" {
        try read(part, into: &request)
      } else {
        request.pushAddress = try PushAddress(part, platform: name)
      }
      found = Registration(request, showsToken: name == "vesta")
    }
    guard let found else { throw .invalid("web", "A registration names its platform: web, ios, android or vesta.") }
    return found
  }

  /// Reads the part of one of Vesta's own clients.
  private static func read(_ part: JSONObject, into request: inout RegisterRequest) throws(MessagingServiceError) {
    func text(_ name: String) throws(MessagingServiceError) -> String? {
      guard let value = part[name], value != .null else { return nil }
      guard let text = value.string else { throw .invalid("vesta.\(name)", "It is no text.") }
      return text
    }
    guard let platform = try text("platform"), !platform.isEmpty else {
      throw .invalid("vesta.platform", "It is missing.")
    }
    request.platform = platform
    request.senderID = try text("senderId")
    request.currentToken = try text("currentToken")
    request.pushAddress = try text("address").map { PushAddress(text: $0) }
  }

  /// The body of a registration of one of Vesta's own clients.
  public static func body(of request: RegisterRequest) -> [UInt8] {
    var part: JSONObject = ["platform": .string(request.platform)]
    part["senderId"] = request.senderID.map(JSONValue.string)
    part["currentToken"] = request.currentToken.map(JSONValue.string)
    part["address"] = (request.pushAddress?.text).map(JSONValue.string)
    return (try? JSONObject(dictionaryLiteral: ("vesta", .object(part))).json()) ?? []
  }

  /// The body of a registration.
  public static func body(platform: String, address: PushAddress) -> [UInt8] {
    (try? JSONObject(dictionaryLiteral: (platform, .object(address.object))).json()) ?? []
  }

  /// The body of the answer: older clients read the token, newer ones the name.
  public static func body(token: String, installationID: String, project: String) -> [UInt8] {
    let object: JSONObject = [
      "name": .string("projects/\(project)/registrations/\(installationID)"), "token": .string(token),
    ]
    return (try? object.json()) ?? []
  }

  /// The body of the answer with the key by which push services of browsers know the project.
  public static func body(webPushKey key: String) -> [UInt8] {
    (try? JSONObject(dictionaryLiteral: ("vapidKey", .string(key))).json()) ?? []
  }

  /// Reads the answer: the token, or the id of the installation where the service names registrations by it.
  public static func token(_ body: [UInt8]) throws(BytesError) -> String {
    let object = try JSONObject(json: body, limits: limits)
    if let token = object["token"]?.string { return token }
    guard let name = object["name"]?.string?.parts(at: "/"), name.count == 4,
      name[2] == "registrations", !name[3].isEmpty
    else { throw BytesError(.malformed, "the answer has no token and no name") }
    return String(name[3])
  }

  /// The body of an answer with what is known of a registration, as the older API says it.
  ///
  /// The member `vesta` has the facts that the older API has no place for.
  public static func body(of info: RegistrationInfo, token: String, senderID: String) -> [UInt8] {
    var topics = JSONObject()
    for topic in info.topics { topics[topic] = .object(JSONObject()) }
    let object: JSONObject = [
      "application": .string(info.appID), "authorizedEntity": .string(senderID),
      "platform": .string(info.platform.uppercased()), "rel": ["topics": .object(topics)],
      "vesta": [
        "installationId": .string(info.installationID), "token": .string(token), "platform": .string(info.platform),
        "createTime": .string("\(info.createTime)"), "lastSeenTime": .string("\(info.lastSeenTime)"),
      ],
    ]
    return (try? object.json()) ?? []
  }

  /// Reads what is known of a registration.
  ///
  /// Firebase states neither times, which are zero then, nor the token.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - id: The token or the installation that was asked for.
  /// - Returns: The known facts, and the token.
  public static func info(_ body: [UInt8], of id: String) throws(BytesError) -> (RegistrationInfo, token: String?) {
    let object = try JSONObject(json: body, limits: limits)
    guard let appID = object["application"]?.string, let platform = object["platform"]?.string else {
      throw BytesError(.malformed, "the answer has no application and no platform")
    }
    let own = object["vesta"]?.object
    func time(_ name: String) -> Int64 { own?[name]?.string.flatMap { Int64($0) } ?? 0 }
    let info = RegistrationInfo(
      installationID: own?["installationId"]?.string ?? String(id.prefix { $0 != ":" }),
      platform: own?["platform"]?.string ?? platform.lowercased(), appID: appID, createTime: time("createTime"),
      lastSeenTime: time("lastSeenTime"), topics: (object["rel"]?.object?["topics"]?.object?.names ?? []).sorted())
    return (info, own?["token"]?.string)
  }
}
