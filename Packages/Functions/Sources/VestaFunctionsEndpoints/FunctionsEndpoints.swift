public import VestaEventsInterop
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
/// | `/functions/projects/{project}/triggers/{key}` | registrations of functions that have events |
/// | `/functions/…` and `/backends` otherwise | the server that ``FunctionPlaces`` names for all functions |
///
/// At a host such as `us-central1-demo.cloudfunctions.net` the path begins with the name. It decides nothing about
/// callers: the engine verifies what they sent.
public struct FunctionsEndpoints: EndpointProvider {
  /// The name of the product.
  public let product = "functions"

  private let tuning: FunctionsEndpointsTuning
  private let client: @Sendable () throws -> (any HTTPClient)?
  private let forms: @Sendable () -> [any EventTriggerForm]

  /// Endpoints.
  ///
  /// - Parameters:
  ///   - tuning: The figures at which the behaviour changes.
  ///   - client: Returns the way to functions that run elsewhere, when the first of them is asked.
  ///   - forms: Returns the forms of events of all products.
  public init(
    tuning: FunctionsEndpointsTuning = FunctionsEndpointsTuning(),
    client: @escaping @Sendable () throws -> (any HTTPClient)? = { nil },
    forms: @escaping @Sendable () -> [any EventTriggerForm] = { [] }
  ) {
    self.tuning = tuning
    self.forms = forms
    self.client = client
  }

  /// Whether the path of a request has a region in its second place.
  public func serves(_ head: HTTPRequestHead) -> Bool {
    if TriggerPath(target: head.target) != nil { return true }
    guard let path = FunctionRequestPath(target: head.target, authority: "") else { return false }
    return FunctionRequestPath.isRegion(path.function.region)
  }

  /// Makes the handler.
  public func handler(in host: any EndpointHost) -> any HTTPHandler {
    FunctionsHandler(host: host, tuning: tuning, forms: forms, client: client)
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

  /// How long a function that is called with an event may take until the head of its response.
  public var triggerTimeout = Duration.seconds(600)

  /// The most bytes of the response of such a function that are read, so that its connection can be used again.
  public var triggerResponseLimit = 1 << 20

  /// Figures that suit upstream's clients.
  public init() {}
}

/// Serves the requests of one server.
///
/// Bodies are streams, as it depends on the function how they are read.
struct FunctionsHandler: HTTPHandler {
  let host: any EndpointHost
  let tuning: FunctionsEndpointsTuning
  let forms: @Sendable () -> [any EventTriggerForm]
  let client: @Sendable () throws -> (any HTTPClient)?

  func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { .streamed }

  func reply(to request: HTTPRequest) -> HTTPReply {
    if let path = TriggerPath(target: request.target) {
      let call = TriggerCall(host: host, forms: forms())
      return call.reply(to: request, path, limit: tuning.bodyLimit) ?? passOn(request, of: path.project)
    }
    if request.path == "/backends" { return passOn(request, of: host.defaultProject) }
    guard let path = FunctionRequestPath(target: request.target, authority: request.authority) else {
      return .response(FunctionsExchange.unknown(request))
    }
    return .task { await FunctionsExchange(self, request, path).response() }
  }

  /// Passes a request on to the program that has all functions.
  private func passOn(_ request: HTTPRequest, of project: String) -> HTTPReply {
    guard let url = (try? host.backend(FunctionPlaces.self, project: project))?.everywhere else {
      return .response(FunctionsExchange.unknown(request))
    }
    return .task {
      do {
        return try await FunctionProxy(self).forward(request, to: url, FunctionPlaces.join(url.target, request.target))
      } catch {
        return FunctionsExchange.failure(error)
      }
    }
  }
}
