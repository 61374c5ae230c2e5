import Testing
import VestaConcurrency
import VestaMessagingBackend
import VestaMessagingBackendContracts
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaMessagingService

/// An engine on a store that is handed in, so that a second engine can continue with it.
func makeEngine(
  _ store: any OrderedStore = ModelStore(), clock: ManualClock = ManualClock(), transports: [any PushTransport] = [],
  maximumWaiting: Int = 1000, window: Int = 100, tuning: MessagingServiceTuning = MessagingServiceTuning()
) -> MessagingEngine {
  let service = ServiceClock(now: { clock.now }, schedule: { clock.schedule(after: $0, $1) })
  var options = MessagingServiceOptions(maximumWaiting: maximumWaiting, deliveryWindow: window, clock: service)
  options.tuning = tuning
  return MessagingEngine(projectID: "p", senderID: "1", options: options, transports: transports) { store }
}

extension MessagingEngine {
  func register(
    _ id: String = "one", sender: String? = nil, token: String? = nil, address: String? = nil, platform: String = "ios"
  ) async throws -> String {
    let request = RegisterRequest(
      installationID: id, senderID: sender, platform: address == nil ? "linux" : platform, appID: "a",
      pushAddress: address.map { PushAddress(text: $0) }, currentToken: token)
    return try await register(request, context: CallContext())
  }

  @discardableResult
  func send(_ text: String, to target: PushMessage.Target, ttl: String? = nil) async throws -> String {
    var message = PushMessage(to: target, data: ["text": text])
    if let ttl { message.android = ["ttl": .string(ttl)] }
    return try await send(message, isValidateOnly: false, context: .owner)
  }

  func inbox(_ token: String) -> (EventLog<PushDelivery>, ListenerRegistration) {
    let log = EventLog<PushDelivery>(patience: .seconds(300))
    return (log, connect(token: token, context: CallContext(), onEnd: { _ in }) { log.record($0) })
  }
}

extension MessagingServiceTuning {
  /// Small figures, so that few messages reach the limits.
  ///
  /// Those beyond which something is refused stay as they are.
  static func small(_ random: inout SplitMix) -> MessagingServiceTuning {
    var tuning = MessagingServiceTuning()
    tuning.longestGap = Int64(1 + random.below(20))
    tuning.longestTrail = 1 + random.below(8)
    tuning.longestPage = 1 + random.below(6)
    tuning.readBatch = 1 + random.below(5)
    tuning.sweepBatch = 1 + random.below(5)
    tuning.maximumPushes = 1 + random.below(5)
    tuning.maximumPushesOfService = 1 + random.below(5)
    tuning.pushLanes = 1 + random.below(3)
    tuning.pushLanesOfService = 1 + random.below(3)
    tuning.pushLanesOfNewServices = 1 + random.below(3)
    tuning.knownPushServices = 1 + random.below(3)
    tuning.pushBatch = 1 + random.below(3)
    return tuning
  }
}

extension EventLog<PushDelivery> {
  func wait(forTexts texts: [String]) async throws {
    try await wait(for: "\(texts)") { $0.compactMap { $0.message.data["text"] } == texts }
  }
}

@Suite struct EngineTests {
  @Test(arguments: MessagingContracts.all)
  func `the engine keeps its contract`(contract: Contract<MessagingSubject>) async throws {
    let engine = MessagingEngine(projectID: "p", senderID: "1") { ModelStore() }
    try await contract.verify(MessagingSubject(engine, patience: .seconds(120)))
    try await engine.close()
  }

