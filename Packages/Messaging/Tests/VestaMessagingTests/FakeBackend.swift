import Foundation
import VestaConcurrency
import VestaCore
import VestaMessagingBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaMessaging

/// A service that a test scripts.
final class FakeBackend: MessagingBackend {
  struct Link: Sendable {
    var token: String
    var end: @Sendable (MessagingServiceError?) -> Void
    var receive: @Sendable (PushDelivery) -> Void
  }

  struct State {
    var failure: ServiceCode?
    /// Whether every registration gets a new token.
    var rotates = false
    var tokens = 0
    var requests: [RegisterRequest] = []
    var unregistered: [String] = []
    var topics: [String] = []
    /// How often a topic was to be changed, also in vain.
    var topicCalls = 0
    var acknowledged: [String] = []
    /// The messages whose acknowledgement is refused for good.
    var refused: Set<String> = []
    /// The ids of each acknowledgement.
    var batches: [[String]] = []
    var links: [Int: Link] = [:]
    var connections = 0
  }

  let state = Locked(State())
  let gate = Gate(isOpen: true)
  let changes = EventLog<String>(patience: .seconds(300))

  func fail(_ code: ServiceCode?) { state.withLock { $0.failure = code } }
  var links: [Link] { state.withLock { Array($0.links.values) } }

  private func check() async throws(MessagingServiceError) {
    await gate.wait()
    if let failure = state.withLock({ $0.failure }) { throw MessagingServiceError(failure, "scripted") }
  }

  func register(_ request: RegisterRequest, context: CallContext) async throws(MessagingServiceError) -> String {
    state.withLock { $0.requests.append(request) }
    try await check()
    return state.withLock { state in
      if let current = request.currentToken, !state.rotates, !state.unregistered.contains(current) { return current }
      state.tokens += 1
      return "\(request.installationID):\(request.senderID ?? "")\(state.tokens)"
    }
  }

  func unregister(token: String, context: CallContext) async throws(MessagingServiceError) {
    try await check()
    state.withLock { $0.unregistered.append(token) }
  }

  func subscribe(token: String, toTopic topic: String, context: CallContext) async throws(MessagingServiceError) {
    state.withLock { $0.topicCalls += 1 }
    try await check()
    state.withLock { $0.topics.append("+\(topic)") }
    changes.record("+\(topic)")
  }

  func unsubscribe(token: String, fromTopic topic: String, context: CallContext) async throws(MessagingServiceError) {
    try await check()
    state.withLock { $0.topics.append("-\(topic)") }
    changes.record("-\(topic)")
  }

  func connect(
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

  func acknowledge(
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

  func deliver(_ id: String, _ text: String, droppedBefore: Int = 0) {
    let message = PushMessage(to: .token("t"), notification: PushNotification(title: "T"), data: ["text": text])
    let settings = DeliverySettings(message, platform: "linux", now: 0)
    for link in links {
      link.receive(
        PushDelivery(
          messageID: id, message: message, from: "1", sentTime: 0, settings: settings, droppedBefore: droppedBefore))
    }
  }

  func endConnections(_ code: ServiceCode?) {
    let links = state.withLock { state in
      defer { state.links = [:] }
      return Array(state.links.values)
    }
    for link in links { link.end(code.map { MessagingServiceError($0, "scripted") }) }
  }
}

/// An app with a client on a scripted service, and virtual time.
struct Bench: Sendable {
  let directory: TemporaryDirectory
  let app: VestaApp
  let backend: FakeBackend
  let clock = ManualClock()
  let messaging: Messaging

  init(
    backend: FakeBackend = FakeBackend(), autoInit: Bool = false, tuning: MessagingTuning = MessagingTuning()
  ) throws {
    self.backend = backend
    directory = try TemporaryDirectory("messaging")
    let options = VestaOptions(
      projectID: "p", backend: .embedded(directory: URL(filePath: directory.path, directoryHint: .isDirectory)))
    options.callbackQueue = .global()
    app = try VestaApp.configure(name: "msg-\(UUID().uuidString)", options: options, libraries: [])
    app.isDataCollectionDefaultEnabled = autoInit
    messaging = Bench.client(app, backend, clock, tuning)
  }

  static func client(
    _ app: VestaApp, _ backend: FakeBackend, _ clock: ManualClock, _ tuning: MessagingTuning = MessagingTuning()
  ) -> Messaging {
    Messaging(
      app: app, backend: backend,
      clock: ServiceClock(now: { clock.now }, schedule: { clock.schedule(after: $0, $1) }), tuning: tuning)
  }

  func end() async {
    messaging.end()
    await app.delete()
  }
}
