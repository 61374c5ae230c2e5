import VestaAuthBackend
import VestaAuthWire
import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

/// Sends the calls of clients and of administrators, each as one request to the server that answers it.
struct AuthRemoteCaller: Sendable {
  typealias Channel = RESTChannel<AuthServiceError>

  let project: String
  let options: AuthRemoteOptions
  let clock: ServiceClock
  private let identity: Channel
  private let tokens: Channel
  private let keys: Channel

  init(project: String, on service: RESTService, options: AuthRemoteOptions) {
    self.project = project
    self.options = options
    clock = service.clock
    func channel(at origin: HTTPURL?) -> Channel {
      var service = service
      if let origin { service.origin = origin }
      return Channel(service) { answer in
        let error = AuthErrorWire.error(status: answer.status.code, body: answer.body)
        return AuthServiceError(error.code, error.detail, errorDetails: answer.failure.details)
      }
    }
    identity = channel(at: nil)
    tokens = channel(at: options.tokenOrigin)
    keys = channel(at: options.keyOrigin)
  }

  /// Sends the call of a client.
  func send<Value>(
    _ call: AuthRoute.Call, _ context: CallContext, isRepeatable: Bool = true,
    _ body: () throws -> [UInt8], _ read: (JSONValue) throws -> Value
  ) async throws(AuthServiceError) -> Value {
    let route = AuthRoute(call)
    let bytes = try encoded { try AuthBodyWire.adding(tenant: context.tenantID, to: try body()) }
    return try await identity.call(
      request(route.method, at: route.host, route.target, bytes, isRepeatable: isRepeatable), context: context
    ) { try read(JSONValue(json: $0.body)) }
  }

  /// Sends the call of an owner about accounts.
  func sendAsOwner<Value>(
    _ call: AuthRoute.Call, _ context: CallContext, query: String? = nil, isRepeatable: Bool = true,
    _ body: () throws -> [UInt8] = { [] }, _ read: (JSONValue) throws -> Value
  ) async throws(AuthServiceError) -> Value {
    let route = AuthRoute(call, project: project, tenant: context.tenantID)
    let target = query.map { "\(route.target)?\($0)" } ?? route.target
    let bytes = try encoded(body)
    return try await identity.call(
      request(route.method, at: route.host, target, bytes, isRepeatable: isRepeatable), context: context
    ) { try read(JSONValue(json: $0.body)) }
  }

  /// Sends a call about the project.
  func send<Value>(
    _ call: AuthProjectRoute.Call, _ context: CallContext, isRepeatable: Bool = true,
    _ body: () throws -> [UInt8] = { [] }, _ read: (JSONObject) throws -> Value
  ) async throws(AuthServiceError) -> Value {
    let tenant = call == .createSessionCookie ? context.tenantID : nil
    let route = AuthProjectRoute(call, project: project, tenant: tenant)
    let bytes = try encoded(body)
    return try await identity.call(
      request(route.method, at: Self.identityHost, route.target, bytes, isRepeatable: isRepeatable), context: context
    ) { try read(try JSONObject(json: $0.body)) }
  }

  /// Sends a call about identity providers.
  func send<Value>(
    _ route: AuthProviderRoute, _ context: CallContext, isRepeatable: Bool, _ body: () throws -> [UInt8],
    _ read: (JSONObject) throws -> Value
  ) async throws(AuthServiceError) -> Value {
    let bytes = try encoded(body)
    return try await identity.call(
      request(route.method, at: Self.identityHost, route.target, bytes, isRepeatable: isRepeatable), context: context
    ) { try read(try JSONObject(json: $0.body)) }
  }

  /// Reads the password policy, which clients read without a credential, and administrators as a part of the settings.
  func passwordPolicy(_ context: CallContext) async throws(AuthServiceError) -> PasswordPolicy {
    let route = AuthRoute(.passwordPolicy)
    var fields = FormFields()
    fields.append("tenantId", context.tenantID)
    let query = fields.fields.isEmpty ? "" : "?\(fields.text)"
    var call = request(route.method, at: route.host, route.target + query, [])
    call.hasToken = false
    return try await identity.call(call, context: context) {
      try PasswordPolicyWire.policy(try JSONObject(json: $0.body))
    }
  }

  /// Reads from the part of a server that is for test suites, and has no host in its paths.
  func sendToSuite<Value>(
    _ name: String, _ context: CallContext, _ read: (JSONValue) throws -> Value
  ) async throws(AuthServiceError) -> Value {
    let encoding = PercentEncoding.unreserved
    let tenant = context.tenantID.map { "/tenants/\(encoding.encode($0))" } ?? ""
    let call = RESTCall(.get, "/emulator/v1/projects/\(encoding.encode(project))\(tenant)/\(name)")
    return try await identity.call(call, context: context) { try read(JSONValue(json: $0.body)) }
  }

  /// Exchanges a refresh token at the server that does.
  func refresh(_ request: RefreshRequest, _ context: CallContext) async throws(AuthServiceError) -> RefreshResponse {
    let route = AuthRoute(.token)
    var call = self.request(route.method, at: route.host, route.target, RefreshWire.body(of: request))
    call.fields.append(.contentType, RefreshWire.contentType)
    return try await tokens.call(call, context: context) { try RefreshWire.response(body: $0.body) }
  }

  /// Reads published keys from the server that has them.
  func published<Response>(
    _ form: String, _ context: CallContext, _ read: ([UInt8], Int64) throws -> Response
  ) async throws(AuthServiceError) -> Response {
    let target = "/\(form)/securetoken@system.gserviceaccount.com"
    var call = request("GET", at: "www.googleapis.com", target, [])
    call.hasToken = false
    return try await keys.call(call, context: context) { answer in
      try read(answer.body, CacheControlWire.maximumAge(answer.fields.first("cache-control")))
    }
  }

  private static let identityHost = "identitytoolkit.googleapis.com"

  private func request(
    _ method: String, at host: String, _ target: String, _ body: [UInt8], isRepeatable: Bool = true
  ) -> RESTCall {
    var fields: HTTPFields = [:]
    if let version = options.clientVersion { fields.append("x-client-version", version) }
    let target = options.hasOneOrigin ? "/\(host)\(target)" : target
    var call = RESTCall(HTTPMethod(method), target, fields: fields, body: body, isRepeatable: isRepeatable)
    // Bodies have passwords, codes and tokens.
    call.hasToken = true
    return call
  }

  private func encoded(_ body: () throws -> [UInt8]) throws(AuthServiceError) -> [UInt8] {
    do { return try body() } catch { throw AuthServiceError(.invalidArgument, "\(error)") }
  }
}
