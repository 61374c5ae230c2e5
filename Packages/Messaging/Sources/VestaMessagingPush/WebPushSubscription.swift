import VestaBytes
import VestaMessagingBackend
import VestaTransportInterop

/// A subscription of a browser whose parts were checked.
struct WebPushSubscription: Sendable {
  let endpoint: HTTPURL
  let point: [UInt8]
  let authentication: [UInt8]
  /// The key of the server that may send, without padding.
  let applicationKey: String?

  /// Reads the address of a registration.
  ///
  /// - Parameters:
  ///   - address: The address.
  ///   - allowsLocal: Whether the endpoint may be on this machine or in its network.
  /// - Throws: ``MessagingServiceError`` with the field that is wrong.
  init(_ address: PushAddress, allowsLocal: Bool) throws(MessagingServiceError) {
    guard case .webPush(let address) = address else {
      throw .invalid("web", "A subscription has an endpoint, auth and p256dh.")
    }
    guard let endpoint = HTTPURL(address.endpoint),
      endpoint.scheme == "https" || allowsLocal && Self.isLocal(endpoint)
    else {
      throw .invalid("web.endpoint", "The endpoint is no URL of https.")
    }
    guard allowsLocal || PushServiceHost.isPublic(endpoint.host) else {
      throw .invalid("web.endpoint", "The endpoint is not on a host of the public internet.")
    }
    guard let point = Self.decoded(address.p256dh), point.count == 65, point[0] == 4 else {
      throw .invalid("web.p256dh", "The key is an uncompressed point on P-256 in base64url.")
    }
    guard let authentication = Self.decoded(address.auth), authentication.count == 16 else {
      throw .invalid("web.auth", "The secret has 16 bytes, in base64url.")
    }
    (self.endpoint, self.point, self.authentication) = (endpoint, point, authentication)
    applicationKey = address.applicationKey.map { String($0.prefix { $0 != "=" }) }
  }

  private static func isLocal(_ url: HTTPURL) -> Bool { url.scheme == "http" && url.isLoopback }

  /// Browsers write base64url with padding or without.
  private static func decoded(_ text: String) -> [UInt8]? {
    try? Base64.url.decode(String(text.prefix { $0 != "=" }))
  }
}
