import VestaRemoteConfigBackend
import VestaRemoteConfigWire
public import VestaTransportInterop

/// The configuration service as a server offers it to Firebase's SDKs, to Vesta's remote clients and to tools of the
/// administration.
///
/// | route | answered by |
/// |---|---|
/// | `POST …/namespaces/N:fetch` | `RemoteConfigBackend.fetch` |
/// | `POST …/namespaces/N:streamFetchInvalidations` | `listenForInvalidations`, as a response that stays open |
/// | `GET`, `PUT …/remoteConfig`, `:rollback`, `:listVersions`, `:downloadDefaults` | `RemoteConfigAdminBackend` |
/// | `…/namespaces/firebase-server/serverRemoteConfig` | the same, in the namespace of servers |
///
/// It decides nothing about callers: the engine verifies what they sent.
public struct RemoteConfigEndpoints: EndpointProvider {
  /// The name of the product.
  public let product = "remoteconfig"

  private let tuning: RemoteConfigEndpointsTuning

  /// Endpoints.
  ///
  /// - Parameter tuning: The figures at which the behaviour changes.
  public init(tuning: RemoteConfigEndpointsTuning = RemoteConfigEndpointsTuning()) { self.tuning = tuning }

  /// Whether a request, or the question of a browser before it, has a route of the service.
  public func serves(_ head: HTTPRequestHead) -> Bool {
    let method = head.method == .options ? head.fields.first("access-control-request-method") : head.method.name
    do {
      return try RemoteConfigRoute(method: method ?? "", target: head.target) != nil
    } catch {
      return true
    }
  }

  /// Makes the handler.
  ///
  /// Apple's SDK compresses its requests: the server has to read gzip.
  public func handler(in host: any EndpointHost) -> any HTTPHandler {
    let streams = InvalidationStreams(clock: host.clock, tuning: tuning)
    host.onShutDown { [weak streams] in streams?.end() }
    return RESTHandler.make(
      bodyLimit: tuning.bodyLimit, compression: host.compression, rules: CrossOriginRules(exposedFields: ["etag"])
    ) { error, request in
      RemoteConfigExchange.failure(error, of: request)
    } serve: { request in
      try await RemoteConfigExchange(request, host, streams).response()
    }
  }
}

/// Every figure at which the behaviour of ``RemoteConfigEndpoints`` changes; tests draw small ones.
public struct RemoteConfigEndpointsTuning: Sendable, Hashable {
  /// The most bytes of a body, also when it is decompressed; the values of a template have a million characters.
  public var bodyLimit = 8 << 20

  /// The time after which a connection for newer templates ends in order; Apple's SDK takes one that lasts for 330 s
  /// for a failure.
  public var streamLength = Duration.seconds(300)

  /// The shortest time between two messages of a connection: clients read one of several that arrive together.
  public var messageSpacing = Duration.milliseconds(50)

  /// The time after which the newest message is sent once more, for clients that missed it.
  public var messageRepetition = Duration.seconds(5)

  /// The bytes that wait for a client from which on it gets no further message.
  public var streamBacklog = 4_096

  /// Figures that suit upstream's clients.
  public init() {}
}
