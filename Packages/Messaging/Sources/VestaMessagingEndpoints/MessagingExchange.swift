import VestaBytes
import VestaInstallationsBackend
import VestaMessagingBackend
import VestaMessagingWire
import VestaServiceInterop
import VestaTransportInterop

/// One request and its response: a route, a call of a backend, and JSON.
struct MessagingExchange: Sendable {
  private let request: RESTRequest
  private let host: any EndpointHost
  private let streams: DeliveryStreams
  private let route: MessagingRoute
  private let project: String
  private let context: CallContext

  /// - Throws: `ServiceStatus` for a target that is not the service's.
  init(_ request: RESTRequest, _ host: any EndpointHost, _ streams: DeliveryStreams) throws {
    guard let route = try MessagingRoute(method: request.http.method.name, target: request.http.target) else {
      throw ServiceStatus(.notFound, "Messaging has no call \(request.http.method) \(request.http.path).")
    }
    (self.request, self.host, self.streams, self.route) = (request, host, streams, route)
    // The calls of the older API name no project in their path.
    project = route.project ?? request.http.fields.first("x-goog-user-project") ?? host.defaultProject
    context = CallContext(request.http, project: project, clock: host.clock)
  }

  func response() async throws -> HTTPResponse {
    switch route.call {
    case .send:
      let call = try SendWire.request(request.body)
      let name = try await admin().send(call.message, isValidateOnly: call.isValidateOnly, context: context)
      return .json(SendWire.body(ofName: name))
    case .register, .renew: return try await register()
    case .unregister(let id):
      try await backend().unregister(token: try await token(id), context: context)
      return Self.nothing
    case .subscribe(let id, let topic):
      try await backend().subscribe(token: try await token(id), toTopic: topic, context: context)
      return Self.nothing
    case .unsubscribe(let id, let topic):
      try await backend().unsubscribe(token: try await token(id), fromTopic: topic, context: context)
      return Self.nothing
    case .subscribeMany, .unsubscribeMany: return try await manage()
    case .info(let id):
      let token = try await token(id)
      let info = try await admin().registration(token: token, context: context)
      return .json(RegistrationWire.body(of: info, token: token, senderID: project))
    case .outbox(let size, let token):
      let page = try await admin().outbox(pageSize: size, pageToken: token, context: developer)
      return .json(DeliveryWire.body(of: page, project: project))
    case .statistics:
      return .json(DeliveryWire.body(of: try await admin().statistics(context: developer)))
    case .webPushKey:
      let keys = try host.backend((any WebPushKeySource).self, project: project)
      return .json(RegistrationWire.body(webPushKey: try await keys.publicKey()))
    case .connect:
      let call = try DeliveryWire.request(request.body)
      return try streams.open(try backend(), call.token, context)
    case .acknowledge:
      let call = try DeliveryWire.request(request.body)
      try await backend().acknowledge(token: call.token, messageIDs: call.messageIDs, context: context)
      return Self.nothing
    }
  }

  /// The response for an error: the status and the envelope of the service.
  static func failure(_ error: any Error, of request: HTTPRequest) -> HTTPResponse {
    let failure: MessagingServiceError
    switch error {
    case let error as MessagingServiceError: failure = error
    case let error as any ServiceFailure: failure = MessagingServiceError(error.status)
    case let status as ServiceStatus: failure = MessagingServiceError(status)
    case let error as BytesError: failure = .invalid("target", "\(error)")
    default: return .failure(for: error)
    }
    let isLegacy = request.path.hasPrefix("/iid/")
    let body = isLegacy ? TopicWire.body(ofFailure: failure) : MessagingErrorWire.body(of: failure)
    return .failure(failure.status, body: body)
  }

  // MARK: Registrations

  private func register() async throws -> HTTPResponse {
    let owner = try await installation()
    let asked = try RegistrationWire.registration(request.body, installationID: owner.id, appID: owner.appID)
    var call = asked.request
    if case .renew(let id) = route.call, id != owner.id, try await token(id) != current(owner) {
      throw MessagingServiceError(.permissionDenied, "The registration is another installation's.")
    }
    // The installation has proved who it is, so it keeps its token, unless it has to show that too.
    if !asked.showsToken { call.currentToken = try await current(owner) }
    let token = try await backend().register(call, context: context)
    return .json(RegistrationWire.body(token: token, installationID: owner.id, project: project))
  }

  private func current(_ owner: VerifiedInstallation) async throws -> String? {
    do {
      return try await admin().token(ofInstallation: owner.id, context: CallContext(caller: .owner, project: project))
    } catch let error as MessagingServiceError where error.code == .notFound {
      return nil
    }
  }

  /// The token of a registration that is named by its token or by its installation.
  ///
  /// Every holder of a token may use it. An id is no secret: it counts for the installation itself, and for the owner.
  private func token(_ id: String) async throws -> String {
    if id.contains(":") { return id }
    guard request.http.fields.contains(Self.installationField) else {
      return try await admin().token(ofInstallation: id, context: context)
    }
    let owner = try await installation()
    guard owner.id == id else {
      throw MessagingServiceError(.permissionDenied, "The registration is another installation's.")
    }
    guard let token = try await current(owner) else { throw MessagingServiceError.unregistered }
    return token
  }

  /// The installation that the token of the request belongs to.
  private func installation() async throws -> VerifiedInstallation {
    guard let token = InstallationField.token(request.http.fields.first(Self.installationField)) else {
      throw ServiceStatus(.unauthenticated, "The field \(InstallationField.name) has no token.")
    }
    let installations = try host.backend((any InstallationsVerifier).self, project: project)
    return try await installations.verify(token: token, context: CallContext(project: project))
  }

  private static let installationField = HTTPFieldName(stringLiteral: InstallationField.name)

  // MARK: The owner

  private func manage() async throws -> HTTPResponse {
    let call = try TopicWire.request(request.body)
    let results: [MessagingServiceError?]
    if route.call == .subscribeMany {
      results = try await admin().subscribe(tokens: call.tokens, toTopic: call.topic, context: context)
    } else {
      results = try await admin().unsubscribe(tokens: call.tokens, fromTopic: call.topic, context: context)
    }
    return .json(TopicWire.body(of: results))
  }

  /// The reader of the sent messages: everyone while developing, as in all calls of local test suites.
  private var developer: CallContext {
    host.isDevelopment ? CallContext(caller: .owner, project: project, deadline: context.deadline) : context
  }

  // MARK: Backends

  private func backend() throws -> any MessagingBackend {
    try host.backend((any MessagingBackend).self, project: project)
  }

  private func admin() throws -> any MessagingAdminBackend {
    try host.backend((any MessagingAdminBackend).self, project: project)
  }

  private static let nothing = HTTPResponse.json(Array("{}".utf8))
}
