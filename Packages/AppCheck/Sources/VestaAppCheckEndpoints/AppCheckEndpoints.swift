import VestaAppCheckBackend
import VestaAppCheckWire
import VestaBytes
import VestaServiceInterop
public import VestaTransportInterop

/// The service of App Check as a server offers it to Firebase's SDKs and Admin SDKs.
///
/// | route | answered by |
/// |---|---|
/// | `POST …/apps/APP:exchangeDebugToken`, `:exchangeCustomToken` | `AppCheckBackend.exchange` |
/// | `POST …/apps/APP/debugTokens`, `DELETE …/debugTokens/SECRET` | `addDebugSecret`, `removeDebugSecret` |
/// | `POST …/projects/P:verifyAppCheckToken` | `verify`, which consumes |
/// | `GET /v1/jwks`, `…/projects/P/jwks` | `keys`, of the usual project and of another one |
public struct AppCheckEndpoints: EndpointProvider {
  /// The name of the product.
  public let product = "appcheck"

  /// Endpoints.
  public init() {}

  /// Whether a request, or the question of a browser before it, has a route of the service.
  public func serves(_ head: HTTPRequestHead) -> Bool {
    let method = head.method == .options ? head.fields.first("access-control-request-method") : head.method.name
    return (try? AppCheckRoute(method: method ?? "", target: head.target)) != nil
  }

  /// Makes the handler.
  public func handler(in host: any EndpointHost) -> any HTTPHandler {
    RESTHandler.make(bodyLimit: AppCheckWire.limits.maximumSize, compression: host.compression) { error, _ in
      error is BytesError ? .failure(ServiceStatus(.invalidArgument, "\(error)")) : .failure(for: error)
    } serve: { request in
      try await response(to: request, host)
    }
  }

  private func response(to request: RESTRequest, _ host: any EndpointHost) async throws -> HTTPResponse {
    let http = request.http
    guard let route = try AppCheckRoute(method: http.method.name, target: http.target) else {
      throw ServiceStatus(.notFound, "App Check has no call \(http.method) \(http.path).")
    }
    let project = route.project ?? host.defaultProject
    let backend = try host.backend((any AppCheckBackend).self, project: project)
    let context = CallContext(http, project: project, clock: host.clock)
    switch route.call {
    case .exchange(let kind, let appID):
      let proof = try AppCheckWire.proof(request.body, kind)
      return .json(AppCheckWire.body(of: try await backend.exchange(proof, appID: appID, context: context)))
    case .addDebugSecret(let appID):
      try await backend.addDebugSecret(try AppCheckWire.secret(request.body), appID: appID, context: context)
      return Self.nothing
    case .removeDebugSecret(let appID, let secret):
      try await backend.removeDebugSecret(secret, appID: appID, context: context)
      return Self.nothing
    case .consume:
      let token = try AppCheckWire.consumed(request.body)
      return .json(AppCheckWire.body(of: try await backend.verify(token: token, consumes: true, context: context)))
    case .keys:
      return .json(try await backend.keys(context: context).json(), fields: [.cacheControl: "public, max-age=21600"])
    }
  }

  private static let nothing = HTTPResponse.json(Array("{}".utf8))
}
