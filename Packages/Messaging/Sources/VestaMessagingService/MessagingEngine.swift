public import VestaConcurrency
import VestaCore
import VestaEngineInterop
public import VestaMessagingBackend
public import VestaServiceInterop
public import VestaStoreInterop

/// The messaging service on any ordered store.
///
/// - A message is accepted when its transaction is committed; what waits for whom is in the store alone, so a second
///   engine on the same data, now or after a restart, continues from this one's state.
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
///
/// To read on: `Calls/MessagingOperation.swift`, then the call in question in `Calls/`, `Delivery/` for what
/// connections receive, and the rows in `Store/Keys.swift`.
public final class MessagingEngine: MessagingBackend, MessagingAdminBackend {
  let projectID: String
  let senderID: String
  let options: MessagingServiceOptions
  let transports: [any PushTransport]
  let table: SessionTable
  let runner: DeliveryRunner
  let pushes: PushQueue
  let pushTimer = PushTimer()
  let deliveries = DeliveryCount()
  let frame: EngineFrame<MessagingServiceError>
  let lastSweep = Locked<Int64?>(nil)
  /// The lead of a shared store's clock over this engine's, in microseconds.
  let lead = Locked<Lead>(Lead())
  /// The last row of the registrations that was looked at.
  let lastRegistration = Locked<[UInt8]?>(nil)

  /// An engine; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - projectID: The project, which is part of the names of messages.
  ///   - senderID: The sender of the project's messages.
  ///   - options: The settings of the service.
  ///   - transports: The transports to registrations that are not connected.
  ///   - callers: The check of who calls; one that refuses every credential unless given.
  ///   - openStore: Opens the store, at the first call; called again at the next one when it throws.
  public init(
    projectID: String, senderID: String, options: MessagingServiceOptions = MessagingServiceOptions(),
    transports: [any PushTransport] = [], callers: CallerCheck = CallerCheck(),
    openStore: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    self.projectID = projectID
    self.senderID = senderID
    self.options = options
    self.transports = transports
    table = SessionTable(maximumInstants: options.tuning.maximumInstants)
    let tuning = options.tuning
    runner = DeliveryRunner(limit: tuning.deliveryThreads, patience: tuning.deliveryPatience)
    pushes = PushQueue(
      limit: (tuning.maximumPushes, tuning.maximumPushesOfService),
      lanes: (tuning.pushLanes, tuning.pushLanesOfService, tuning.pushLanesOfNewServices),
      known: tuning.knownPushServices)
    let opened = Locked<(@Sendable () -> Void)?>(nil)
    frame = EngineFrame("Messaging", clock: options.clock, callers: callers) {
      let store = try await openStore()
      opened.withLock { $0.take() }?()
      return store
    } report: {
      log.error("I-MSS000002", "A call failed unexpectedly: \($0)")
    }
    // An engine before this one may have left messages for the transports.
    opened.withLock { $0 = { [weak self] in self?.pushing.wake(at: 0) } }
    frame.onCommit { [weak self] _ in self?.startDispatching() }
  }

  /// Ends all connections in order and closes the store; every later call fails with `UNAVAILABLE`.
  ///
  /// - Throws: `StoreError` when the store could not be closed well.
  public func close() async throws {
    pushTimer.close()
    try await frame.close {
      for session in table.close() { session.end(nil) }
      _ = try? await countDeliveries()
    }
  }

  /// The platforms that transports reach.
  var platforms: Set<String> { transports.reduce(into: []) { $0.formUnion($1.platforms) } }

  /// The delivery to registrations that are not connected.
  var pushing: PushRunner { PushRunner(engine: self) }

  /// Runs a call as the frame does.
  func serve<Value: Sendable>(
    _ context: CallContext, _ call: @escaping @Sendable (MessagingOperation) async throws -> Value
  ) async throws(MessagingServiceError) -> Value {
    try await frame.serve(context) { [self] context in
      try await call(MessagingOperation(engine: self, context: context))
    }
  }

