import Foundation
import Testing
import VestaBytes
import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaMessagingService

/// The messages that the service owes each registration, by a model that knows neither rows nor cursors: a list of
/// messages, and who has acknowledged which.
private struct DeliveryModel {
  struct Message {
    var text: String
    var target: PushMessage.Target
    var isHigh: Bool
    var collapseKey: String?
    var expiry: Int64
    var recipients: Set<String>
  }

  struct Registration {
    var token: String
    var topics: Set<String> = []
    var acknowledged: Set<String> = []
    /// The messages that this connection has to receive, in order; `nil` while there is none.
    var expected: [Message]?
  }

  var registrations: [String: Registration] = [:]
  var messages: [Message] = []

  func isDirect(_ message: Message) -> Bool { if case .token = message.target { true } else { false } }

  /// A later one replaces a message if it waits as that one does: each to one registration, or each to many.
  func isReplaced(_ message: Message, by later: some Sequence<Message>) -> Bool {
    message.collapseKey != nil
      && later.contains { $0.collapseKey == message.collapseKey && isDirect($0) == isDirect(message) }
  }

  /// The messages that a registration receives first when it connects again.
  func backlog(_ id: String, now: Int64) -> [Message] {
    let acknowledged = registrations[id]?.acknowledged ?? []
    let mine = messages.filter { $0.recipients.contains(id) }
    let waiting = mine.enumerated().filter { index, message in
      guard message.expiry > now, !acknowledged.contains(message.text) else { return false }
      return !isReplaced(message, by: mine[(index + 1)...])
    }.map(\.element)
    return waiting.filter(\.isHigh) + waiting.filter { !$0.isHigh }
  }

  /// A message that a registration did not get because it was replaced does not reappear.
  mutating func forgetReplaced(_ id: String, now: Int64) {
    let mine = messages.filter { $0.recipients.contains(id) }
    for (index, message) in mine.enumerated() where message.expiry > now {
      if isReplaced(message, by: mine[(index + 1)...]) { forget([message.text], for: id) }
    }
  }

  mutating func forget(_ texts: [String], for id: String) { registrations[id]?.acknowledged.formUnion(texts) }

  mutating func send(_ message: Message) {
    messages.append(message)
    for id in message.recipients { registrations[id]?.expected?.append(message) }
  }
}

/// Random histories of registrations, topics, messages, acknowledgements, connections and restarts by two engines on
/// one store, against the model.
@Suite struct HistoryTests {
  private final class History {
    let seed: UInt64
    var random: SplitMix
    let (store, clock) = (ModelStore(), ManualClock())
    let tuning: MessagingServiceTuning
    var engines: [MessagingEngine]
    var model = DeliveryModel()
    var inboxes: [String: (log: EventLog<PushDelivery>, connection: ListenerRegistration)] = [:]
    var texts = 0

    static let ids = ["one", "two", "three"]
    static let topics = ["a", "b", "c"]

    init(seed: UInt64) {
      self.seed = seed
      random = SplitMix(seed: seed)
      tuning = .small(&random)
      engines = [
        makeEngine(store, clock: clock, tuning: tuning), makeEngine(store, clock: clock, tuning: tuning),
      ]
    }

    var engine: MessagingEngine { engines[random.below(engines.count)] }
    func pick<Value>(_ values: [Value]) -> Value { random.pick(values) }

    // MARK: Steps

    func step() async throws {
      let id = pick(Self.ids)
      switch random.below(20) {
      case 0: try await register(id)
      case 1: if random.oneIn(3) { try await unregister(id) }
      case 2, 3: try await subscribe(id, pick(Self.topics))
      case 4: try await unsubscribe(id, pick(Self.topics))
      case 5, 6, 7, 8: try await send(to: id)
      case 9, 10: try await broadcast()
      case 11, 12, 13: try await connect(id)
      case 14: disconnect(id)
      case 15, 16: try await acknowledge(id)
      case 17: try await compare(id)
      case 18:
        // Virtual time would pass faster than messages are dispatched, and immediate messages be swept before.
        for id in Self.ids { try await compare(id) }
        clock.advance(by: .seconds(Double(random.below(40))))
      default: if random.oneIn(4) { restart() } else { try await engine.sweep() }
      }
    }

