public import VestaConcurrency
import VestaCore
public import VestaMessagingBackend
public import VestaServiceInterop
public import VestaStoreInterop

/// The messaging service on any ordered store.
///
/// - A message is accepted when its transaction is committed; what waits for whom is in the store alone, so a second
///   engine on the same data, now or after a restart, goes on where this one was.
/// - A message to a topic costs two rows and a delivery for each connected subscriber, however many there are.
/// - Statistics are counted in the transactions that they count, so a crash loses none. Only deliveries, which change
///   nothing in the store, are written down with the next acknowledgement or after a second.
///
/// ```swift
/// let engine = MessagingEngine(projectID: "demo", senderID: "1") { try await provider.openStore(…) }
/// let request = RegisterRequest(installationID: id, platform: "linux", appID: "a")
/// let token = try await engine.register(request, context: CallContext())
/// try await engine.send(PushMessage(to: .token(token), data: ["a": "b"]), isValidateOnly: false, context: .owner)
/// ```
public final class MessagingEngine: MessagingBackend, MessagingAdminBackend {
  let projectID: String
  let senderID: String
  let options: MessagingServiceOptions
  let transports: [any PushTransport]
  let table = SessionTable()
  let deliveries = DeliveryCount()
  private let storage: LazyResource<any OrderedStore>

  /// The observation of the store's commits, from its start on.
  private struct Observation: Sendable {
    var registration: ListenerRegistration?
  }

  private let observation = Locked<Observation?>(nil)
  let lastSweep = Locked<Int64?>(nil)
  /// The last row of the registrations that was looked at.
  let lastRegistration = Locked<[UInt8]?>(nil)
  let boundary: ServiceBoundary<MessagingServiceError>

  /// An engine; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - projectID: The project, which is part of the names of messages.
  ///   - senderID: The sender of the project's messages.
  ///   - options: How it behaves.
  ///   - transports: The transports to registrations that are not connected.
  ///   - openStore: Opens the store, at the first call; called again at the next one when it throws.
  public init(
    projectID: String, senderID: String, options: MessagingServiceOptions = MessagingServiceOptions(),
    transports: [any PushTransport] = [], openStore: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    self.projectID = projectID
    self.senderID = senderID
    self.options = options
    self.transports = transports
    boundary = ServiceBoundary(clock: options.clock) { log.error("I-MSS000002", "A call failed unexpectedly: \($0)") }
    let closed = StoreError(
      .closed, operation: "open", message: "The messaging service has been shut down with its app.")
    storage = LazyResource(whenClosed: closed, open: openStore, close: { try await $0.close() })
  }

  /// Ends all connections in order and closes the store; every later call fails with `UNAVAILABLE`.
  ///
  /// - Throws: `StoreError` when the store could not be closed well.
  public func close() async throws {
    for session in table.close() { session.end(nil) }
    observation.withLock { $0.take() }?.registration?.cancel()
    _ = try? await countDeliveries()
    try await storage.close()
  }

  // MARK: The service as installations see it

  /// Registers an installation and returns its token.
  public func register(
    _ request: RegisterRequest, context: CallContext
  ) async throws(MessagingServiceError) -> String {
    let token = try await write(context) { try await $0.register(request) }
    startDispatching()
    return token
  }

  /// Deletes a registration; its token is not valid any more.
  public func unregister(token: String, context: CallContext) async throws(MessagingServiceError) {
    try await write(context) { try await $0.unregister(token: token) }
    startDispatching()
  }

  /// Subscribes a registration to a topic.
  public func subscribe(
    token: String, toTopic topic: String, context: CallContext
  ) async throws(MessagingServiceError) {
    let topic = try TopicName.checked(topic, field: "topic")
    try await write(context) { try await $0.subscribe(token: token, toTopic: topic) }
    startDispatching()
  }

  /// Ends the subscription of a registration to a topic.
  public func unsubscribe(
    token: String, fromTopic topic: String, context: CallContext
  ) async throws(MessagingServiceError) {
    let topic = try TopicName.checked(topic, field: "topic")
    try await write(context) { try await $0.unsubscribe(token: token, fromTopic: topic) }
    startDispatching()
  }

