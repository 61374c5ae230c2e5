import VestaBytes
import VestaInstallationsBackend
import VestaRemoteConfigBackend
import VestaRemoteConfigWire
import VestaServiceInterop
import VestaTransportInterop

/// One request and its response: a route, a call of a backend, and JSON.
struct RemoteConfigExchange: Sendable {
  private let request: RESTRequest
  private let host: any EndpointHost
  private let streams: InvalidationStreams
  private let route: RemoteConfigRoute

  /// - Throws: `ServiceStatus` for a target that is not the service's.
  init(_ request: RESTRequest, _ host: any EndpointHost, _ streams: InvalidationStreams) throws {
    guard let route = try RemoteConfigRoute(method: request.http.method.name, target: request.http.target) else {
      throw ServiceStatus(.notFound, "Remote Config has no call \(request.http.method) \(request.http.path).")
    }
    (self.request, self.host, self.streams, self.route) = (request, host, streams, route)
  }

  func response() async throws -> HTTPResponse {
    let context = CallContext(request.http, project: route.project, clock: host.clock)
    switch route.call {
    case .fetch: return try await fetch(context)
    case .invalidations:
      let call = try InvalidationWire.call(body: request.body, namespace: route.namespace)
      return try await streams.open(try backend(), call.request, context)
    case .template(let version):
      return Self.template(try await admin().template(namespace: route.namespace, version: version, context: context))
    case .publish(let isValidateOnly): return try await publish(isValidateOnly, context)
    case .rollback:
      let version = try TemplateWire.rollbackVersion(request.body)
      return Self.template(
        try await admin().rollback(namespace: route.namespace, to: version, user: nil, context: context))
    case .listVersions(let page):
      return .json(try TemplateWire.body(of: try await admin().listVersions(page, context: context)))
    case .downloadDefaults(let format): return try await defaults(format, context)
    }
  }

  /// The response for an error: the status and the envelope of the service.
  static func failure(_ error: any Error, of request: HTTPRequest) -> HTTPResponse {
    switch error {
    case let error as RemoteConfigServiceError:
      let route = try? RemoteConfigRoute(method: request.method.name, target: request.target)
      let status = RemoteConfigErrorWire.status(of: error, on: route?.call ?? .fetch)
      return .failure(
        error.status, httpStatus: HTTPStatus(status), body: RemoteConfigErrorWire.body(of: error, status: status))
    case let error as BytesError: return .failure(ServiceStatus(.invalidArgument, "\(error)"))
    default: return .failure(for: error)
    }
  }

  // MARK: Calls

  private func fetch(_ context: CallContext) async throws -> HTTPResponse {
    let call = try FetchWire.call(
      body: request.body, namespace: route.namespace, etag: request.http.fields.first(Self.name(FetchWire.etagHeader)))
    try await checkInstallation(call.request.instance.installationID)
    let response = try await backend().fetch(call.request, context: context)
    return .json(try FetchWire.body(of: response), fields: [Self.etag: response.etag])
  }

  /// Outside of development an instance that shows a token has to be the one that it says it is.
  private func checkInstallation(_ id: String?) async throws {
    let field = request.http.fields.first(Self.name(InstallationField.name))
    guard !host.isDevelopment, let token = InstallationField.token(field),
      let installations = try? host.backend((any InstallationsVerifier).self, project: route.project)
    else { return }
    let owner = try await installations.verify(token: token, context: CallContext(project: route.project))
    guard owner.id == id else {
      throw ServiceStatus(.unauthenticated, "The token is that of another installation.")
    }
  }

  private func publish(_ isValidateOnly: Bool, _ context: CallContext) async throws -> HTTPResponse {
    let match = request.http.fields.first(Self.name(TemplateWire.matchHeader))
    guard let precondition = TemplateWire.precondition(match: match) else {
      throw ServiceStatus(.invalidArgument, "The field if-match is missing: the ETag of the template to replace, or *.")
    }
    let isNode = request.http.fields["x-firebase-client"]?.contains("fire-admin-node") ?? false
    let publish = PublishRequest(
      namespace: route.namespace, template: try ConfigTemplate(json: request.body), precondition: precondition,
      isValidateOnly: isValidateOnly, origin: isNode ? .adminNode : .restAPI)
    return Self.template(try await admin().publish(publish, context: context))
  }

  private func defaults(_ format: DefaultsFormat, _ context: CallContext) async throws -> HTTPResponse {
    let file = try await admin().downloadDefaults(namespace: route.namespace, format: format, context: context)
    let type =
      switch format {
      case .json: "application/json; charset=utf-8"
      case .xml, .plist: "application/xml; charset=utf-8"
      }
    return HTTPResponse(.ok, fields: [.contentType: type], body: .bytes(file))
  }

  private static func template(_ stored: StoredTemplate) -> HTTPResponse {
    .json(stored.template.json, fields: [etag: stored.etag])
  }

  // MARK: Backends

  private func backend() throws(ServiceStatus) -> any RemoteConfigBackend {
    try host.backend((any RemoteConfigBackend).self, project: route.project)
  }

  private func admin() throws(ServiceStatus) -> any RemoteConfigAdminBackend {
    try host.backend((any RemoteConfigAdminBackend).self, project: route.project)
  }

  private static let etag = name(FetchWire.answerETagHeader)

  private static func name(_ header: String) -> HTTPFieldName { HTTPFieldName(stringLiteral: header) }
}
