public import VestaBytes

/// The address of a registration that is not connected, for a ``PushTransport``.
///
/// ```swift
/// let device = APNsAddress(token: "00ff", bundleID: "com.example.chat")
/// let request = RegisterRequest(installationID: id, platform: "ios", appID: app, pushAddress: .apns(device))
/// ```
public enum PushAddress: Sendable, Hashable, ExpressibleByStringLiteral {
  /// A subscription of a browser.
  case webPush(WebPushAddress)
  /// A device of Apple's systems.
  case apns(APNsAddress)
  /// Any other text.
  case other(String)

  /// Reads an address.
  public init(text: String) {
    let object = text.hasPrefix("{") ? try? JSONObject(json: Array(text.utf8)) : nil
    if let web = object.flatMap(WebPushAddress.init) {
      self = .webPush(web)
    } else if let device = object.flatMap(APNsAddress.init) {
      self = .apns(device)
    } else {
      self = .other(text)
    }
  }

  /// Reads an address.
  public init(stringLiteral text: String) { self.init(text: text) }

  /// Reads the address of a registration in the form of its API.
  ///
  /// - Parameters:
  ///   - object: The part of the registration for its platform.
  ///   - platform: The name of the part.
  /// - Throws: ``MessagingServiceError`` for a browser without a subscription, and a device of Apple's without a token.
  public init(_ object: JSONObject, platform: String) throws(MessagingServiceError) {
    switch platform {
    case "web":
      guard let web = WebPushAddress(object) else {
        throw .invalid("web", "A subscription has an endpoint, auth and p256dh.")
      }
      self = .webPush(web)
    case "ios":
      guard let device = APNsAddress(object) else { throw .invalid("ios", "A device has an apns_token.") }
      self = .apns(device)
    default: self = .other((try? String(decoding: object.json(), as: UTF8.self)) ?? "")
    }
  }

  /// The address as text, as it is stored; ``init(text:)`` reads it.
  public var text: String {
    if case .other(let text) = self { return text }
    return (try? String(decoding: object.json(), as: UTF8.self)) ?? ""
  }

  /// The address in the form of the API of registrations.
  public var object: JSONObject {
    switch self {
    case .webPush(let web): web.object
    case .apns(let device): device.object
    case .other(let text): ["address": .string(text)]
    }
  }
}

/// A subscription of a browser, as its push service made it.
public struct WebPushAddress: Sendable, Hashable {
  /// The URL to which messages are posted.
  public var endpoint: String
  /// The secret of the subscription, in base64url.
  public var auth: String
  /// The public key of the browser, in base64url.
  public var p256dh: String
  /// The public key of the server that may send; `nil` for Google's, whose private part Google alone has.
  public var applicationKey: String?
  /// The host of the page.
  public var origin: String?

  /// A subscription.
  public init(endpoint: String, auth: String, p256dh: String, applicationKey: String? = nil, origin: String? = nil) {
    self.endpoint = endpoint
    self.auth = auth
    self.p256dh = p256dh
    self.applicationKey = applicationKey
    self.origin = origin
  }

  init?(_ object: JSONObject) {
    guard let endpoint = object["endpoint"]?.string, let auth = object["auth"]?.string,
      let key = object["p256dh"]?.string, !endpoint.isEmpty
    else { return nil }
    let applicationKey = object["applicationPubKey"]?.string ?? object["application_pub_key"]?.string
    self.init(
      endpoint: endpoint, auth: auth, p256dh: key, applicationKey: applicationKey, origin: object["origin"]?.string)
  }

  var object: JSONObject {
    var object: JSONObject = ["endpoint": .string(endpoint), "auth": .string(auth), "p256dh": .string(p256dh)]
    object["applicationPubKey"] = applicationKey.map(JSONValue.string)
    object["origin"] = origin.map(JSONValue.string)
    return object
  }
}

/// A device of Apple's systems.
public struct APNsAddress: Sendable, Hashable {
  /// The token of the device, in hexadecimal digits.
  public var token: String
  /// Whether the token is one for development.
  public var isSandbox: Bool
  /// The identifier of the app.
  public var bundleID: String?

  /// A device.
  public init(token: String, isSandbox: Bool = false, bundleID: String? = nil) {
    self.token = token
    self.isSandbox = isSandbox
    self.bundleID = bundleID
  }

  init?(_ object: JSONObject) {
    guard let token = (object["apns_token"] ?? object["apnsToken"])?.string, !token.isEmpty else { return nil }
    let environment = (object["apns_environment"] ?? object["apnsEnvironment"])?.string
    self.init(
      token: token, isSandbox: environment == "SANDBOX",
      bundleID: (object["bundle_id"] ?? object["bundleId"])?.string)
  }

  var object: JSONObject {
    var object: JSONObject = [
      "apns_token": .string(token), "apns_environment": isSandbox ? "SANDBOX" : "PROD",
    ]
    object["bundle_id"] = bundleID.map(JSONValue.string)
    return object
  }
}
