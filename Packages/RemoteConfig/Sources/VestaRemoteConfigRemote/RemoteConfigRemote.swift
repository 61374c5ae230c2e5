import VestaBytes
import VestaConcurrency
import VestaInstallationsBackend
public import VestaRemoteConfigBackend
import VestaRemoteConfigWire
public import VestaServiceInterop
public import VestaTransportInterop

/// The configuration service on another machine: a server, an emulator, or Firebase.
///
/// - Each call is one request, as Firebase's SDKs and its administration's API send it; tokens, the API key and the
///   deadline of its context travel in fields. The connection for newer templates is one response that stays open.
/// - Nothing is kept and nothing is repeated here: the client above has the cache, the retries and the back-off.
/// - The protocol has no members for the publisher, for audiences and for the browser of an instance; the platform is
///   that of the app's id. The service takes the publisher from the credential.
///
/// ```swift
/// let service = try RESTService(client, at: "https://vesta.example")
/// let remote = RemoteConfigRemote(project: "demo", on: service)
/// let values = try await remote.fetch(request, context: context)
/// ```
///
/// To read on: `RESTChannel` for what all calls have in common, `RemoteConfigRemote+Realtime.swift` for the stream.
public final class RemoteConfigRemote: RemoteConfigBackend, RemoteConfigAdminBackend {
  typealias Channel = RESTChannel<RemoteConfigServiceError>

  let project: String
  let options: RemoteConfigRemoteOptions
  let clock: ServiceClock
  let realtime: Channel
  private let rest: Channel

  /// A service on another machine; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - project: The id of the project.
  ///   - service: The server.
  ///   - options: The settings.
  public init(
    project: String, on service: RESTService, options: RemoteConfigRemoteOptions = RemoteConfigRemoteOptions()
  ) {
    self.project = project
    self.options = options
    clock = service.clock
    var stream = service
    if let origin = options.realtimeOrigin { stream.origin = origin }
    rest = Channel(service) { RemoteConfigErrorWire.error($0.failure) }
    realtime = Channel(stream) { RemoteConfigErrorWire.error($0.failure) }
  }

  // MARK: The service as clients see it

  /// Fetches the values of an instance.
  public func fetch(
    _ request: FetchConfigRequest, context: CallContext
  ) async throws(RemoteConfigServiceError) -> FetchConfigResponse {
    let installation = try await installation()
    let token = installation?.token
    var request = request
    // The token is refused with the id of another installation.
    if let installation { request.instance.installationID = installation.id }
    request.instance.packageName = request.instance.packageName ?? options.packageName
    request.instance.sdkVersion = request.instance.sdkVersion ?? options.sdkVersion
    let etag = request.etag
    let call = ConfigFetchCall(request, installationToken: token)
    var fields: HTTPFields = ["x-firebase-rc-fetch-type": "BASE/1"]
    fields.append(HTTPFieldName(stringLiteral: FetchWire.etagHeader), etag ?? "*")
    if let token { fields.append(Self.installation, token) }
    return try await reporting(token) { () async throws(RemoteConfigServiceError) in
      try await send(.fetch, call.request.namespace, context, fields) {
        try FetchWire.body(of: call)
      } _: { answer in
        // A cache in between may answer so; the service itself says it in its body.
        if answer.status == 304 { return FetchConfigResponse(state: .noChange, etag: etag ?? "") }
        return try FetchWire.response(body: answer.body, etag: answer.fields.first(Self.etag))
      }
    }
  }

  // MARK: The service as the owner sees it

  /// Reads a version of the template, the current one unless given.
  public func template(
    namespace: String, version: Int64?, context: CallContext
  ) async throws(RemoteConfigServiceError) -> StoredTemplate {
    try await send(.template(version: version), namespace, context) { try Self.template($0) }
  }

