import VestaBytes
import VestaConcurrency
public import VestaMessagingBackend
import VestaServiceInterop
import VestaTesting

/// A messaging service that is held to its contract, without registrations at first.
public struct MessagingSubject: Sendable {
  /// The service as installations see it.
  public let backend: any MessagingBackend

  /// The same service as the owner sees it.
  public let admin: any MessagingAdminBackend

  /// The longest time a check waits for a message.
  public let patience: Duration

  /// A service.
  public init(_ service: any MessagingBackend & MessagingAdminBackend, patience: Duration = .seconds(30)) {
    self.init(backend: service, admin: service, patience: patience)
  }

  /// The two sides of one service.
  public init(
    backend: any MessagingBackend, admin: any MessagingAdminBackend, patience: Duration = .seconds(30)
  ) {
    self.backend = backend
    self.admin = admin
    self.patience = patience
  }
}

// Helpers of all checks.
extension MessagingSubject {
  func register(_ id: String = "installation", currentToken: String? = nil) async throws -> String {
    let request = RegisterRequest(installationID: id, platform: "linux", appID: "app", currentToken: currentToken)
    return try await backend.register(request, context: CallContext())
  }

  @discardableResult
  func send(
    to target: PushMessage.Target, _ text: String, collapseKey: String? = nil, isHigh: Bool = false, ttl: String? = nil
  ) async throws -> String {
    var message = PushMessage(to: target, data: ["text": text])
    if collapseKey != nil || isHigh || ttl != nil {
      message.android = ["priority": .string(isHigh ? "HIGH" : "NORMAL")]
      message.android?["collapse_key"] = collapseKey.map { .string($0) }
      message.android?["ttl"] = ttl.map { .string($0) }
    }
    return try await admin.send(message, isValidateOnly: false, context: .owner)
  }

  func subscribe(_ token: String, _ topic: String) async throws {
    try await backend.subscribe(token: token, toTopic: topic, context: CallContext())
  }

  func acknowledge(_ token: String, _ inbox: Inbox) async throws {
    let ids = inbox.log.events.map(\.messageID)
    try await backend.acknowledge(token: token, messageIDs: ids, context: CallContext())
  }
}

/// The deliveries of one connection.
final class Inbox: Sendable {
  let log: EventLog<PushDelivery>
  let ends: EventLog<String>
  private let registration = Locked<ListenerRegistration?>(nil)

  /// Connects.
  ///
  /// - Parameter body: Called with each delivery, before it is logged.
  init(_ subject: MessagingSubject, _ token: String, _ body: @escaping @Sendable (PushDelivery) -> Void = { _ in }) {
    let (log, ends) = (
      EventLog<PushDelivery>(patience: subject.patience), EventLog<String>(patience: subject.patience)
    )
    (self.log, self.ends) = (log, ends)
    let connection = subject.backend.connect(token: token, context: CallContext()) {
      ends.record($0.map(\.code.name) ?? "in order")
    } _: {
      body($0)
      log.record($0)
    }
    registration.withLock { $0 = connection }
  }

  var texts: [String] { log.events.compactMap { $0.message.data["text"] } }

  func wait(for texts: [String]) async throws {
    try await log.wait(for: "the messages \(texts)") { $0.compactMap { $0.message.data["text"] } == texts }
  }

  func close() { registration.withLock { $0.take() }?.cancel() }
}
