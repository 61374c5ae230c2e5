public import VestaFirestoreWire
public import VestaTransportInterop

/// The routes of `google.firestore.v1`: gRPC and REST on one port, and the calls of the Emulator Suite.
///
/// ```swift
/// let handler = FirestoreEndpoints().handler(in: host)
/// let listener = try await server.listen(at: .internet(host: "127.0.0.1", port: 8080), handler: handler)
/// ```
///
/// Databases are those of the project that a call's resource name says. What a caller may do is decided by the engine
/// behind `FirestoreBackend`: it gets the credential as it came.
public struct FirestoreEndpoints: EndpointProvider {
  private let tuning: FirestoreEndpointTuning

  /// The routes.
  ///
  /// - Parameter tuning: The limits.
  public init(tuning: FirestoreEndpointTuning = FirestoreEndpointTuning()) { self.tuning = tuning }

  /// "firestore".
  public var product: String { "firestore" }

  /// Whether a request is one of Firestore's.
  public func serves(_ head: HTTPRequestHead) -> Bool {
    let path = head.target.utf8.prefix { $0 != UInt8(ascii: "?") }
    if path.starts(with: "/google.firestore.v1.Firestore/".utf8) { return true }
    let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    if parts.count > 5, parts[1].elementsEqual("v1".utf8) {
      return parts[2].elementsEqual("projects".utf8) && parts[4].elementsEqual("databases".utf8)
    }
    return EmulatorCall(method: head.method, target: head.target) != nil
  }

  /// The handler of the requests.
  ///
  /// Pages of all origins may use it, as nothing in it goes by cookies.
  public func handler(in host: any EndpointHost) -> any HTTPHandler {
    let handler = FirestoreHandler(host, tuning)
    host.onShutDown { handler.endStreams() }
    return CrossOriginHandler(
      rules: CrossOriginRules(
        origins: .all, exposedFields: ["x-http-session-id", "x-client-wire-protocol", "x-http-initial-response"],
        allowsCredentials: true, allowsPrivateNetwork: true),
      handler)
  }
}

/// The limits of the routes; small in tests.
public struct FirestoreEndpointTuning: Sendable {
  /// The largest request, in bytes; the service allows 10 MiB.
  public var requestBytes = 11 << 20

  /// The number of bytes of responses that are gathered before they are sent at once.
  public var batchBytes = 32_768

  /// The number of bytes of responses that wait for a slow caller before reading pauses; the version that a call reads
  /// is held for as long as it pauses.
  public var waitingBytes = 8 << 20

  /// The largest response over REST, in bytes; a larger one is `RESOURCE_EXHAUSTED`.
  public var responseBytes = 64 << 20

  /// The number of requests of a stream that wait for the engine before no more are read.
  public var pendingRequests = 16

  /// The channels of browsers that may be open; one more is refused.
  public var webChannels = 10_000

  /// The figures of a channel; a browser confirms what it has with its next request, so large results need room.
  public var webChannel = largeWebChannel

  /// The pause after which a channel says something to a browser that waits; a session that nobody asks for ends after
  /// twice as long.
  public var keepAlive = Duration.seconds(30)

  /// The defaults.
  public init() {}

  private static var largeWebChannel: WebChannelMachine.Tuning {
    var tuning = WebChannelMachine.Tuning()
    tuning.maximumUnconfirmedBytes = 32 << 20
    return tuning
  }
}
