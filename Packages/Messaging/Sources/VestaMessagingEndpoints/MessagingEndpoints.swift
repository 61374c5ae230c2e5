import VestaMessagingWire
public import VestaTransportInterop

/// The messaging service as a server offers it to Firebase's SDKs, Admin SDKs and Vesta's own clients.
///
/// | route | answered by |
/// |---|---|
/// | `POST …/messages:send` | `MessagingAdminBackend.send` |
/// | `POST …/registrations`, `PATCH`, `DELETE …/registrations/R` | `MessagingBackend.register`, `unregister` |
/// | `…/registrations/R/topicSubscriptions…`, `iid/v1:batchAdd`, `iid/v1:batchRemove` | subscriptions |
/// | `GET iid/info/R` | `MessagingAdminBackend.registration` |
/// | `GET …/webPushKey` | `WebPushKeySource.publicKey`, which is no secret |
/// | `POST …/registrations:connect`, `…:acknowledge` | `MessagingBackend.connect`, as events, and `acknowledge` |
/// | `GET emulator/v1/projects/P/messages`, `…/messages:statistics` | `MessagingAdminBackend.outbox`, `statistics` |
///
/// Whom a registration belongs to is said by the token of its installation, which `InstallationsVerifier` verifies; the
/// rest is decided by the engine.
public struct MessagingEndpoints: EndpointProvider {
  /// The name of the product.
  public let product = "messaging"

  private let tuning: MessagingEndpointsTuning

  /// Endpoints.
  ///
  /// - Parameter tuning: The figures at which the behaviour changes.
  public init(tuning: MessagingEndpointsTuning = MessagingEndpointsTuning()) { self.tuning = tuning }

  /// Whether a request, or the question of a browser before it, has a route of the service.
  public func serves(_ head: HTTPRequestHead) -> Bool {
    let method = head.method == .options ? head.fields.first("access-control-request-method") : head.method.name
    do {
      return try MessagingRoute(method: method ?? "", target: head.target) != nil
    } catch {
      return true
    }
  }

  /// Makes the handler.
  public func handler(in host: any EndpointHost) -> any HTTPHandler {
    let streams = DeliveryStreams(keepAlive: tuning.keepAlive, clock: host.clock)
    host.onShutDown { [weak streams] in streams?.end() }
    return RESTHandler.make(bodyLimit: tuning.bodyLimit, compression: host.compression) { error, request in
      MessagingExchange.failure(error, of: request)
    } serve: { request in
      try await MessagingExchange(request, host, streams).response()
    }
  }
}

/// Every figure at which the behaviour of ``MessagingEndpoints`` changes; tests draw small ones.
public struct MessagingEndpointsTuning: Sendable, Hashable {
  /// The most bytes of a body: a thousand tokens for a topic.
  public var bodyLimit = 1 << 20

  /// The time between two signs of life on a connection: clients take one that is silent for long as lost.
  public var keepAlive: Duration = .seconds(45)

  /// Figures that suit upstream's clients.
  public init() {}
}
