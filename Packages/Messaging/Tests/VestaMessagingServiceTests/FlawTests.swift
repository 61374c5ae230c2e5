import Testing
import VestaConcurrency
import VestaMessagingBackend
import VestaMessagingBackendContracts
import VestaMessagingService
import VestaServiceInterop
import VestaStoreInteropContracts
import VestaTesting

/// A service with one flaw, and the promise that it breaks.
enum Flaw: String, CaseIterable, Sendable {
  case newTokenEachTime = "a registration keeps its token"
  case newIDEachTime = "unacknowledged messages come again with the same id"
  case anybodySends = "only the owner sends"
  case stopsAtTheFirstFailure = "of several messages each is accepted or refused by itself"
  case refusesNothing = "a wrong message is refused with the field"
  case forgetsTopics = "the owner subscribes many registrations"
}

private final class FlawedService: MessagingBackend, MessagingAdminBackend {
  let engine = MessagingEngine(projectID: "p", senderID: "1") { ModelStore() }
  let flaw: Flaw
  private let deliveries = Locked(0)

  init(_ flaw: Flaw) { self.flaw = flaw }

  func register(_ request: RegisterRequest, context: CallContext) async throws(MessagingServiceError) -> String {
    var request = request
    if flaw == .newTokenEachTime { request.currentToken = nil }
    return try await engine.register(request, context: context)
  }

  func unregister(token: String, context: CallContext) async throws(MessagingServiceError) {
    try await engine.unregister(token: token, context: context)
  }

  func subscribe(token: String, toTopic topic: String, context: CallContext) async throws(MessagingServiceError) {
    try await engine.subscribe(token: token, toTopic: topic, context: context)
  }

  func unsubscribe(token: String, fromTopic topic: String, context: CallContext) async throws(MessagingServiceError) {
    try await engine.unsubscribe(token: token, fromTopic: topic, context: context)
  }

  func connect(
    token: String, context: CallContext, onEnd: @escaping @Sendable (MessagingServiceError?) -> Void,
    _ receive: @escaping @Sendable (PushDelivery) -> Void
  ) -> ListenerRegistration {
    engine.connect(token: token, context: context, onEnd: onEnd) { [flaw, deliveries] delivery in
      var delivery = delivery
      if flaw == .newIDEachTime {
        delivery.messageID += deliveries.withLock { count in
          count += 1
          return "\(count)"
        }
      }
      receive(delivery)
    }
  }

  func acknowledge(token: String, messageIDs: [String], context: CallContext) async throws(MessagingServiceError) {
    try await engine.acknowledge(token: token, messageIDs: messageIDs, context: context)
  }

  func send(
    _ message: PushMessage, isValidateOnly: Bool, context: CallContext
  ) async throws(MessagingServiceError) -> String {
    var message = message
    if flaw == .refusesNothing { message.data = ["a": "b"] }
    return try await engine.send(
      message, isValidateOnly: isValidateOnly, context: flaw == .anybodySends ? .owner : context)
  }

  func sendEach(
    _ messages: [PushMessage], isValidateOnly: Bool, context: CallContext
  ) async throws(MessagingServiceError) -> [Result<String, MessagingServiceError>] {
    let results = try await engine.sendEach(messages, isValidateOnly: isValidateOnly, context: context)
    guard flaw == .stopsAtTheFirstFailure else { return results }
    for result in results { _ = try result.get() }
    return results
  }

  func subscribe(
    tokens: [String], toTopic topic: String, context: CallContext
  ) async throws(MessagingServiceError) -> [MessagingServiceError?] {
    if flaw == .forgetsTopics { return tokens.map { _ in nil } }
    return try await engine.subscribe(tokens: tokens, toTopic: topic, context: context)
  }

  func unsubscribe(
    tokens: [String], fromTopic topic: String, context: CallContext
  ) async throws(MessagingServiceError) -> [MessagingServiceError?] {
    try await engine.unsubscribe(tokens: tokens, fromTopic: topic, context: context)
  }

  func registration(token: String, context: CallContext) async throws(MessagingServiceError) -> RegistrationInfo {
    try await engine.registration(token: token, context: context)
  }

  func outbox(
    pageSize: Int, pageToken: String?, context: CallContext
  ) async throws(MessagingServiceError) -> OutboxPage {
    try await engine.outbox(pageSize: pageSize, pageToken: pageToken, context: context)
  }

  func statistics(context: CallContext) async throws(MessagingServiceError) -> DeliveryStatistics {
    try await engine.statistics(context: context)
  }
}

@Suite struct FlawTests {
  @Test(arguments: Flaw.allCases)
  func `the contract finds a service that breaks a promise`(flaw: Flaw) async throws {
    let contract = try #require(MessagingContracts.all.first { $0.name.hasPrefix(flaw.rawValue) })
    await #expect(throws: (any Error).self) { try await contract.verify(MessagingSubject(FlawedService(flaw))) }
  }
}
