import VestaBytes
import VestaConcurrency
public import VestaCryptoInterop
public import VestaMessagingBackend
import VestaServiceInterop
public import VestaStoreInterop
public import VestaTransportInterop

/// Delivers messages to browsers by their push services (RFC 8030), encrypted for the browser.
///
/// Endpoints are `https`; `http` is accepted on this machine alone, for tests. A redirect is never followed: it would
/// send a message where the browser did not ask for it.
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

  /// Checks a subscription: its parts, and that it was made for the key of the project.
  public func check(_ address: String) async throws(MessagingServiceError) {
    let subscription = try WebPushSubscription(address)
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
  public func push(_ delivery: PushDelivery, to address: String) async throws(MessagingServiceError) {
    let subscription = try WebPushSubscription(address)
    do {
      guard let client = try client() else {
        throw MessagingServiceError(.unavailable, "There is no client of HTTP to reach push services with.")
      }
      let request = try await request(for: delivery, to: subscription)
      let response = try await client.send(request, timeout: options.timeout)
      // Read to its end, so that the connection can be used again.
      let body = (try? await response.body.collect(upTo: 4_096)) ?? []
      if let failure = Self.failure(response, body, at: subscription.endpoint) { throw failure }
    } catch {
      throw Self.failure(error)
    }
  }

  private func request(
    for delivery: PushDelivery, to subscription: WebPushSubscription
  ) async throws -> HTTPRequest {
    let payload = WebPushPayload.json(of: delivery)
    guard payload.count <= WebPushCipher.maximumPayload else { throw Self.tooLarge }
    let body = try WebPushCipher(crypto: crypto).encrypt(
      payload, for: subscription.point, authentication: subscription.authentication)
    var fields: HTTPFields = [
      "ttl": "\(Int(delivery.settings.timeToLive))", "content-encoding": "aes128gcm",
      "urgency": Self.urgency(of: delivery), .contentType: "application/octet-stream",
    ]
    if let key = delivery.settings.collapseKey { fields.append("topic", try topic(key)) }
    fields.append(
      .authorization,
      try VAPIDHeader.value(
        for: subscription.endpoint, subject: options.subject, key: try await keys.key(),
        now: options.clock.seconds()))
    return HTTPRequest(.post, subscription.endpoint, fields: fields, body: .bytes(body))
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
