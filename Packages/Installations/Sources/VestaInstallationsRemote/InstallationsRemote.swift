public import VestaInstallationsBackend
import VestaInstallationsWire
public import VestaServiceInterop
public import VestaTransportInterop

/// The service of installations on another machine: a server, an emulator, or Firebase.
///
/// - Each call is one request, as Firebase's SDKs send it. The API key, the id of the program and the days on which the
///   app was used travel in fields.
/// - Nothing is kept and nothing is repeated here: ``InstallationKeeper`` does both.
/// - The refresh token is the credential of a call that has one. A context with another credential is refused, as a
///   request has room for one.
///
/// ```swift
/// let service = try RESTService(client, at: "https://vesta.example", options: RESTOptions(apiKey: "key"))
/// let remote = InstallationsRemote(project: "demo", on: service)
/// let made = try await remote.create(CreateInstallationRequest(appID: "1:2:ios:3"), context: CallContext())
/// ```
public final class InstallationsRemote: InstallationsBackend {
  private let project: String
  private let options: InstallationsRemoteOptions
  private let rest: RESTChannel<InstallationsServiceError>

  /// A service on another machine; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - project: The id of the project.
  ///   - service: The server.
  ///   - options: The settings.
  public init(
    project: String, on service: RESTService, options: InstallationsRemoteOptions = InstallationsRemoteOptions()
  ) {
    self.project = project
    self.options = options
    rest = RESTChannel(service)
  }

  /// Creates an installation.
  ///
  /// - Throws: `DEADLINE_EXCEEDED` also where the connection was lost: an installation may have been made that has no
  ///   owner.
  public func create(
    _ request: CreateInstallationRequest, context: CallContext
  ) async throws(InstallationsServiceError) -> CreatedInstallation {
    let body = InstallationsWire.body(of: request, sdkVersion: options.sdkVersion)
    return try await rest.call(call(.create, body, isRepeatable: false), context: context) { answer in
      try InstallationsWire.created(answer.body, requested: request.id)
    }
  }

  /// Makes a token of an installation.
  public func generateToken(
    id: String, refreshToken: String, context: CallContext
  ) async throws(InstallationsServiceError) -> InstallationToken {
    try checkCaller(context)
    let body = InstallationsWire.body(ofTokenRequest: options.sdkVersion)
    let call = call(.generateToken(id: id), body, refreshToken)
    return try await rest.call(call, context: context) { try InstallationsWire.token($0.body) }
  }

  /// Deletes an installation and its tokens.
  public func delete(
    id: String, refreshToken: String, context: CallContext
  ) async throws(InstallationsServiceError) {
    try checkCaller(context)
    let call = call(.delete(id: id), Array("{}".utf8), refreshToken)
    try await rest.call(call, context: context) { _ in }
  }

  private func call(
    _ call: InstallationsRoute.Call, _ body: [UInt8], _ refreshToken: String? = nil, isRepeatable: Bool = true
  ) -> RESTCall {
    let route = InstallationsRoute(project: project, call)
    var fields: HTTPFields = [:]
    if let refreshToken {
      fields.append(.authorization, InstallationsWire.authorization(refreshToken: refreshToken))
    }
    var request = RESTCall(
      HTTPMethod(route.method), route.target, fields: fields, body: body, isRepeatable: isRepeatable)
    // The answer has secrets where the request has none: it is kept from networks that read along too.
    request.hasToken = true
    return request
  }

  private func checkCaller(_ context: CallContext) throws(InstallationsServiceError) {
    guard context.caller != .nobody else { return }
    throw InstallationsServiceError(
      .unauthenticated, "A call of an installation has its refresh token as its credential, and no other one.")
  }
}

/// The settings of an ``InstallationsRemote``; an app brings its own by a component that provides them.
public struct InstallationsRemoteOptions: Sendable {
  /// The version of the client library.
  public var sdkVersion: String

  /// The figures at which the behaviour of the keeper changes.
  public var tuning: InstallationKeeperTuning

  /// Settings.
  ///
  /// - Parameters:
  ///   - sdkVersion: The version of the client library.
  ///   - tuning: The figures at which the behaviour of the keeper changes.
  public init(sdkVersion: String = "", tuning: InstallationKeeperTuning = InstallationKeeperTuning()) {
    self.sdkVersion = sdkVersion
    self.tuning = tuning
  }
}
