/// A way to reach registrations that are not connected: APNs, web push, or forwarding to FCM.
///
/// Promises of every implementation (`PushTransportContracts` checks them):
/// - A push that has returned normally was handed over to the platform's service.
/// - An address that no longer exists is reported as `unregistered`, every time.
/// - Pushes may be made from many tasks at once.
public protocol PushTransport: Sendable {
  /// The platforms whose registrations it reaches, such as `ios`.
  var platforms: Set<String> { get }

  /// Hands a message over to the platform's service.
  ///
  /// - Parameters:
  ///   - delivery: The message.
  ///   - address: Where the registration is reached, as it was registered.
  /// - Throws: `unregistered` when the address no longer exists: the registration is removed then. `unavailable`
  ///   when it is to be tried again later, after `retryAfter` of the error where it has one. After every other error
  ///   it is not tried again.
  func push(_ delivery: PushDelivery, to address: PushAddress) async throws(MessagingServiceError)

  /// Checks an address before it is registered.
  ///
  /// - Parameter address: The address, as it is to be registered.
  /// - Throws: `invalidArgument` for an address that it can never reach: it is not registered then.
  func check(_ address: PushAddress) async throws(MessagingServiceError)

  /// The service of the platform that reaches an address, such as the host of an endpoint.
  ///
  /// Pushes to one service do not wait for those to another one, which may be slow.
  ///
  /// - Parameter address: The address, as it was registered; any one.
  func service(of address: PushAddress) -> String
}

extension PushTransport {
  /// One service for all addresses.
  public func service(of address: PushAddress) -> String { "" }

  /// Accepts every address.
  public func check(_ address: PushAddress) async throws(MessagingServiceError) {}
}

/// The key by which push services of browsers know the server of a project (VAPID, RFC 8292).
public protocol WebPushKeySource: Sendable {
  /// The public key as an uncompressed point on P-256 in base64url: the `vapidKey` of the web SDK's `getToken`.
  ///
  /// - Throws: `unavailable` when the key cannot be read now.
  func publicKey() async throws(MessagingServiceError) -> String
}