  /// Publishes a template as the next version.
  public func publish(
    _ request: PublishRequest, context: CallContext
  ) async throws(RemoteConfigServiceError) -> StoredTemplate {
    let match = TemplateWire.match(of: request.precondition)
    return try await send(
      .publish(isValidateOnly: request.isValidateOnly), request.namespace, context,
      [HTTPFieldName(stringLiteral: TemplateWire.matchHeader): match], isRepeatable: request.isValidateOnly
    ) {
      request.template.json
    } _: {
      try Self.template($0)
    }
  }

  /// Publishes an earlier version again, as the next one.
  public func rollback(
    namespace: String, to version: Int64, user: ConfigVersion.User?, context: CallContext
  ) async throws(RemoteConfigServiceError) -> StoredTemplate {
    try await send(.rollback, namespace, context, isRepeatable: false) {
      TemplateWire.body(rollbackTo: version)
    } _: {
      try Self.template($0)
    }
  }

  /// Lists versions, the newest first.
  public func listVersions(
    _ request: ListVersionsRequest, context: CallContext
  ) async throws(RemoteConfigServiceError) -> VersionPage {
    try await send(.listVersions(request), request.namespace, context) { try TemplateWire.page($0.body) }
  }

  /// Compares two versions, which are read one after the other: the protocol has no call for it.
  public func difference(
    namespace: String, from old: Int64, to new: Int64?, context: CallContext
  ) async throws(RemoteConfigServiceError) -> TemplateDifference {
    let earlier = try await template(namespace: namespace, version: old, context: context)
    let later = try await template(namespace: namespace, version: new, context: context)
    return TemplateDifference(from: earlier.template, to: later.template)
  }

  /// Reads the default values as a file.
  public func downloadDefaults(
    namespace: String, format: DefaultsFormat, context: CallContext
  ) async throws(RemoteConfigServiceError) -> [UInt8] {
    try await send(.downloadDefaults(format), namespace, context) { $0.body }
  }

  // MARK: Sending

  static let installation = HTTPFieldName(stringLiteral: FetchWire.installationHeader)
  private static let etag = HTTPFieldName(stringLiteral: FetchWire.answerETagHeader)

  private func send<Value>(
    _ call: RemoteConfigRoute.Call, _ namespace: String, _ context: CallContext, _ fields: HTTPFields = [:],
    isRepeatable: Bool = true, body: () throws -> [UInt8] = { [] }, _ decode: (RESTAnswer) throws -> Value
  ) async throws(RemoteConfigServiceError) -> Value {
    let route = RemoteConfigRoute(project: project, namespace: namespace, call)
    var request = RESTCall(HTTPMethod(route.method), route.target, fields: fields, isRepeatable: isRepeatable)
    if case .fetch = call { request.acceptedStatuses = [304] }
    request.hasToken = fields.contains(Self.installation)
    do { request.body = try body() } catch { throw RemoteConfigServiceError(.invalidArgument, "\(error)") }
    return try await rest.call(request, context: context, decode)
  }

  /// The template of an answer.
  private static func template(_ answer: RESTAnswer) throws -> StoredTemplate {
    guard let etag = answer.fields.first(etag) else { throw BytesError(.malformed, "the template has no ETag") }
    do {
      return StoredTemplate(template: try ConfigTemplate(json: answer.body), etag: etag)
    } catch {
      throw RemoteConfigServiceError(
        .unimplemented, "The template has parts that Vesta does not know. \(error.message)")
    }
  }

  /// The installation, without which Firebase answers no app.
  func installation() async throws(RemoteConfigServiceError) -> InstallationCredential? {
    guard let source = options.installation else { return nil }
    do { return try await source.credential() } catch { throw RemoteConfigServiceError(error.status) }
  }

  /// Reports a token that is refused to the installation, so that the next call has another one.
  func reporting<Value>(
    _ token: String?, _ call: () async throws(RemoteConfigServiceError) -> Value
  ) async throws(RemoteConfigServiceError) -> Value {
    do {
      return try await call()
    } catch {
      if let token, error.code == .unauthenticated { options.installation?.tokenWasRefused(token) }
      throw error
    }
  }
}