  @Test(arguments: MessagingContracts.all)
  func `the engine keeps its contract with small figures`(contract: Contract<MessagingSubject>) async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed: seed)
    var options = MessagingServiceOptions()
    options.tuning = .small(&random)
    let (tuning, store) = (options.tuning, ModelStore())
    let engine = MessagingEngine(projectID: "p", senderID: "1", options: options) { store }
    do {
      try await contract.verify(MessagingSubject(engine, patience: .seconds(120)))
    } catch {
      Issue.record("seed \(seed), \(tuning): \(error)")
    }
    try await engine.close()
  }

  @Test(arguments: PushTransportContracts.all)
  func `the recording transport keeps its contract`(contract: Contract<PushTransportSubject>) async throws {
    let transport = RecordingPushTransport()
    transport.remove(address: "gone")
    try await contract.verify(
      PushTransportSubject(transport, address: "here", missingAddress: "gone") {
        transport.pushes.filter { $0.address == "here" }.map(\.delivery.messageID)
      })
  }

  @Test func `a second engine on the same store delivers what the first has accepted`() async throws {
    let store = ModelStore()
    let (one, two) = (makeEngine(store), makeEngine(store))
    let token = try await one.register()
    try await one.subscribe(token: token, toTopic: "news", context: CallContext())
    try await one.send("waits", to: .token(token))
    let (log, connection) = two.inbox(token)
    try await log.wait(forTexts: ["waits"])
    try await one.send("comes", to: .topic("news"))
    try await log.wait(forTexts: ["waits", "comes"])
    connection.cancel()
  }

  @Test func `what waits too long is not delivered, is swept and counted`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock: clock)
    let token = try await engine.register()
    try await engine.subscribe(token: token, toTopic: "news", context: CallContext())
    try await engine.send("short", to: .token(token), ttl: "10s")
    try await engine.send("long", to: .token(token))
    clock.advance(by: .seconds(120))
    let (log, connection) = engine.inbox(token)
    try await log.wait(forTexts: ["long"])
    try await engine.sweep()
    #expect(try await engine.statistics(context: .owner).expired == 1)
    let outbox = try await engine.outbox(pageSize: 10, pageToken: nil, context: .owner)
    #expect(outbox.messages.compactMap { $0.message.data["text"] } == ["long"])
    connection.cancel()
  }

  @Test func `the outbox lists messages page by page, and which of them wait`() async throws {
    let engine = makeEngine()
    let token = try await engine.register()
    for number in 1...5 { try await engine.send("\(number)", to: .token(token)) }
    let (log, connection) = engine.inbox(token)
    try await log.wait(forTexts: ["1", "2", "3", "4", "5"])
    try await engine.acknowledge(token: token, messageIDs: [log.events[0].messageID], context: CallContext())
    var texts: [String] = []
    var waiting: [Bool?] = []
    var page: String?
    repeat {
      let outbox = try await engine.outbox(pageSize: 2, pageToken: page, context: .owner)
      texts += outbox.messages.compactMap { $0.message.data["text"] }
      waiting += outbox.messages.map(\.isWaiting)
      page = outbox.nextPageToken
    } while page != nil
    #expect(texts == ["5", "4", "3", "2", "1"])
    #expect(waiting == [true, true, true, true, false])
    let statistics = try await engine.statistics(context: .owner)
    #expect(statistics.accepted == 5 && statistics.delivered == 5 && statistics.acknowledged == 1)
    connection.cancel()
  }

  @Test func `of too many waiting messages the oldest is dropped and counted`() async throws {
    let engine = makeEngine(maximumWaiting: 3)
    let token = try await engine.register()
    for number in 1...5 { try await engine.send("\(number)", to: .token(token)) }
    let (log, connection) = engine.inbox(token)
    try await log.wait(forTexts: ["3", "4", "5"])
    #expect(try await engine.statistics(context: .owner).discarded == 2)
    connection.cancel()
  }

  @Test func `a registration ends after its lifetime, and one that renews itself does not`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock: clock)
    let (old, young) = (try await engine.register("old"), try await engine.register("young"))
    clock.advance(by: .seconds(200 * 86_400))
    #expect(try await engine.register("young", token: young) == young)
    clock.advance(by: .seconds(100 * 86_400))
    let error = await #expect(throws: MessagingServiceError.self) { try await engine.send("a", to: .token(old)) }
    #expect(error?.reason == .unregistered)
    try await engine.send("a", to: .token(young))
    let renewed = try await engine.register("young", token: young)
    #expect(renewed != young)
  }

  @Test func `a token for another sender is refused`() async throws {
    let engine = makeEngine()
    let token = try await engine.register(sender: "2")
    let error = await #expect(throws: MessagingServiceError.self) { try await engine.send("a", to: .token(token)) }
    #expect(error?.reason == .senderIDMismatch)
  }

  @Test func `registrations that are away are reached by their transport, and removed when it does not know them`()
    async throws
  {
    let transport = RecordingPushTransport()
    let engine = makeEngine(transports: [transport])
    let (here, gone) = (
      try await engine.register("here", address: "A"), try await engine.register("gone", address: "B")
    )
    transport.remove(address: "B")
    try await engine.subscribe(token: here, toTopic: "news", context: CallContext())
    try await engine.send("direct", to: .token(here))
    try await engine.send("topic", to: .topic("news"))
    try await engine.send("lost", to: .token(gone))
    while transport.pushes.count < 2 { await Task.yield() }
    #expect(Set(transport.pushes.compactMap { $0.delivery.message.data["text"] }) == ["direct", "topic"])
    while (try? await engine.registration(token: gone, context: .owner)) != nil { await Task.yield() }
  }

  @Test func `hostile tokens, topics, ids and page tokens are refused or ignored`() async throws {
    let engine = makeEngine()
    let token = try await engine.register()
    for wrong in ["", ":", "a:b", "a\u{0}:\(String(repeating: "x", count: 40))", String(repeating: "a", count: 10_000)]
    {
      let error = await #expect(throws: MessagingServiceError.self) { try await engine.send("a", to: .token(wrong)) }
      #expect(error?.code == .invalidArgument)
    }
    for id in ["", "a/b", "ü", String(repeating: "a", count: 201)] {
      await #expect(throws: MessagingServiceError.self) { try await engine.register(id) }
    }
    for topic in ["", "a b", "/topics/", String(repeating: "a", count: 901)] {
      await #expect(throws: MessagingServiceError.self) {
        try await engine.subscribe(token: token, toTopic: topic, context: CallContext())
      }
    }
    try await engine.acknowledge(
      token: token, messageIDs: ["", "0:1%", "0:1%zz", "0:1%-5", "0:1%7fffffffffffffff", "x"], context: CallContext())
    for page in ["x", "0", "-1", "7"] {
      await #expect(throws: MessagingServiceError.self) {
        try await engine.outbox(pageSize: 10, pageToken: page, context: .owner)
      }
    }
  }

  @Test func `what others acknowledge stays`() async throws {
    let engine = makeEngine()
    let (one, two) = (try await engine.register("one"), try await engine.register("two"))
    let name = try await engine.send("a", to: .token(one))
    let id = String(name.split(separator: "/").last ?? "")
    try await engine.acknowledge(token: two, messageIDs: [id], context: CallContext())
    let (log, connection) = engine.inbox(one)
    try await log.wait(forTexts: ["a"])
    connection.cancel()
  }

  @Test func `closing ends connections in order`() async throws {
    let engine = makeEngine()
    let token = try await engine.register()
    try await engine.send("a", to: .token(token))
    let log = EventLog<String>(patience: .seconds(300))
    _ = engine.connect(token: token, context: CallContext(), onEnd: { log.record($0?.code.name ?? "in order") }) { _ in
      log.record("message")
    }
    try await log.wait(for: "the message") { $0 == ["message"] }
    try await engine.close()
    try await log.wait(for: "the end") { $0 == ["message", "in order"] }
  }
}

