import VestaBytes
import VestaInstallationsBackend
import VestaInstallationsWire
import VestaServiceInterop
public import VestaTransportInterop

/// The service of installations as a server offers it to Firebase's SDKs.
///
/// | route | answered by |
/// |---|---|
/// | `POST …/installations` | `InstallationsBackend.create` |
/// | `POST …/installations/FID/authTokens:generate` | `generateToken` |
/// | `DELETE …/installations/FID` | `delete` |
///
/// Clients keep away for a day after 400 and 403, and throw their installation away after 401 and 404: what is not
/// theirs to mend is answered by 500 and 503.
public struct InstallationsEndpoints: EndpointProvider {
  /// The name of the product.
  public let product = "installations"

  /// Endpoints.
  public init() {}

  /// Whether a request, or the question of a browser before it, has a route of the service.
  public func serves(_ head: HTTPRequestHead) -> Bool {
    let method = head.method == .options ? head.fields.first("access-control-request-method") : head.method.name
    return (try? InstallationsRoute(method: method ?? "", target: head.target)) != nil
  }

  /// Makes the handler.
  public func handler(in host: any EndpointHost) -> any HTTPHandler {
    RESTHandler.make(bodyLimit: InstallationsWire.limits.maximumSize, compression: host.compression) { error, _ in
      error is BytesError ? .failure(ServiceStatus(.invalidArgument, "\(error)")) : .failure(for: error)
    } serve: { request in
      try await response(to: request, host)
    }
  }

  private func response(to request: RESTRequest, _ host: any EndpointHost) async throws -> HTTPResponse {
    let http = request.http
    guard let route = try InstallationsRoute(method: http.method.name, target: http.target) else {
      throw ServiceStatus(.notFound, "Installations has no call \(http.method) \(http.path).")
    }
    let backend = try host.backend((any InstallationsBackend).self, project: route.project)
    let context = CallContext(http, project: route.project, clock: host.clock)
    switch route.call {
    case .create:
      let made = try await backend.create(try InstallationsWire.creation(request.body), context: context)
      return .json(InstallationsWire.body(of: made, project: route.project))
    case .generateToken(let id):
      let token = try await backend.generateToken(id: id, refreshToken: try secret(http), context: context)
      return .json(InstallationsWire.body(of: token))
    case .delete(let id):
      try await backend.delete(id: id, refreshToken: try secret(http), context: context)
      return .json(Array("{}".utf8))
    }
  }

  private func secret(_ request: HTTPRequest) throws -> String {
    guard let secret = InstallationsWire.refreshToken(authorization: request.fields.first(.authorization)) else {
      throw ServiceStatus(.unauthenticated, "The field authorization has no refresh token: FIS_v2 and the token.")
    }
    return secret
  }
}
