public import VestaBytes
public import VestaMessagingBackend

/// The bodies of `registrations`, and back.
///
/// | part | of a browser | of an app of Apple's systems |
/// |---|---|---|
/// | platform | `web` | `ios` |
/// | address | `endpoint`, `auth`, `p256dh`, `applicationPubKey`, `origin` | `apns_token`, `apns_environment`, `bundle_id` |
public enum RegistrationWire {
  /// The bounds of bodies.
  public static let limits = JSONLimits(maximumDepth: 16, maximumSize: 1 << 16)

  /// Reads the body of a registration.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - installationID: The installation, which the body does not name.
  ///   - appID: The app, which the body does not name.
  /// - Throws: `MessagingServiceError` with the field that is wrong.
  public static func request(
    _ body: [UInt8], installationID: String, appID: String
  ) throws(MessagingServiceError) -> RegisterRequest {
    let object: JSONObject
    do { object = try JSONObject(json: body, limits: limits) } catch { throw .invalid("body", "\(error)") }
    var request = RegisterRequest(installationID: installationID, platform: "", appID: appID)
    for name in ["web", "ios", "android"] {
      guard let part = object[name]?.object else { continue }
      guard request.platform.isEmpty else { throw .invalid(name, "A registration has one platform.") }
      request.platform = name
      request.pushAddress = try PushAddress(part, platform: name).text
    }
    guard !request.platform.isEmpty else {
      throw .invalid("web", "A registration names its platform: web, ios or android.")
    }
    return request
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

  /// Reads the answer: the token.
  public static func token(_ body: [UInt8]) throws(BytesError) -> String {
    guard let token = try JSONObject(json: body, limits: limits)["token"]?.string else {
      throw BytesError(.malformed, "the answer has no token")
    }
    return token
  }

  /// The body of an answer with what is known of a registration, as the older API says it.
  public static func body(of info: RegistrationInfo, senderID: String) -> [UInt8] {
    var topics = JSONObject()
    for topic in info.topics { topics[topic] = .object(JSONObject()) }
    let object: JSONObject = [
      "application": .string(info.appID), "authorizedEntity": .string(senderID),
      "platform": .string(info.platform.uppercased()), "rel": ["topics": .object(topics)],
    ]
    return (try? object.json()) ?? []
  }
}
