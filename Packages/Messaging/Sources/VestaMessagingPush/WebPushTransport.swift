import VestaBytes
import VestaConcurrency
public import VestaCryptoInterop
public import VestaMessagingBackend
import VestaServiceInterop
public import VestaStoreInterop
public import VestaTransportInterop

/// Delivers messages to browsers by their push services (RFC 8030), encrypted for the browser.
///
/// Endpoints are `https` and on a host of the public internet, unless
/// ``MessagingPushOptions/allowsLocalEndpoints`` says otherwise. A redirect is never followed: it would send a message
/// where the browser did not ask for it.
public final class WebPushTransport: PushTransport, WebPushKeySource {
  /// Browsers.
  public let platforms: Set<String> = ["web"]

  private let project: String
  private let crypto: any CryptoProvider
  private let options: MessagingPushOptions
  private let client: @Sendable () throws -> (any HTTPClient)?
  private let store: LazyResource<any OrderedStore>
  private let keys: VAPIDKeyRing

  /// A transport; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - project: The project, for messages.
  ///   - crypto: The cryptography.
  ///   - options: The settings; their client has precedence.
  ///   - client: The client of HTTP.
  ///   - openStore: Opens the store of the key, at the first call.
  public init(
    project: String, crypto: any CryptoProvider, options: MessagingPushOptions = MessagingPushOptions(),
    client: @escaping @Sendable () throws -> (any HTTPClient)?,
    openStore: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    (self.project, self.crypto, self.options) = (project, crypto, options)
    self.client = options.client ?? client
    let closed = MessagingServiceError(.unavailable, "The delivery to browsers was shut down.")
    let store = LazyResource<any OrderedStore>(whenClosed: closed, open: openStore) { try await $0.close() }
    self.store = store
    keys = VAPIDKeyRing(crypto: crypto) { try await store.get() }
  }

  /// Closes the store of the key.
  ///
  /// - Throws: `StoreError` when it could not be closed well.
  public func close() async throws { try await store.close() }

  /// The public key of the project.
  public func publicKey() async throws(MessagingServiceError) -> String {
    do { return try VAPIDHeader.publicKey(of: try await keys.key()) } catch { throw Self.failure(error) }
  }

  /// The push service of a subscription: the host and port of its endpoint.
  public func service(of address: PushAddress) -> String {
    guard case .webPush(let address) = address else { return "" }
    return HTTPURL(address.endpoint)?.authority ?? ""
  }

  /// Checks a subscription: its parts, that its key is on the curve, and that it was made for the key of the project.
  public func check(_ address: PushAddress) async throws(MessagingServiceError) {
    let subscription = try subscription(address)
    do { _ = try crypto.agreementKey().sharedSecret(with: subscription.point) } catch { throw Self.failure(error) }
    guard try await publicKey() == subscription.applicationKey else {
      throw .invalid(
        "web.application_pub_key",
        """
        The subscription is for another server: use your own vapidKey in getToken(), the one that \
        GET /v1/projects/\(project)/webPushKey returns.
        """)
    }
  }

  /// Encrypts a message and posts it to the push service of a subscription.
  public func push(_ delivery: PushDelivery, to address: PushAddress) async throws(MessagingServiceError) {
    let subscription = try subscription(address)
    do {
      guard let client = try client() else {
        throw MessagingServiceError(.unavailable, "There is no client of HTTP to reach push services with.")
      }
      let request = try await request(for: delivery, to: subscription)
      if let failure = try await post(request, client, to: subscription) { throw failure }
    } catch {
      throw Self.failure(error)
    }
  }

  private func subscription(_ address: PushAddress) throws(MessagingServiceError) -> WebPushSubscription {
    try WebPushSubscription(address, allowsLocal: options.allowsLocalEndpoints)
  }

  /// Posts a message, and returns the failure that the response means.
  ///
  /// The status counts as soon as it is there: a message that was accepted is not sent again because of a body that
  /// never ends.
  private func post(
    _ request: HTTPRequest, _ client: any HTTPClient, to subscription: WebPushSubscription
  ) async throws -> MessagingServiceError? {
    let (clock, timeout) = (options.clock, options.timeout)
    let end = clock.now() + timeout.microseconds
    let response = try await client.send(request, timeout: timeout)
    // Read to its end, so that the connection can be used again.
    let body = try? await ServiceBoundary<MessagingServiceError>(clock: clock).serve(CallContext(deadline: end)) { _ in
      try await response.body.collect(upTo: 4_096)
    }
    if body == nil { response.body.stream.cancel() }
    return Self.failure(response, body ?? [], at: subscription.endpoint)
  }

  private func request(
    for delivery: PushDelivery, to subscription: WebPushSubscription
  ) async throws -> HTTPRequest {
    let payload = WebPushPayload.json(of: delivery)
    guard payload.count <= WebPushCipher.maximumPayload else { throw Self.tooLarge }
    let body = try WebPushCipher(crypto: crypto).encrypt(
      payload, for: subscription.point, authentication: subscription.authentication)
    var fields: HTTPFields = [
      "ttl": "\(Int(delivery.settings.timeToLive.rounded(.up)))", "content-encoding": "aes128gcm",
      "urgency": Self.urgency(of: delivery), .contentType: "application/octet-stream",
    ]
    if let key = delivery.settings.collapseKey { fields.append("topic", try topic(key)) }
    fields.append(
      .authorization,
      try VAPIDHeader.value(
        for: subscription.endpoint, subject: options.subject, key: try await keys.key(),
        now: options.clock.seconds()))
    var request = HTTPRequest(.post, subscription.endpoint, fields: fields, body: .bytes(body))
    request.isForPublicHosts = !options.allowsLocalEndpoints
    return request
  }

  private static func urgency(of delivery: PushDelivery) -> String {
    let headers = delivery.message.webpush?["headers"]?.object
    if let word = (headers?["Urgency"] ?? headers?["urgency"])?.string,
      ["very-low", "low", "normal", "high"].contains(word)
    {
      return word
    }
    return delivery.settings.isHighPriority ? "high" : "normal"
  }

  /// A key of messages that replace each other, in the form that push services accept.
  private func topic(_ key: String) throws(CryptoError) -> String {
    let isFine = (1...32).contains(key.utf8.count) && key.utf8.allSatisfy(Self.topicBytes.contains)
    return isFine ? key : String(Base64.url.encode(try crypto.digest(.sha256, of: Array(key.utf8))).prefix(32))
  }

  private static let topicBytes = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
