import Dispatch
import Testing
import VestaBytes
import VestaConcurrency
import VestaMessagingBackend
import VestaMessagingBackendContracts
import VestaMessagingService
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting

/// A service with one flaw, and the promise that it breaks.
enum Flaw: String, CaseIterable, Sendable {
  case takesAnyCredential = "a credential that cannot be verified"
  case newTokenEachTime = "a registration keeps its token"
  case newIDEachTime = "unacknowledged messages come again with the same id"
  case anybodySends = "only the owner sends"
  case stopsAtTheFirstFailure = "of several messages each is accepted or refused by itself"
  case refusesNothing = "a wrong message is refused with the field"
  case tellsTokensToAll = "the owner, and nobody else, finds the token"
  case forgetsTopics = "the owner subscribes many registrations"
  case keepsRegistrations = "an installation that was unregistered receives nothing"
  case swapsMessages = "a connected registration receives messages at once and in order"
  case keepsNothing = "messages wait for a registration that is away"
  case ignoresPriorities = "of waiting messages those of high priority come first"
  case ignoresCollapseKeys = "of waiting messages with one collapse key"
  case keepsImmediateMessages = "an immediate message (time to live 0) does not wait"
  case ignoresTopicPriorities = "messages to a topic wait by the same rules"
  case dropsImmediateMessages = "an immediate message (time to live 0) reaches a connection"
  case callsOneAfterTheOther = "a receiver that blocks delays nobody else"
  case blocksThreads = "many receivers that block"
  case forgetsWithTheTopic = "a message to a topic is for who is subscribed when it is sent"
  case keepsConnections = "a connection ends with its registration"
  case endsNothing = "a second connection ends the first one"
  case stopsAtTheWindow = "more messages than a connection may have unacknowledged"
  case forgetsSubscriptions = "a topic reaches its subscribers"
  case ignoresConditions = "a condition reaches those whose topics fulfil it"
  case acceptsWhatIsDeep = "what is nested too deeply"
  case endsWithoutAReason = "a connection of a token that is not registered"
}

private final class FlawedService: MessagingBackend, MessagingAdminBackend {
  let engine = MessagingEngine(projectID: "p", senderID: "1") { ModelStore() }
  let flaw: Flaw
  private let deliveries = Locked(0)
  private let held = Locked<PushDelivery?>(nil)
  private let connections = Locked(0)
  private let queue = DispatchQueue(label: "flaw")
  private let shared = DispatchQueue(label: "flaw.shared", attributes: .concurrent)

  init(_ flaw: Flaw) { self.flaw = flaw }

  func register(_ request: RegisterRequest, context: CallContext) async throws(MessagingServiceError) -> String {
    var request = request
    if flaw == .newTokenEachTime { request.currentToken = nil }
    return try await engine.register(request, context: flaw == .takesAnyCredential ? CallContext() : context)
  }

  func token(ofInstallation id: String, context: CallContext) async throws(MessagingServiceError) -> String {
    try await engine.token(ofInstallation: id, context: flaw == .tellsTokensToAll ? .owner : context)
  }

  func unregister(token: String, context: CallContext) async throws(MessagingServiceError) {
    if flaw != .keepsRegistrations { try await engine.unregister(token: token, context: context) }
  }

  func subscribe(token: String, toTopic topic: String, context: CallContext) async throws(MessagingServiceError) {
    if flaw == .forgetsSubscriptions { return }
    try await engine.subscribe(token: token, toTopic: topic, context: context)
  }

  func unsubscribe(token: String, fromTopic topic: String, context: CallContext) async throws(MessagingServiceError) {
    try await engine.unsubscribe(token: token, fromTopic: topic, context: context)
  }

  func connect(
    token: String, context: CallContext, onEnd: @escaping @Sendable (MessagingServiceError?) -> Void,
    _ receive: @escaping @Sendable (PushDelivery) -> Void
  ) -> ListenerRegistration {
    connections.withLock { $0 += 1 }
    let onEnd: @Sendable (MessagingServiceError?) -> Void = { [flaw] error in
      if flaw != .endsNothing, flaw != .keepsConnections { onEnd(flaw == .endsWithoutAReason ? nil : error) }
    }
    return engine.connect(token: token, context: context, onEnd: onEnd) { [self] delivery in
      for delivery in flawed(delivery) {
        if flaw == .forgetsWithTheTopic, delivery.message.data["text"] == "a" { continue }
        switch flaw {
        case .callsOneAfterTheOther: queue.sync { receive(delivery) }
        case .blocksThreads: shared.async { receive(delivery) }
        default: receive(delivery)
        }
      }
    }
  }