    func register(_ id: String) async throws {
      let known = model.registrations[id]
      let keepsToken = random.oneIn(2)
      let token = try await engine.register(id, token: keepsToken ? known?.token : nil)
      if let known {
        #expect((token == known.token) == keepsToken, "seed \(seed)")
        guard !keepsToken else { return }
        // The connection of the replaced token has ended.
        disconnect(id)
        model.registrations[id]?.token = token
      } else {
        model.registrations[id] = DeliveryModel.Registration(token: token)
      }
    }

    func unregister(_ id: String) async throws {
      guard let known = model.registrations[id] else { return }
      disconnect(id)
      try await engine.unregister(token: known.token, context: CallContext())
      model.registrations[id] = nil
      for index in model.messages.indices { model.messages[index].recipients.remove(id) }
    }

    func subscribe(_ id: String, _ topic: String) async throws {
      guard let known = model.registrations[id] else { return }
      try await engine.subscribe(token: known.token, toTopic: topic, context: CallContext())
      model.registrations[id]?.topics.insert(topic)
    }

    func unsubscribe(_ id: String, _ topic: String) async throws {
      guard let known = model.registrations[id] else { return }
      try await engine.unsubscribe(token: known.token, fromTopic: topic, context: CallContext())
      model.registrations[id]?.topics.remove(topic)
    }

    func send(to id: String) async throws {
      guard let known = model.registrations[id] else { return }
      try await send(to: .token(known.token), recipients: [id], isSentinel: false)
    }

    func broadcast() async throws {
      let (one, two) = (pick(Self.topics), pick(Self.topics))
      let registrations = model.registrations
      guard random.oneIn(3), one != two else {
        let holders = registrations.filter { $0.value.topics.contains(one) }
        return try await send(to: .topic(one), recipients: Set(holders.keys), isSentinel: false)
      }
      let conditions: [(text: String, holds: @Sendable (Set<String>) -> Bool)] = [
        ("'\(one)' in topics && !('\(two)' in topics)", { $0.contains(one) && !$0.contains(two) }),
        ("'\(one)' in topics || '\(two)' in topics", { $0.contains(one) || $0.contains(two) }),
        ("!('\(one)' in topics)", { !$0.contains(one) }),
      ]
      let (text, holds) = conditions[random.below(conditions.count)]
      let holders = registrations.filter { holds($0.value.topics) }
      try await send(to: .condition(text), recipients: Set(holders.keys), isSentinel: false)
    }

    func send(
      to target: PushMessage.Target, recipients: Set<String>, isSentinel: Bool
    ) async throws {
      texts += 1
      let text = isSentinel ? "sentinel \(texts)" : "\(texts)"
      var message = PushMessage(to: target, data: ["text": text])
      let isHigh = !isSentinel && random.oneIn(3)
      let collapseKey = isSentinel || random.oneIn(2) ? nil : pick(["k", "l"])
      let ttl: Int? = isSentinel || collapseKey != nil ? nil : pick([nil, 0, 20, 60])
      message.android = ["priority": .string(isHigh ? "HIGH" : "NORMAL")]
      message.android?["collapse_key"] = collapseKey.map { .string($0) }
      message.android?["ttl"] = ttl.map { .string("\($0)s") }
      let lifetime = ttl.map { Int64($0) * 1_000_000 } ?? 2_419_200_000_000
      _ = try await engine.send(message, isValidateOnly: false, context: .owner)
      model.send(
        DeliveryModel.Message(
          text: text, target: target, isHigh: isHigh, collapseKey: collapseKey, expiry: clock.now + lifetime,
          recipients: recipients))
    }

    func connect(_ id: String) async throws {
      guard let known = model.registrations[id], inboxes[id] == nil else { return }
      let backlog = model.backlog(id, now: clock.now)
      model.forgetReplaced(id, now: clock.now)
      inboxes[id] = engines[0].inbox(known.token)
      model.registrations[id]?.expected = backlog
      try await compare(id)
      let owed = backlog.map(\.text)
      let received = inboxes[id]?.log.events.compactMap { $0.message.data["text"] } ?? []
      #expect(Array(received.prefix(owed.count)) == owed, "seed \(seed), \(tuning): what waited for \(id)")
    }

    func disconnect(_ id: String) {
      inboxes.removeValue(forKey: id)?.connection.cancel()
      model.registrations[id]?.expected = nil
    }

