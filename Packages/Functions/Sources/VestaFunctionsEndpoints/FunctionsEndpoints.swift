import VestaFunctionsWire
public import VestaTransportInterop

/// Functions as a server offers them to Firebase's SDKs, to Vesta's remote clients and to every other caller.
///
/// | request | answered by |
/// |---|---|
/// | `POST /{project}/{region}/{name}` of a callable function | `FunctionsBackend.call` |
/// | the same with `accept: text/event-stream` | `FunctionsBackend.stream`, as a response that stays open |
/// | any request for a function that answers requests | `HTTPFunctionsBackend.respond` |
/// | any request for a function that runs elsewhere | the server that ``FunctionPlaces`` names |
///
/// At a host such as `us-central1-demo.cloudfunctions.net` the path begins with the name. It decides nothing about
/// callers: the engine verifies what they sent.
public struct FunctionsEndpoints: EndpointProvider {
  /// The name of the product.
  public let product = "functions"

  private let tuning: FunctionsEndpointsTuning
  private let client: @Sendable () throws -> (any HTTPClient)?

  /// Endpoints.
  ///
  /// - Parameters:
  ///   - tuning: The figures at which the behaviour changes.
  ///   - client: Returns the way to functions that run elsewhere, when the first of them is asked.
  public init(
    tuning: FunctionsEndpointsTuning = FunctionsEndpointsTuning(),
    client: @escaping @Sendable () throws -> (any HTTPClient)? = { nil }
  ) {
    self.tuning = tuning
    self.client = client
  }

  /// Whether the path of a request has a region in its second place.
  public func serves(_ head: HTTPRequestHead) -> Bool {
    guard let path = FunctionRequestPath(target: head.target, authority: "") else { return false }
    return FunctionRequestPath.isRegion(path.function.region)
  }

  /// Makes the handler.
  public func handler(in host: any EndpointHost) -> any HTTPHandler {
    FunctionsHandler(host: host, tuning: tuning, client: client)
  }
}

/// Every figure at which the behaviour of ``FunctionsEndpoints`` changes; tests draw small ones.
public struct FunctionsEndpointsTuning: Sendable, Hashable {
  /// The most bytes of the body of a call.
  public var bodyLimit = 10 << 20

  /// The bytes of a stream that wait to be read at which the function pauses.
  public var streamLimit = 65_536

  /// How long a function that runs elsewhere may take until the head of its response.
  public var proxyTimeout = Duration.seconds(3_600)

  /// How many servers like this one may pass a request on: an address that leads back to the server would go round.
  public var maximumForwards = 4

  /// Figures that suit upstream's clients.
  public init() {}
}

/// Serves the requests of one server.
///
/// Bodies are streams, as it depends on the function how they are read.
struct FunctionsHandler: HTTPHandler {
  let host: any EndpointHost
  let tuning: FunctionsEndpointsTuning
  let client: @Sendable () throws -> (any HTTPClient)?

  func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { .streamed }

  func reply(to request: HTTPRequest) -> HTTPReply {
    guard let path = FunctionRequestPath(target: request.target, authority: request.authority) else {
      return .response(FunctionsExchange.unknown(request))
    }
    return .task { await FunctionsExchange(self, request, path).response() }
  }
}