  /// Writes for the engine itself.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (MessagingCall) async throws -> Value
  ) async throws(MessagingServiceError) -> Value {
    try await serve(CallContext()) { try await $0.write(body) }
  }

  /// The store, with whose clock this engine's is compared now and then.
  func store() async throws -> any OrderedStore {
    let store = try await frame.store()
    await compareClocks(store)
    return store
  }

  // MARK: The service as installations see it

  /// Registers an installation and returns its token.
  public func register(
    _ request: RegisterRequest, context: CallContext
  ) async throws(MessagingServiceError) -> String {
    try await serve(context) { try await $0.register(request) }
  }

  /// Deletes a registration; its token is no longer valid.
  public func unregister(token: String, context: CallContext) async throws(MessagingServiceError) {
    try await serve(context) { try await $0.unregister(token: token) }
  }

  /// Subscribes a registration to a topic.
  public func subscribe(
    token: String, toTopic topic: String, context: CallContext
  ) async throws(MessagingServiceError) {
    try await serve(context) { try await $0.subscribe(token: token, toTopic: topic) }
  }

  /// Ends the subscription of a registration to a topic.
  public func unsubscribe(
    token: String, fromTopic topic: String, context: CallContext
  ) async throws(MessagingServiceError) {
    try await serve(context) { try await $0.unsubscribe(token: token, fromTopic: topic) }
  }

  /// Connects a registration: it receives what waits for it, then what is sent.
  public func connect(
    token: String, context: CallContext, onEnd: @escaping @Sendable (MessagingServiceError?) -> Void,
    _ receive: @escaping @Sendable (PushDelivery) -> Void
  ) -> ListenerRegistration {
    let connection = PendingConnection(onEnd: onEnd, receive: receive)
    Task { await self.open(connection, token: token, context) }
    return ListenerRegistration { [weak self] in
      guard let session = connection.cancel() else { return }
      self?.table.remove(session)
    }
  }

  /// Acknowledges messages, which are not delivered to the registration again.
  public func acknowledge(
    token: String, messageIDs: [String], context: CallContext
  ) async throws(MessagingServiceError) {
    try await serve(context) { try await $0.acknowledge(token: token, messageIDs: messageIDs) }
  }

  // MARK: The service as the owner sees it

  /// Accepts a message, durably, or only validates it.
  public func send(
    _ message: PushMessage, isValidateOnly: Bool, context: CallContext
  ) async throws(MessagingServiceError) -> String {
    try await serve(context) { try await $0.send(message, isValidateOnly: isValidateOnly) }
  }

  /// Accepts several messages, each by itself.
  public func sendEach(
    _ messages: [PushMessage], isValidateOnly: Bool, context: CallContext
  ) async throws(MessagingServiceError) -> [Result<String, MessagingServiceError>] {
    try await serve(context) { try await $0.sendEach(messages, isValidateOnly: isValidateOnly) }
  }

  /// Subscribes registrations to a topic.
  public func subscribe(
    tokens: [String], toTopic topic: String, context: CallContext
  ) async throws(MessagingServiceError) -> [MessagingServiceError?] {
    try await serve(context) { try await $0.subscribe(tokens: tokens, toTopic: topic) }
  }

  /// Ends the subscriptions of registrations to a topic.
  public func unsubscribe(
    tokens: [String], fromTopic topic: String, context: CallContext
  ) async throws(MessagingServiceError) -> [MessagingServiceError?] {
    try await serve(context) { try await $0.unsubscribe(tokens: tokens, fromTopic: topic) }
  }

  /// Returns what is known about a registration.
  public func registration(
    token: String, context: CallContext
  ) async throws(MessagingServiceError) -> RegistrationInfo {
    try await serve(context) { try await $0.registration(token: token) }
  }

  /// Returns the token of the registration of an installation.
  public func token(ofInstallation id: String, context: CallContext) async throws(MessagingServiceError) -> String {
    try await serve(context) { try await $0.token(ofInstallation: id) }
  }

  /// Returns the messages that were accepted, a page at a time.
  public func outbox(
    pageSize: Int, pageToken: String?, context: CallContext
  ) async throws(MessagingServiceError) -> OutboxPage {
    try await serve(context) { try await $0.outbox(pageSize: pageSize, pageToken: pageToken) }
  }

  /// Removes what is over, and returns the counts of accepted, delivered and expired messages.
  public func statistics(context: CallContext) async throws(MessagingServiceError) -> DeliveryStatistics {
    try await serve(context) { try await $0.statistics() }
  }
}

private let log = Logger(service: "VestaMessagingService")