  /// Connects a registration: it receives what waits for it, then what is sent.
  public func connect(
    token: String, context: CallContext, onEnd: @escaping @Sendable (MessagingServiceError?) -> Void,
    _ receive: @escaping @Sendable (PushDelivery) -> Void
  ) -> ListenerRegistration {
    let connection = PendingConnection(onEnd: onEnd, receive: receive)
    Task { await self.open(connection, token: token) }
    return ListenerRegistration { [weak self] in
      guard let session = connection.cancel() else { return }
      self?.table.remove(session)
    }
  }

  /// Acknowledges messages, which are not delivered to the registration again.
  public func acknowledge(
    token: String, messageIDs: [String], context: CallContext
  ) async throws(MessagingServiceError) {
    guard messageIDs.count <= 1000 else {
      throw .invalid("messageIDs", "At most 1000 messages are acknowledged at once.")
    }
    let delivered = deliveries.take()
    do {
      let outcome = try await write(context) {
        try await $0.acknowledge(token: token, messageIDs: messageIDs, delivered: delivered)
      }
      settle(outcome.numbers, of: outcome.key, token: token)
    } catch {
      deliveries.add(delivered)
      throw error
    }
  }

  // MARK: The service as the owner sees it

  /// Accepts a message, durably, or only validates it.
  public func send(
    _ message: PushMessage, isValidateOnly: Bool, context: CallContext
  ) async throws(MessagingServiceError) -> String {
    let message = try message.checked()
    let acceptance = try await write(context, asOwner: true) {
      try await $0.send(message, isValidateOnly: isValidateOnly)
    }
    accepted([acceptance], isValidateOnly: isValidateOnly)
    return name(acceptance)
  }

  /// Accepts several messages, each by itself.
  public func sendEach(
    _ messages: [PushMessage], isValidateOnly: Bool, context: CallContext
  ) async throws(MessagingServiceError) -> [Result<String, MessagingServiceError>] {
    guard (1...500).contains(messages.count) else {
      throw .invalid("messages", "There are 1 to 500 messages in a call, not \(messages.count).")
    }
    // They are checked before the transaction, which nobody is to wait for longer than needed.
    let checked = messages.map { message in Result { () throws(MessagingServiceError) in try message.checked() } }
    let outcomes = try await write(context, asOwner: true) { call in
      var outcomes: [Result<Acceptance, MessagingServiceError>] = []
      for message in checked { outcomes.append(try await call.outcome(of: message, isValidateOnly)) }
      return outcomes
    }
    accepted(outcomes.compactMap { try? $0.get() }, isValidateOnly: isValidateOnly)
    return outcomes.map { outcome in outcome.map(name) }
  }

  /// Subscribes registrations to a topic.
  public func subscribe(
    tokens: [String], toTopic topic: String, context: CallContext
  ) async throws(MessagingServiceError) -> [MessagingServiceError?] {
    try await manage(tokens, topic, context) { try await $0.subscribe(token: $1, toTopic: $2) }
  }

  /// Ends the subscriptions of registrations to a topic.
  public func unsubscribe(
    tokens: [String], fromTopic topic: String, context: CallContext
  ) async throws(MessagingServiceError) -> [MessagingServiceError?] {
    try await manage(tokens, topic, context) { try await $0.unsubscribe(token: $1, fromTopic: $2) }
  }

  /// Returns what is known about a registration.
  public func registration(
    token: String, context: CallContext
  ) async throws(MessagingServiceError) -> RegistrationInfo {
    let (now, lifetime) = (options.clock.now(), options.registrationLifetime.microseconds)
    return try await read(context) { reader in
      let (key, record) = try await reader.registration(token: token, now: now, lifetime: lifetime)
      return RegistrationInfo(
        installationID: key.installationID, platform: record.platform, appID: record.appID,
        createTime: record.createTime, lastSeenTime: record.lastSeenTime,
        topics: try await reader.subscriptions(key).keys.sorted())
    }
  }

  /// Returns the messages that were accepted, a page at a time.
  public func outbox(
    pageSize: Int, pageToken: String?, context: CallContext
  ) async throws(MessagingServiceError) -> OutboxPage {
    guard (1...1000).contains(pageSize) else { throw .invalid("pageSize", "It is between 1 and 1000.") }
    let before = pageToken.map { Int64($0) ?? 0 } ?? Int64.max - 1
    guard before > 0 else { throw .invalid("pageToken", "It is no page token of this list.") }
    return try await read(context) { try await OutboxCall(reader: $0).page(pageSize, before: before) }
  }

