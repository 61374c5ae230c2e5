public import VestaConcurrency
public import VestaMessagingBackend
public import VestaServiceInterop
public import VestaTesting

/// A service that answers as a test has scripted it, and notes its calls.
///
/// It registers every installation, keeps no messages and checks nothing: a message is delivered when the test says so.
///
/// ```swift
/// let backend = ScriptedMessagingBackend()
/// backend.fail(.unavailable)  // until `backend.fail(nil)`
/// backend.deliver("1", "hello")
/// ```
public final class ScriptedMessagingBackend: MessagingBackend {
  /// A connection as the service sees it.
  public struct Link: Sendable {
    /// The token of the registration.
    public var token: String
    /// Ends the connection, with an error or without.
    public var end: @Sendable (MessagingServiceError?) -> Void
    /// Sends a message.
    public var receive: @Sendable (PushDelivery) -> Void
  }

  /// The script, and the calls so far.
  public struct State: Sendable {
    /// The failure of each call; `nil` for success.
    public var failure: ServiceCode?
    /// Whether every registration gets a new token.
    public var rotates = false
    /// The number of tokens so far.
    public var tokens = 0
    /// The registrations, also failed ones.
    public var requests: [RegisterRequest] = []
    /// The tokens that were unregistered.
    public var unregistered: [String] = []
    /// The changes of topics, such as `+news`.
    public var topics: [String] = []
    /// The number of calls that subscribe, also of failed ones.
    public var topicCalls = 0
    /// The ids of the acknowledged messages.
    public var acknowledged: [String] = []
    /// The messages whose acknowledgement is refused for good.
    public var refused: Set<String> = []
    /// The ids of each acknowledgement.
    public var batches: [[String]] = []
    /// The open connections.
    public var links: [Int: Link] = [:]
    /// The number of connections so far.
    public var connections = 0
  }

  /// The script, and the calls so far.
  public let state = Locked(State())
  /// Closed by a test to hold up every call but `connect`.
  public let gate = Gate(isOpen: true)
  /// The changes of topics and the acknowledgements, such as `+news` and `ack 1`.
  public let changes = EventLog<String>(patience: .seconds(300))

  /// A service that lets every call succeed.
  public init() {}

  /// Lets all calls fail with a code, or succeed for `nil`.
  public func fail(_ code: ServiceCode?) { state.withLock { $0.failure = code } }

  /// The open connections.
  public var links: [Link] { state.withLock { Array($0.links.values) } }

  private func check() async throws(MessagingServiceError) {
    await gate.wait()
    if let failure = state.withLock({ $0.failure }) { throw MessagingServiceError(failure, "scripted") }
  }

  /// Returns the current token, or the next one.
  public func register(_ request: RegisterRequest, context: CallContext) async throws(MessagingServiceError) -> String {
    state.withLock { $0.requests.append(request) }
    try await check()
    return state.withLock { state in
      if let current = request.currentToken, !state.rotates, !state.unregistered.contains(current) { return current }
      state.tokens += 1
      return "\(request.installationID):\(request.senderID ?? "")\(state.tokens)"
    }
  }

  /// Notes the token.
  public func unregister(token: String, context: CallContext) async throws(MessagingServiceError) {
    try await check()
    state.withLock { $0.unregistered.append(token) }
  }

  /// Notes the topic as `+topic`.
  public func subscribe(token: String, toTopic topic: String, context: CallContext) async throws(MessagingServiceError)
  {
    state.withLock { $0.topicCalls += 1 }
    try await check()
    state.withLock { $0.topics.append("+\(topic)") }
    changes.record("+\(topic)")
  }

  /// Notes the topic as `-topic`.
  public func unsubscribe(token: String, fromTopic topic: String, context: CallContext)
    async throws(MessagingServiceError)
  {
    try await check()
    state.withLock { $0.topics.append("-\(topic)") }
    changes.record("-\(topic)")
  }

  /// Opens a connection that stays until one side ends it.
  public func connect(
    token: String, context: CallContext, onEnd: @escaping @Sendable (MessagingServiceError?) -> Void,
    _ receive: @escaping @Sendable (PushDelivery) -> Void
  ) -> ListenerRegistration {
    let id = state.withLock { state in
      state.connections += 1
      state.links[state.connections] = Link(token: token, end: onEnd, receive: receive)
      return state.connections
    }
    return ListenerRegistration { [self] in _ = state.withLock { $0.links.removeValue(forKey: id) } }
  }

  /// Notes the ids, unless one of them is refused.
  public func acknowledge(
    token: String, messageIDs: [String], context: CallContext
  ) async throws(MessagingServiceError) {
    try await check()
    guard state.withLock({ $0.refused.isDisjoint(with: messageIDs) }) else {
      throw MessagingServiceError(.permissionDenied, "scripted")
    }
    state.withLock { state in
      state.acknowledged += messageIDs
      state.batches.append(messageIDs)
    }
    for id in messageIDs { changes.record("ack \(id)") }
  }

  /// Sends a message to every connection.
  public func deliver(_ id: String, _ text: String, droppedBefore: Int = 0) {
    let message = PushMessage(to: .token("t"), notification: PushNotification(title: "T"), data: ["text": text])
    let settings = DeliverySettings(message, platform: "linux", now: 0)
    for link in links {
      link.receive(
        PushDelivery(
          messageID: id, message: message, from: "1", sentTime: 0, settings: settings, droppedBefore: droppedBefore))
    }
  }

  /// Ends all connections, with an error or without.
  public func endConnections(_ code: ServiceCode?) {
    let links = state.withLock { state in
      defer { state.links = [:] }
      return Array(state.links.values)
    }
    for link in links { link.end(code.map { MessagingServiceError($0, "scripted") }) }
  }
}
