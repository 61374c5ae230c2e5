public import VestaInstallationsBackend
public import VestaMessagingBackend
import VestaMessagingWire
public import VestaServiceInterop
public import VestaTransportInterop

/// The messaging service on another machine, as installations see it: `vesta`, and Firebase as far as it is possible.
///
/// - Each call is one request; the connection for deliveries is one response of events that stays open. Nothing is kept
///   and nothing is repeated here but a registration whose installation was refused: it is made once more with another
///   token of the installation.
/// - An installation proves by its token who it is; who has the token of a registration may use it for everything else.
/// - Firebase delivers to browsers and to the devices of Apple and Google alone. There a registration needs the address
///   of one of them (`RegisterRequest.pushAddress`), and `connect` ends with `UNIMPLEMENTED`.
///
/// ```swift
/// let service = try RESTService(client, at: "https://vesta.example")
/// let remote = MessagingRemote(project: "demo", on: service) { _ in keeper }
/// let token = try await remote.register(request, context: CallContext())
/// ```
///
/// To read on: `MessagingRemote+Delivery.swift` for the connection, `MessagingAdminRemote.swift` for the owner.
public final class MessagingRemote: MessagingBackend {
  let project: String
  let options: MessagingRemoteOptions
  let clock: ServiceClock
  let rest: RESTChannel<MessagingServiceError>
  private let installation: @Sendable (_ id: String) -> any InstallationSource

  /// A service on another machine; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - project: The id of the project.
  ///   - service: The server.
  ///   - options: The settings.
  ///   - installation: Returns the installation of an id; an app has one whatever the id is.
  public init(
    project: String, on service: RESTService, options: MessagingRemoteOptions = MessagingRemoteOptions(),
    installation: @escaping @Sendable (_ id: String) -> any InstallationSource
  ) {
    self.project = project
    self.options = options
    self.installation = installation
    clock = service.clock
    rest = RESTChannel(service, failure: Self.failure)
  }

  /// The failure of an answer that is no success.
  static func failure(_ answer: RESTAnswer) -> MessagingServiceError {
    MessagingErrorWire.error(
      status: answer.status.code, body: answer.body, retryAfter: answer.fields.first("retry-after"))
  }

  // MARK: Registrations

  /// Registers an installation, or renews its registration.
  ///
  /// - Throws: `unimplemented` at Firebase for an installation without an address.
  public func register(
    _ request: RegisterRequest, context: CallContext
  ) async throws(MessagingServiceError) -> String {
    let body = try body(of: request)
    // A registration whose answer was lost is made again: the service returns the token that was shown, or another one.
    return try await proving(request.installationID) { (token) async throws(MessagingServiceError) in
      let call = call(.register, body, installation: token)
      return try await rest.call(call, context: context) { try RegistrationWire.token($0.body) }
    }
  }

  /// Removes a registration with its topics and waiting messages.
  public func unregister(token: String, context: CallContext) async throws(MessagingServiceError) {
    do {
      try await send(.unregister(token), ofRegistration: token, context)
    } catch {
      if error.reason != .unregistered { throw error }
    }
  }

  /// Subscribes a registration to a topic.
  public func subscribe(
    token: String, toTopic topic: String, context: CallContext
  ) async throws(MessagingServiceError) {
    let topic = try TopicName.checked(topic, field: "topic")
    try await send(.subscribe(token, topic: topic), ofRegistration: token, context)
  }

  /// Ends a subscription.
  public func unsubscribe(
    token: String, fromTopic topic: String, context: CallContext
  ) async throws(MessagingServiceError) {
    let topic = try TopicName.checked(topic, field: "topic")
    try await send(.unsubscribe(token, topic: topic), ofRegistration: token, context)
  }

  /// Acknowledges deliveries.
  public func acknowledge(
    token: String, messageIDs: [String], context: CallContext
  ) async throws(MessagingServiceError) {
    guard options.delivers else { throw Self.noDeliveries }
    let body = DeliveryWire.body(of: DeliveryWire.Request(token: token, messageIDs: messageIDs))
    try await rest.call(call(.acknowledge, body), context: context) { _ in }
  }

  // MARK: Requests

  func call(_ call: MessagingRoute.Call, _ body: [UInt8] = [], installation: String? = nil) -> RESTCall {
    let route = MessagingRoute(project: project, call)
    var fields: HTTPFields = [:]
    if let installation { fields.append(Self.installationField, installation) }
    var request = RESTCall(HTTPMethod(route.method), route.target, fields: fields, body: body)
    // The token of a registration is in the path or in the body: it is all that a use of the registration takes.
    request.hasToken = true
    return request
  }

  /// Sends a call about a registration; Firebase names it by its installation, which has to prove itself.
  private func send(
    _ route: MessagingRoute.Call, ofRegistration token: String, _ context: CallContext
  ) async throws(MessagingServiceError) {
    let body = call(route).method == .post ? Array("{}".utf8) : []
    guard !token.contains(":") else { return try await rest.call(call(route, body), context: context) { _ in } }
    try await proving(token) { (proof) async throws(MessagingServiceError) in
      try await rest.call(call(route, body, installation: proof), context: context) { _ in }
    }
  }

  /// Makes a call with the token of an installation, and once more with another one when that is refused.
  private func proving<Value>(
    _ id: String, _ call: (_ token: String) async throws(MessagingServiceError) -> Value
  ) async throws(MessagingServiceError) -> Value {
    let source = installation(id)
    let token = try await Self.token(of: source)
    do {
      return try await call(token)
    } catch {
      guard error.code == .unauthenticated else { throw error }
      source.tokenWasRefused(token)
    }
    let another = try await Self.token(of: source)
    return try await call(another)
  }

  private static func token(of source: any InstallationSource) async throws(MessagingServiceError) -> String {
    do { return try await source.credential().token } catch { throw MessagingServiceError(error.status) }
  }

  private func body(of request: RegisterRequest) throws(MessagingServiceError) -> [UInt8] {
    guard !options.delivers else { return RegistrationWire.body(of: request) }
    guard let address = request.pushAddress else { throw Self.noDeliveries }
    return RegistrationWire.body(platform: request.platform, address: address)
  }

  static let noDeliveries = MessagingServiceError(
    .unimplemented,
    """
    Firebase delivers messages to browsers and to the devices of Apple and Google alone. Use a server of Vesta, or \
    register the address of such a device (RegisterRequest.pushAddress).
    """)

  private static let installationField = HTTPFieldName(stringLiteral: InstallationField.name)
}