  /// Removes what is over, and returns the counts of accepted, delivered and expired messages.
  public func statistics(context: CallContext) async throws(MessagingServiceError) -> DeliveryStatistics {
    try await answer(context) {
      try Self.check(owner: context)
      try await self.sweep()
      return try await self.countDeliveries()
    }
  }

  // MARK: Parts

  private func name(_ acceptance: Acceptance) -> String { "projects/\(projectID)/messages/\(acceptance.messageID)" }

  private func accepted(_ messages: [Acceptance], isValidateOnly: Bool) {
    guard !isValidateOnly else { return }
    startDispatching()
    startPushing(messages.map(\.number))
    startSweeping()
  }

  private func manage(
    _ tokens: [String], _ topic: String, _ context: CallContext,
    _ change: @escaping @Sendable (MessagingCall, String, String) async throws -> Void
  ) async throws(MessagingServiceError) -> [MessagingServiceError?] {
    let topic = try TopicName.checked(topic, field: "topic")
    guard (1...1000).contains(tokens.count) else {
      throw .invalid("tokens", "There are 1 to 1000 tokens in a call, not \(tokens.count).")
    }
    let outcomes = try await write(context, asOwner: true) { call in
      var outcomes: [MessagingServiceError?] = []
      for token in tokens {
        do {
          try await change(call, token, topic)
          outcomes.append(nil)
        } catch let error as MessagingServiceError {
          // Every change looks at all rows before it writes the first one.
          outcomes.append(error)
        }
      }
      return outcomes
    }
    startDispatching()
    return outcomes
  }

  // MARK: The store

  func store() async throws -> any OrderedStore {
    let store = try await storage.get()
    observe(store)
    return store
  }

  /// Messages of other engines on the same store are dispatched too, when the store notifies of its commits.
  private func observe(_ store: any OrderedStore) {
    guard let observable = store as? any CommitObservable else { return }
    let isFirst = observation.withLock { observation in
      guard observation == nil else { return false }
      observation = Observation()
      return true
    }
    guard isFirst else { return }
    let registration = observable.observeCommits { [weak self] _ in self?.startDispatching() }
    let isKept = observation.withLock { observation in
      observation?.registration = registration
      return observation != nil
    }
    if !isKept { registration.cancel() }
  }

  private func read<Value: Sendable>(
    _ context: CallContext, _ body: @escaping @Sendable (MessagingReader) async throws -> Value
  ) async throws(MessagingServiceError) -> Value {
    try await answer(context) {
      try Self.check(owner: context)
      return try await self.store().read { try await body(MessagingReader(reader: $0)) }
    }
  }

  func write<Value: Sendable>(
    _ context: CallContext, asOwner: Bool = false, _ body: @escaping @Sendable (MessagingCall) async throws -> Value
  ) async throws(MessagingServiceError) -> Value {
    let (options, senderID, now) = (options, senderID, options.clock.now())
    return try await answer(context) {
      if asOwner { try Self.check(owner: context) }
      return try await self.store().write { transaction in
        try await body(MessagingCall(transaction: transaction, options: options, senderID: senderID, now: now))
      }.value
    }
  }

  private func answer<Value: Sendable>(
    _ context: CallContext, _ call: @escaping @Sendable () async throws -> Value
  ) async throws(MessagingServiceError) -> Value {
    try await boundary.serve(context) {
      do {
        return try await call()
      } catch let error as StoreError {
        throw MessagingServiceError(.unavailable, "The store failed: \(error.code) (\(error.operation)).")
      }
    }
  }

  private static func check(owner context: CallContext) throws {
    guard context.isOwner else {
      throw MessagingServiceError(.permissionDenied, "Sending is for the owner: call with CallContext.owner.")
    }
  }
}

extension MessagingCall {
  /// Sends one message of several: neither a refused one nor one to a damaged registration stops the others.
  ///
  /// A failure after the look-up ends the transaction: a part of the message may have been written.
  fileprivate func outcome(
    of message: Result<PushMessage, MessagingServiceError>, _ isValidateOnly: Bool
  ) async throws -> Result<Acceptance, MessagingServiceError> {
    let (checked, target): (PushMessage, Recipient?)
    do {
      checked = try message.get()
      target = try await recipient(of: checked)
    } catch let error as MessagingServiceError {
      return .failure(error)
    }
    return .success(try await send(checked, to: target, isValidateOnly: isValidateOnly))
  }
}

private let log = Logger(service: "VestaMessagingService")
