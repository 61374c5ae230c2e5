public import VestaMessagingBackend
import VestaMessagingWire
public import VestaServiceInterop
public import VestaTransportInterop

/// The messaging service on another machine, as the owner of a project sees it: `vesta` or Firebase.
///
/// - Each call is one request, as Firebase's Admin SDKs send it, with the credential of the owner that the service's
///   options return. Nothing is kept and nothing is repeated here.
/// - A message whose answer was lost may have been accepted: it fails with `DEADLINE_EXCEEDED`, and sending it again
///   may deliver it twice.
/// - The messages of ``sendEach(_:isValidateOnly:context:)`` are requests that run concurrently, so that they are
///   accepted in any order, and a caller that is not the owner is refused once for each.
/// - Firebase has no calls for the token of an installation, the outbox and the statistics; they fail with
///   `UNIMPLEMENTED` there. It states neither when a registration was made nor when it was last seen.
///
/// ```swift
/// let options = RESTOptions(ownerToken: { try await account.token() })
/// let service = try RESTService(client, at: "https://vesta.example", options: options)
/// let admin = MessagingAdminRemote(project: "demo", on: service)
/// let name = try await admin.send(message, isValidateOnly: false, context: .owner)
/// ```
public final class MessagingAdminRemote: MessagingAdminBackend {
  private typealias Channel = RESTChannel<MessagingServiceError>

  private let project: String
  private let options: MessagingRemoteOptions
  private let sending: Channel
  private let topics: Channel
  private let own: Channel

  /// A service on another machine; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - project: The id of the project.
  ///   - service: The server, with the credential of the owner in its options.
  ///   - options: The settings.
  public init(
    project: String, on service: RESTService, options: MessagingRemoteOptions = MessagingRemoteOptions()
  ) {
    self.project = project
    self.options = options
    func channel(at origin: HTTPURL?) -> Channel {
      var service = service
      if let origin { service.origin = origin }
      return Channel(service, failure: MessagingRemote.failure)
    }
    sending = channel(at: options.sendOrigin)
    topics = channel(at: options.topicOrigin)
    own = channel(at: nil)
  }

  // MARK: Messages

  /// Sends a message.
  ///
  /// - Throws: `deadlineExceeded` also where the connection was lost: the message may have been accepted.
  public func send(
    _ message: PushMessage, isValidateOnly: Bool, context: CallContext
  ) async throws(MessagingServiceError) -> String {
    let body = SendWire.body(of: SendWire.Request(message, isValidateOnly: isValidateOnly))
    guard !body.isEmpty else { throw .invalid("message", "It is nested too deeply.") }
    let call = call(.send, body, isRepeatable: isValidateOnly)
    return try await sending.call(call, context: context) { try SendWire.name($0.body) }
  }

  /// Sends messages, each by itself and in any order.
  public func sendEach(
    _ messages: [PushMessage], isValidateOnly: Bool, context: CallContext
  ) async throws(MessagingServiceError) -> [Result<String, MessagingServiceError>] {
    guard (1...options.tuning.maximumMessages).contains(messages.count) else {
      throw .invalid(
        "messages", "There are 1 to \(options.tuning.maximumMessages) messages in a call, not \(messages.count).")
    }
    let outcomes = await withTaskGroup(of: (Int, Outcome).self) { group in
      var outcomes: [Int: Outcome] = [:]
      for (index, message) in messages.enumerated() {
        if index >= options.tuning.parallelSends, let (done, outcome) = await group.next() { outcomes[done] = outcome }
        group.addTask { (index, await self.outcome(of: message, isValidateOnly, context)) }
      }
      for await (done, outcome) in group { outcomes[done] = outcome }
      return outcomes
    }
    return messages.indices.compactMap { outcomes[$0] }
  }

  private typealias Outcome = Result<String, MessagingServiceError>

  private func outcome(of message: PushMessage, _ isValidateOnly: Bool, _ context: CallContext) async -> Outcome {
    do throws(MessagingServiceError) {
      return .success(try await send(message, isValidateOnly: isValidateOnly, context: context))
    } catch {
      return .failure(error)
    }
  }

  // MARK: Topics

  /// Subscribes registrations to a topic.
  public func subscribe(
    tokens: [String], toTopic topic: String, context: CallContext
  ) async throws(MessagingServiceError) -> [MessagingServiceError?] {
    try await manage(.subscribeMany, tokens, topic, context)
  }

  /// Ends the subscriptions of registrations to a topic.
  public func unsubscribe(
    tokens: [String], fromTopic topic: String, context: CallContext
  ) async throws(MessagingServiceError) -> [MessagingServiceError?] {
    try await manage(.unsubscribeMany, tokens, topic, context)
  }

  private func manage(
    _ route: MessagingRoute.Call, _ tokens: [String], _ topic: String, _ context: CallContext
  ) async throws(MessagingServiceError) -> [MessagingServiceError?] {
    let topic = try TopicName.checked(topic, field: "topic")
    let body = TopicWire.body(of: TopicWire.Request(topic: topic, tokens: tokens))
    return try await topics.call(call(route, body), context: context) {
      try TopicWire.results($0.body, of: tokens.count)
    }
  }

  // MARK: Registrations

  /// Returns what is known about a registration.
  public func registration(
    token: String, context: CallContext
  ) async throws(MessagingServiceError) -> RegistrationInfo {
    try await topics.call(call(.info(token)), context: context) { try RegistrationWire.info($0.body, of: token).0 }
  }

  /// Returns the token of the registration of an installation.
  ///
  /// - Throws: `unimplemented` at Firebase.
  public func token(ofInstallation id: String, context: CallContext) async throws(MessagingServiceError) -> String {
    try checkIsOwn()
    return try await topics.call(call(.info(id)), context: context) { answer in
      guard let token = try RegistrationWire.info(answer.body, of: id).token else { throw Self.notOffered }
      return token
    }
  }

  // MARK: Results

  /// Returns the messages that were accepted, a page at a time.
  ///
  /// - Throws: `unimplemented` at Firebase.
  public func outbox(
    pageSize: Int, pageToken: String?, context: CallContext
  ) async throws(MessagingServiceError) -> OutboxPage {
    try checkIsOwn()
    let route = MessagingRoute.Call.outbox(pageSize: pageSize, pageToken: pageToken)
    return try await own.call(call(route), context: context) { try DeliveryWire.outbox($0.body) }
  }

  /// Returns the counts of accepted, delivered and expired messages.
  ///
  /// - Throws: `unimplemented` at Firebase.
  public func statistics(context: CallContext) async throws(MessagingServiceError) -> DeliveryStatistics {
    try checkIsOwn()
    return try await own.call(call(.statistics), context: context) { try DeliveryWire.statistics($0.body) }
  }

  private func call(_ route: MessagingRoute.Call, _ body: [UInt8] = [], isRepeatable: Bool = true) -> RESTCall {
    let route = MessagingRoute(project: project, route)
    var fields: HTTPFields = [:]
    if route.target.hasPrefix("/iid/") {
      // Firebase knows the project by the credential, and needs the word to look at it.
      fields = options.delivers ? ["x-goog-user-project": project] : ["access_token_auth": "true"]
    }
    var request = RESTCall(
      HTTPMethod(route.method), route.target, fields: fields, body: body, isRepeatable: isRepeatable)
    request.hasToken = true
    return request
  }

  private func checkIsOwn() throws(MessagingServiceError) {
    guard options.delivers else { throw Self.notOffered }
  }

  private static let notOffered = MessagingServiceError(
    .unimplemented, "Firebase has no such call: it tells neither tokens of installations nor what was sent.")
}