    func acknowledge(_ id: String) async throws {
      guard let known = model.registrations[id], let log = inboxes[id]?.log else { return }
      let chosen = log.events.filter { _ in random.oneIn(2) }
      try await engine.acknowledge(token: known.token, messageIDs: chosen.map(\.messageID), context: CallContext())
      for delivery in chosen { model.registrations[id]?.acknowledged.insert(delivery.message.data["text"] ?? "") }
    }

    func restart() {
      for id in Self.ids { disconnect(id) }
      engines = engines.map { _ in makeEngine(store, clock: clock, tuning: tuning) }
    }

    /// A last message of normal priority arrives after everything else that is owed.
    func compare(_ id: String) async throws {
      guard let known = model.registrations[id], let log = inboxes[id]?.log else { return }
      try await send(to: .token(known.token), recipients: [id], isSentinel: true)
      let sentinel = "sentinel \(texts)"
      try await log.wait(for: "seed \(seed): \(sentinel) for \(id)") { events in
        events.contains { $0.message.data["text"] == sentinel }
      }
      let received = log.events
      let texts = Set(received.compactMap { $0.message.data["text"] })
      let owed = model.registrations[id]?.expected ?? []
      // While a connection reads again a message can be replaced that it was not given yet.
      let expected = owed.enumerated().filter { index, message in
        texts.contains(message.text) || !model.isReplaced(message, by: owed[(index + 1)...])
      }.map(\.element)
      // A replaced message does not reappear.
      model.forget(owed.map(\.text).filter { text in !expected.contains { $0.text == text } }, for: id)
      for isHigh in [true, false] {
        let texts = received.filter { $0.settings.isHighPriority == isHigh }.compactMap { $0.message.data["text"] }
        let owed = expected.filter { $0.isHigh == isHigh }.map(\.text)
        #expect(
          texts == owed, "seed \(seed), \(tuning): \(id), high \(isHigh)")
      }
    }
  }

  @Test func `every registration receives the messages that the model has for it, in order`() async throws {
    // One history again: VESTA_SEED is the seed that a failure names.
    let chosen = ProcessInfo.processInfo.environment["VESTA_SEED"].flatMap { UInt64($0) }
    let seed = chosen ?? UInt64.random(in: 0...UInt64.max)
    for number in 0..<(chosen == nil ? 25 : 1) {
      let history = History(seed: seed &+ UInt64(number))
      for _ in 0..<120 { try await history.step() }
      for id in History.ids {
        try await history.connect(id)
        try await history.compare(id)
      }
      for id in History.ids { history.disconnect(id) }
    }
  }

  @Test func `the condition on topics holds where a second evaluator says so`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed: seed)
    for round in 0..<4000 {
      let (text, holds) = Self.condition(&random, depth: 4)
      let condition = try TopicCondition(text)
      for mask in 0..<8 {
        let topics = Set(["a", "b", "c"].enumerated().filter { mask >> $0.offset & 1 == 1 }.map(\.element))
        #expect(condition.holds(for: topics) == holds(topics), "seed \(seed), round \(round): \(text) for \(topics)")
      }
    }
  }

  /// `&&` and `||` are read from left to right, and `!` binds closest; the text has as few brackets as that allows.
  private static func condition(
    _ random: inout SplitMix, depth: Int, level: Int = 0
  ) -> (String, (Set<String>) -> Bool) {
    let kind = depth == 0 ? 3 : random.below(5)
    let space = random.oneIn(3) ? "  " : random.oneIn(3) ? "" : " "
    switch kind {
    case 0, 1:
      let (one, two) = (
        condition(&random, depth: depth - 1, level: 0), condition(&random, depth: depth - 1, level: 2)
      )
      let text = "\(one.0)\(space)\(kind == 0 ? "||" : "&&")\(space)\(two.0)"
      let holds: (Set<String>) -> Bool = { kind == 0 ? one.1($0) || two.1($0) : one.1($0) && two.1($0) }
      return (kind < level ? "(\(text))" : text, holds)
    case 2:
      let inner = condition(&random, depth: depth - 1, level: 2)
      return ("!\(space)\(inner.0)", { !inner.1($0) })
    default:
      let topic = ["a", "b", "c"][random.below(3)]
      let quote = random.oneIn(5) ? "\"" : "'"
      return ("\(quote)\(topic)\(quote) in topics", { $0.contains(topic) })
    }
  }
}
