public import VestaConcurrency
public import VestaServiceInterop

/// The messaging service as installations see it.
///
/// Promises of every implementation (`MessagingContracts` checks them):
/// - A message that was accepted reaches every registration it is for at least once, within its time to live: connected
///   ones at once, others when they connect. Until it is acknowledged it is delivered again at each connection, with
///   the same id.
/// - Messages of one priority reach a registration in the order in which they were accepted; of waiting messages, the
///   ones of high priority are delivered first.
/// - Of messages that wait with the same collapse key, the last one is delivered.
/// - A message to a topic or a condition is for the registrations whose topics at the time of sending fulfil it,
///   whether or not they keep these topics.
/// - A receiver that blocks delays no other receiver, however many block.
/// - A connection is not called before `connect` has returned, one delivery at a time, and never again once it was
///   cancelled from within a delivery.
public protocol MessagingBackend: Sendable {
  /// Registers an installation, or renews its registration.
  ///
  /// - Returns: Its token: the current one while that is valid, else a new one.
  func register(_ request: RegisterRequest, context: CallContext) async throws(MessagingServiceError) -> String

  /// Removes a registration with its topics and waiting messages. A token that is not registered is no error.
  func unregister(token: String, context: CallContext) async throws(MessagingServiceError)

  /// Subscribes a registration to a topic; doing it again changes nothing.
  func subscribe(token: String, toTopic topic: String, context: CallContext) async throws(MessagingServiceError)

  /// Ends a subscription; ending it again changes nothing.
  func unsubscribe(token: String, fromTopic topic: String, context: CallContext) async throws(MessagingServiceError)

  /// Connects a registration: delivers the messages that wait for it, and later ones as they arrive.
  ///
  /// A registration has one connection; an earlier one ends with `aborted`.
  ///
  /// - Parameters:
  ///   - token: The token of the registration.
  ///   - context: The caller.
  ///   - onEnd: Called once when the connection ends: without an error when the service was shut down in order.
  ///   - receive: Called with each delivery.
  /// - Returns: The connection; cancel it to close it. Neither closure is called afterwards.
  func connect(
    token: String, context: CallContext, onEnd: @escaping @Sendable (MessagingServiceError?) -> Void,
    _ receive: @escaping @Sendable (PushDelivery) -> Void
  ) -> ListenerRegistration

  /// Acknowledges deliveries: they are not repeated.
  func acknowledge(
    token: String, messageIDs: [String], context: CallContext
  ) async throws(MessagingServiceError)
}

/// The messaging service as the owner of the project sees it.
///
/// Every call needs the context of the owner, `CallContext.owner`; another one is refused with `permissionDenied`.
public protocol MessagingAdminBackend: Sendable {
  /// Sends a message; it is accepted, and survives a crash, when this has returned.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - isValidateOnly: Whether to check the message only.
  ///   - context: The caller.
  /// - Returns: The name of the message: `projects/<project>/messages/<id>`.
  func send(
    _ message: PushMessage, isValidateOnly: Bool, context: CallContext
  ) async throws(MessagingServiceError) -> String

  /// Sends up to 500 messages, each by itself.
  ///
  /// - Returns: For each message its name, or why it was refused.
  func sendEach(
    _ messages: [PushMessage], isValidateOnly: Bool, context: CallContext
  ) async throws(MessagingServiceError) -> [Result<String, MessagingServiceError>]

  /// Subscribes up to 1000 registrations to a topic.
  ///
  /// - Returns: For each token `nil`, or why it was refused.
  func subscribe(
    tokens: [String], toTopic topic: String, context: CallContext
  ) async throws(MessagingServiceError) -> [MessagingServiceError?]

  /// Ends subscriptions of up to 1000 registrations.
  ///
  /// - Returns: For each token `nil`, or why it was refused.
  func unsubscribe(
    tokens: [String], fromTopic topic: String, context: CallContext
  ) async throws(MessagingServiceError) -> [MessagingServiceError?]

  /// Returns a registration.
  ///
  /// - Throws: `notFound` when it is not registered.
  func registration(token: String, context: CallContext) async throws(MessagingServiceError) -> RegistrationInfo

  /// Returns the token of the registration of an installation with the project as its sender.
  ///
  /// - Throws: `notFound` when it is not registered.
  func token(ofInstallation id: String, context: CallContext) async throws(MessagingServiceError) -> String

  /// The messages that wait or are kept, the newest first.
  ///
  /// - Parameters:
  ///   - pageSize: The most messages of one page, from 1 to 1000.
  ///   - pageToken: Where the page begins: the token of the last page.
  ///   - context: The caller.
  func outbox(
    pageSize: Int, pageToken: String?, context: CallContext
  ) async throws(MessagingServiceError) -> OutboxPage

  /// Returns the statistics of the service.
  func statistics(context: CallContext) async throws(MessagingServiceError) -> DeliveryStatistics
}

extension MessagingAdminBackend {
  /// Sends one message to up to 500 registrations.
  ///
  /// - Parameters:
  ///   - message: The message; its target does not count.
  ///   - tokens: The registrations.
  ///   - context: The caller.
  /// - Returns: For each token the name of its message, or why it was refused.
  public func sendEachForMulticast(
    _ message: PushMessage, tokens: [String], context: CallContext
  ) async throws(MessagingServiceError) -> [Result<String, MessagingServiceError>] {
    let messages = tokens.map { token in
      var copy = message
      copy.target = .token(token)
      return copy
    }
    return try await sendEach(messages, isValidateOnly: false, context: context)
  }
}