  private func flawed(_ delivery: PushDelivery) -> [PushDelivery] {
    var delivery = delivery
    switch flaw {
    case .newIDEachTime:
      delivery.messageID += deliveries.withLock { count in
        count += 1
        return "\(count)"
      }
    case .dropsImmediateMessages: if delivery.settings.timeToLive <= 0 { return [] }
    case .swapsMessages:
      return held.withLock { held in
        defer { held = held == nil ? delivery : nil }
        return held.map { [delivery, $0] } ?? []
      }
    default: break
    }
    return [delivery]
  }

  func acknowledge(token: String, messageIDs: [String], context: CallContext) async throws(MessagingServiceError) {
    if flaw == .stopsAtTheWindow { return }
    try await engine.acknowledge(token: token, messageIDs: messageIDs, context: context)
  }

  func send(
    _ message: PushMessage, isValidateOnly: Bool, context: CallContext
  ) async throws(MessagingServiceError) -> String {
    var message = message
    switch flaw {
    case .refusesNothing: message.data = ["a": "b"]
    case .ignoresPriorities, .ignoresTopicPriorities: message.android?["priority"] = "NORMAL"
    case .ignoresCollapseKeys: message.android?["collapse_key"] = nil
    case .keepsImmediateMessages: message.android?["ttl"] = nil
    case .acceptsWhatIsDeep: message.apns = nil
    case .ignoresConditions: if case .condition = message.target { message.target = .topic("a") }
    default: break
    }
    let isLost = flaw == .keepsNothing && connections.withLock { $0 } == 0
    return try await engine.send(
      message, isValidateOnly: isValidateOnly || isLost, context: flaw == .anybodySends ? .owner : context)
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
    await #expect(throws: (any Error).self) {
      try await contract.verify(MessagingSubject(FlawedService(flaw), patience: .seconds(1)))
    }
  }

  @Test func `every promise has a service that breaks it`() {
    let found = Set(
      Flaw.allCases.compactMap { flaw in
        MessagingContracts.all.first { $0.name.hasPrefix(flaw.rawValue) }?.name
      })
    #expect(MessagingContracts.all.map(\.name).filter { !found.contains($0) } == [])
  }

  /// A transport with one flaw.
  private struct FlawedTransport: PushTransport {
    var platforms: Set<String> = ["ios"]
    let body: @Sendable (PushDelivery, PushAddress) async throws(MessagingServiceError) -> Void

    func push(_ delivery: PushDelivery, to address: PushAddress) async throws(MessagingServiceError) {
      try await body(delivery, address)
    }
  }

  @Test func `the contract of transports finds one that breaks a promise`() async throws {
    let recording = RecordingPushTransport()
    recording.remove(address: "gone")
    let calls = Locked(0)
    let flawed: [(String, FlawedTransport)] = [
      ("a push that has returned", FlawedTransport { _, _ in }),
      (
        "an address that does not exist",
        FlawedTransport { delivery, address throws(MessagingServiceError) in
          let isFirst = calls.withLock { count in
            count += 1
            return count == 1
          }
          if isFirst { try await recording.push(delivery, to: address) }
        }
      ),
      (
        "pushes at the same time",
        FlawedTransport { delivery, address throws(MessagingServiceError) in
          let isFirst = calls.withLock { count in
            count += 1
            return count == 1
          }
          if isFirst { try await recording.push(delivery, to: address) }
        }
      ),
      ("it reaches at least one platform", FlawedTransport(platforms: []) { _, _ in }),
    ]
    #expect(flawed.count == PushTransportContracts.all.count)
    for (name, transport) in flawed {
      calls.withLock { $0 = 0 }
      let contract = try #require(PushTransportContracts.all.first { $0.name.hasPrefix(name) })
      let before = recording.pushes.count
      await #expect(throws: (any Error).self, "\(name)") {
        try await contract.verify(
          PushTransportSubject(transport, address: "here", missingAddress: "gone") {
            recording.pushes.dropFirst(before).map(\.delivery.messageID)
          })
      }
    }
  }
}
