import VestaAuthBackend
import VestaAuthWire
import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

/// Sends each request to the call of its target, and makes a response of what the call returns or throws.
struct AuthHandler: HTTPHandler {
  let host: any EndpointHost
  let tuning: AuthEndpointTuning

  func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { .collected(upTo: tuning.requestBytes) }

  func refusal(of head: HTTPRequestHead, limit: Int) -> HTTPResponse {
    var response = AuthResponse.failure(
      AuthServiceError(.invalidArgument, "The request is larger than \(limit) bytes."))
    response.status = HTTPStatus(413)
    return response
  }

  func reply(to request: HTTPRequest) -> HTTPReply {
    if host.isDevelopment, request.path == "/", request.method == .get || request.method == .head {
      return .response(AuthResponse.success(AuthResponse.ready))
    }
    guard
      let target = AuthTarget(method: request.method.name, target: request.target, isDevelopment: host.isDevelopment)
    else {
      return .response(AuthResponse.failure(AuthServiceError(.init("NOT_FOUND"), "There is no such call.")))
    }
    return .task {
      do {
        return try await self.response(to: request, target)
      } catch {
        return AuthResponse.failure(AuthResponse.error(error))
      }
    }
  }

  private func response(to request: HTTPRequest, _ target: AuthTarget) async throws -> HTTPResponse {
    switch target {
    case .accounts(let route):
      return try await AskingClient.$userAgent.withValue(request.fields.first("user-agent")) {
        AuthResponse.success(try await respond(to: request, route))
      }
    case .project(let route):
      let call = try call(request, project: route.project, tenant: route.tenant)
      return AuthResponse.success(try await call.respond(to: route.call))
    case .provider(let route):
      let call = try call(request, project: route.project, tenant: route.tenant)
      return AuthResponse.success(try await call.respond(to: route))
    case .emulator(let route):
      var call = try call(request, project: route.project, tenant: route.tenant)
      call.context.caller = .owner
      return try await AuthEmulatorCall(call: call).respond(to: route.call)
    case .recaptchaConfig: return AuthResponse.success(AuthResponse.noRecaptcha)
    case .recaptchaParams: return AuthResponse.success(AuthResponse.recaptchaParams)
    case .publicKeys: return try await publicKeys(request)
    case .certificates: return try await certificates(request)
    case .absent: throw AuthServiceError(.notImplemented, "The call is not offered.")
    }
  }

  private func publicKeys(_ request: HTTPRequest) async throws -> HTTPResponse {
    let keys = try await call(request, project: nil, tenant: nil).publicKeys()
    return AuthResponse.success(keys.jwks, maximumAge: keys.maximumAge)
  }

  private func certificates(_ request: HTTPRequest) async throws -> HTTPResponse {
    let keys = try await call(request, project: nil, tenant: nil).certificates()
    return AuthResponse.success(try CertificatesWire.json(of: keys), maximumAge: keys.maximumAge)
  }

  private func respond(to request: HTTPRequest, _ route: AuthRoute) async throws -> [UInt8] {
    if route.call == .token {
      // The body may be a form, and names no project.
      let call = try call(request, project: route.project, tenant: route.tenant, readsBody: false)
      let refresh = try RefreshWire.request(body: call.body, contentType: request.fields.first(.contentType))
      return try RefreshWire.body(of: try await call.client.refresh(refresh, context: call.context))
    }
    let call = try call(request, project: route.project, tenant: route.tenant)
    if call.context.caller == .nobody {
      guard call.namesNoProject else {
        let why = "Only authenticated requests can specify target_project_id."
        throw AuthServiceError(.insufficientPermission, why)
      }
      guard call.context.apiKey?.isEmpty == false else {
        throw AuthServiceError(.permissionDenied, "The request is missing a valid API key.")
      }
    }
    return try await call.respond(to: route.call)
  }

  /// The call of a request: the path names the project and the tenant, or the body does.
  private func call(
    _ request: HTTPRequest, project: String?, tenant: String?, readsBody: Bool = true
  ) throws -> AuthExchange {
    let body = request.body.bytes ?? []
    let object = body.isEmpty || !readsBody ? JSONObject() : try JSONObject(json: body)
    func text(_ name: String, _ other: String) -> String? {
      let text = (object[name] ?? object[other])?.string
      return text?.isEmpty == true ? nil : text
    }
    let named = project ?? text("targetProjectId", "target_project_id")
    let id = named ?? host.defaultProject
    var context = CallContext(request, project: id, clock: host.clock)
    let query = request.query.flatMap { try? FormFields($0) }
    context.tenantID = tenant ?? text("tenantId", "tenant_id") ?? query?["tenantId"].flatMap { $0.isEmpty ? nil : $0 }
    return AuthExchange(
      host: host, origin: request.origin, project: id, namesNoProject: named == nil,
      context: context, query: String(request.query ?? ""), body: body, object: object)
  }
}

/// Responses of the service.
enum AuthResponse {
  static let ready: [UInt8] = Array(#"{"authEmulator":{"ready":true}}"#.utf8)

  /// No provider wants a proof; clients take a configuration without a key for a broken one.
  static let noRecaptcha: [UInt8] = Array(
    #"""
    {"recaptchaKey":"projects/none/keys/none","recaptchaEnforcementState":[{"provider":"EMAIL_PASSWORD_PROVIDER",\#
    "enforcementState":"OFF"},{"provider":"PHONE_PROVIDER","enforcementState":"OFF"}]}
    """#.utf8)

  /// A site key that is none: clients want one, and send no proof for it to a server for development.
  static let recaptchaParams: [UInt8] = Array(
    #"{"kind":"identitytoolkit#GetRecaptchaParamResponse","recaptchaStoken":"none","recaptchaSiteKey":"none"}"#.utf8)

  private static let fields: HTTPFields = [
    .contentType: "application/json; charset=UTF-8", "x-content-type-options": "nosniff",
  ]

  static func success(_ json: [UInt8], maximumAge: Int64? = nil) -> HTTPResponse {
    var fields = fields
    fields.append("cache-control", CacheControlWire.text(maximumAge: maximumAge))
    return HTTPResponse(fields: fields, body: .bytes(json))
  }

  static func failure(_ error: AuthServiceError) -> HTTPResponse {
    let (status, body) = AuthErrorWire.response(of: error)
    var fields = fields
    if let pause = error.retryAfter { fields.append("retry-after", "\(max(1, pause.components.seconds))") }
    return HTTPResponse(HTTPStatus(status), fields: fields, body: .bytes(body))
  }

  /// The error that the service answers with.
  static func error(_ error: any Error) -> AuthServiceError {
    switch error {
    case let error as AuthServiceError: error
    case let status as ServiceStatus: AuthServiceError(status)
    case let error as BytesError: AuthServiceError(.invalidArgument, "Invalid JSON payload received. \(error)")
    case is CancellationError: AuthServiceError(.cancelled)
    default: AuthServiceError(.internalError)
    }
  }
}
