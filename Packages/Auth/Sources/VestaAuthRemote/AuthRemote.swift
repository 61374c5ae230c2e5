public import VestaAuthBackend
import VestaAuthWire
import VestaBytes
public import VestaServiceInterop
public import VestaTransportInterop

/// The identity service on another machine: a server, an emulator, or Firebase.
///
/// - Each call is one request, as Firebase's SDKs and its administration's API send it, but for the calls of an owner
///   that return an account: the service answers with its id, and the account is read afterwards.
/// - ID tokens, refresh tokens and passwords travel in bodies; the API key in a field. None of them is sent in clear
///   text to another machine, unless `RESTOptions` allow it.
/// - Nothing is kept and nothing is repeated here. A call that must not happen twice, such as a sign-up or a code by
///   e-mail, fails with `DEADLINE_EXCEEDED` when the connection is lost after it was sent.
/// - The API key chooses the project of a client's call; the server's own project where the key says nothing, as at
///   `vesta` and the emulators. The calls of an owner name the project.
///
/// ```swift
/// let service = try RESTService(client, at: "http://localhost:9099", options: RESTOptions(apiKey: "key"))
/// let remote = AuthRemote(project: "demo", on: service)
/// let made = try await remote.signUp(SignUpRequest(), context: CallContext())
/// ```
///
/// To read on: `RESTChannel` for what all calls have in common, `AuthRemote+SignIn.swift`, `AuthRemote+Admin.swift`.
public final class AuthRemote: AuthBackend, AuthAdminBackend {
  typealias Channel = RESTChannel<AuthServiceError>

  let project: String
  let options: AuthRemoteOptions
  let clock: ServiceClock
  let identity: Channel
  private let tokens: Channel
  private let keys: Channel

  /// A service on another machine; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - project: The id of the project, for the calls of owners.
  ///   - service: The server.
  ///   - options: The settings.
  public init(project: String, on service: RESTService, options: AuthRemoteOptions = AuthRemoteOptions()) {
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

  // MARK: Sending

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

  /// Gives a new ID token for a refresh token.
  ///
  /// The exchange has no member for a tenant: a refresh token names its own.
  public func refresh(
    _ request: RefreshRequest, context: CallContext
  ) async throws(AuthServiceError) -> RefreshResponse {
    let route = AuthRoute(.token)
    var call = self.request(route.method, at: route.host, route.target, RefreshWire.body(of: request))
    call.fields.append(.contentType, RefreshWire.contentType)
    return try await tokens.call(call, context: context) { try RefreshWire.response(body: $0.body) }
  }

  /// The keys with which ID tokens can be verified.
  public func publicKeys(context: CallContext) async throws(AuthServiceError) -> PublicKeysResponse {
    try await published("service_accounts/v1/jwk", context) { PublicKeysResponse(jwks: $0, maximumAge: $1) }
  }

  /// The same keys as certificates.
  public func certificates(context: CallContext) async throws(AuthServiceError) -> CertificatesResponse {
    try await published("robot/v1/metadata/x509", context) { try CertificatesWire.response(json: $0, maximumAge: $1) }
  }

  private func published<Response>(
    _ form: String, _ context: CallContext, _ read: ([UInt8], Int64) throws -> Response
  ) async throws(AuthServiceError) -> Response {
    let target = "/\(form)/securetoken@system.gserviceaccount.com"
    var call = request("GET", at: "www.googleapis.com", target, [])
    call.hasToken = false
    return try await keys.call(call, context: context) { answer in
      try read(answer.body, Self.maximumAge(answer.fields.first("cache-control") ?? ""))
    }
  }

  static let identityHost = "identitytoolkit.googleapis.com"

  func request(
    _ method: String, at host: String, _ target: String, _ body: [UInt8], isRepeatable: Bool = true
  ) -> RESTCall {
    var fields: HTTPFields = [:]
    if let version = options.clientVersion { fields.append("x-client-version", version) }
    if let bundleID = options.bundleID { fields.append("x-ios-bundle-identifier", bundleID) }
    let target = options.hasOneOrigin ? "/\(host)\(target)" : target
    var call = RESTCall(HTTPMethod(method), target, fields: fields, body: body, isRepeatable: isRepeatable)
    // Bodies have passwords, codes and tokens.
    call.hasToken = true
    return call
  }

  private func encoded(_ body: () throws -> [UInt8]) throws(AuthServiceError) -> [UInt8] {
    do { return try body() } catch { throw AuthServiceError(.invalidArgument, "\(error)") }
  }

  private static func maximumAge(_ field: String) -> Int64 {
    for part in field.split(separator: ",") {
      let pair = part.split(separator: "=")
      guard pair.count == 2, pair[0].drop(while: { $0 == " " }).lowercased() == "max-age" else { continue }
      return Int64(pair[1]).map { max(0, $0) } ?? 0
    }
    return 0
  }
}