@Suite struct DeliveryStressTests {
  @Test func `no accepted message is lost among sends, reconnections and acknowledgements`() async throws {
    let engine = MessagingEngine(
      projectID: "p", senderID: "1", options: MessagingServiceOptions(deliveryWindow: 7)
    ) { ModelStore() }
    let count = 4
    var tokens: [String] = []
    for index in 0..<count {
      let token = try await engine.register("i\(index)")
      try await engine.subscribe(token: token, toTopic: "news", context: CallContext())
      tokens.append(token)
    }
    let recipients = tokens
    let received = (0..<count).map { _ in Locked(Set<String>()) }
    let isSending = Locked(true)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<count {
        let (token, texts) = (recipients[index], received[index])
        group.addTask {
          while isSending.withLock({ $0 }) || texts.withLock({ $0.count }) < 60 {
            let waiting = Locked<[String]>([])
            let connection = engine.connect(token: token, context: CallContext(), onEnd: { _ in }) { delivery in
              texts.withLock { _ = $0.insert(delivery.message.data["text"] ?? "") }
              waiting.withLock { $0.append(delivery.messageID) }
            }
            for _ in 0..<20 {
              await Task.yield()
              let ids = waiting.withLock { ids in
                defer { ids = [] }
                return ids
              }
              if !ids.isEmpty { try await engine.acknowledge(token: token, messageIDs: ids, context: CallContext()) }
            }
            connection.cancel()
          }
        }
      }
      group.addTask {
        for number in 0..<30 {
          try await engine.send("topic \(number)", to: .topic("news"))
          for token in recipients { try await engine.send("direct \(number)", to: .token(token)) }
        }
        isSending.withLock { $0 = false }
      }
      try await group.waitForAll()
    }
    let expected = Set((0..<30).flatMap { ["topic \($0)", "direct \($0)"] })
    for texts in received { #expect(texts.withLock { $0 } == expected) }
    try await engine.close()
  }
}
