import Testing
import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaMessagingService

/// More messages than may wait: the newest arrive, in order and once each, and the others are counted.
@Suite struct OverloadTests {
  private struct Setting: CustomStringConvertible {
    let seed: UInt64
    var random: SplitMix
    let waiting: Int
    let window: Int
    let tuning: MessagingServiceTuning

    init(seed: UInt64) {
      self.seed = seed
      random = SplitMix(seed: seed)
      waiting = 1 + random.below(12)
      window = 1 + random.below(6)
      tuning = .small(&random)
    }

    var description: String { "seed \(seed), waiting \(waiting), window \(window), \(tuning)" }

    func engine(_ store: ModelStore = ModelStore()) -> MessagingEngine {
      makeEngine(store, maximumWaiting: waiting, window: window, tuning: tuning)
    }

    mutating func target(_ token: String) -> PushMessage.Target {
      random.pick([
        .topic("news"), .topic("news"), .topic("sport"), .condition("'news' in topics || 'sport' in topics"),
      ])
    }
  }

  /// A registration that acknowledges what it receives.
  private final class Receiver: Sendable {
    let engine: MessagingEngine
    let token: String
    let log = EventLog<PushDelivery>(patience: .seconds(300))
    let connection = Locked<ListenerRegistration?>(nil)

    init(_ engine: MessagingEngine, _ token: String) {
      (self.engine, self.token) = (engine, token)
      let log = log
      let registration = engine.connect(token: token, context: CallContext(), onEnd: { _ in }) { log.record($0) }
      connection.withLock { $0 = registration }
    }

    var numbers: [Int] { log.events.compactMap { $0.message.data["text"].flatMap { Int($0) } } }
    var dropped: Int { log.events.reduce(0) { $0 + $1.droppedBefore } }

    /// Acknowledges what has arrived until a message has arrived that was sent last of all.
    func acknowledge(until last: Int) async throws {
      var done = 0
      while true {
        let count = done
        try await log.wait(for: "more than \(count), until \(last)") { $0.count > count }
        let events = log.events
        let ids = events[done...].map(\.messageID)
        done = events.count
        try await engine.acknowledge(token: token, messageIDs: ids, context: CallContext())
        if events.contains(where: { $0.message.data["text"] == "\(last)" }) { return }
      }
    }
  }

  private func registered(_ engine: MessagingEngine) async throws -> String {
    let token = try await engine.register()
    for topic in ["news", "sport"] {
      try await engine.subscribe(token: token, toTopic: topic, context: CallContext())
    }
    return token
  }

  @Test(arguments: [999, 1_000, 1_001, 1_100, 1_500, 2_100])
  func `of messages to a topic the newest thousand wait, in order and once each`(count: Int) async throws {
    let engine = makeEngine()
    let token = try await registered(engine)
    for start in stride(from: 0, to: count, by: 500) {
      let messages = (start..<min(count, start + 500)).map {
        PushMessage(to: .topic("news"), data: ["text": "\($0)"])
      }
      _ = try await engine.sendEach(messages, isValidateOnly: false, context: .owner)
    }
    let receiver = Receiver(engine, token)
    try await receiver.acknowledge(until: count - 1)
    #expect(receiver.numbers == Array(max(0, count - 1_000)..<count))
    #expect(receiver.dropped == max(0, count - 1_000))
    #expect(try await engine.statistics(context: .owner).discarded == Int64(max(0, count - 1_000)))
  }

  @Test func `with any limit and window the newest that wait arrive in order, and the others are told of`() async throws
  {
    let seed = UInt64.random(in: 0...UInt64.max)
    for round in 0..<60 {
      var setting = Setting(seed: seed &+ UInt64(round))
      let engine = setting.engine()
      let token = try await registered(engine)
      let count = 1 + setting.random.below(40)
      for number in 0..<count { try await engine.send("\(number)", to: setting.target(token)) }
      let receiver = Receiver(engine, token)
      try await receiver.acknowledge(until: count - 1)
      let lost = max(0, count - setting.waiting)
      #expect(receiver.numbers == Array(lost..<count), "\(setting)")
      #expect(receiver.dropped == lost, "\(setting)")
      let statistics = try await engine.statistics(context: .owner)
      #expect(statistics.discarded == Int64(lost), "\(setting)")
      #expect(statistics.acknowledged == Int64(count - lost), "\(setting)")
    }
  }

  @Test(arguments: [true, false])
  func `a connection that does not keep up receives in order, and each message is acknowledged or counted as dropped`(
    isDirect: Bool
  ) async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    for round in 0..<40 {
      var setting = Setting(seed: seed &+ UInt64(round))
      let engine = setting.engine()
      let token = try await registered(engine)
      let receiver = Receiver(engine, token)
      let count = 20 + setting.random.below(60)
      var done = 0
      for number in 0..<count {
        try await engine.send("\(number)", to: isDirect ? .token(token) : setting.target(token))
        guard setting.random.oneIn(4) else { continue }
        let events = receiver.log.events
        let ids = events[done...].map(\.messageID)
        done = events.count
        try await engine.acknowledge(token: token, messageIDs: ids, context: CallContext())
      }
      // The last one waits until there is room, and none that was dropped arrives after it.
      try await engine.send("\(count)", to: isDirect ? .token(token) : .topic("news"))
      try await engine.acknowledge(
        token: token, messageIDs: receiver.log.events.map(\.messageID), context: CallContext())
      try await receiver.acknowledge(until: count)
      let numbers = receiver.numbers
      #expect(numbers == Set(numbers).sorted(), "\(setting)")
      let statistics = try await engine.statistics(context: .owner)
      #expect(statistics.accepted == Int64(count + 1), "\(setting)")
      #expect(statistics.acknowledged == Int64(numbers.count), "\(setting)")
      #expect(statistics.discarded == Int64(count + 1 - numbers.count), "\(setting): \(numbers)")
      if !isDirect { #expect(receiver.dropped == count + 1 - numbers.count, "\(setting)") }
    }
  }

  @Test func `a message in delivery that the cursor passes is repeated until it is acknowledged`() async throws {
    let engine = makeEngine(maximumWaiting: 2, window: 1)
    let token = try await registered(engine)
    try await engine.send("0", to: .topic("news"))
    let first = Receiver(engine, token)
    try await first.log.wait(forTexts: ["0"])
    for number in 1...5 { try await engine.send("\(number)", to: .topic("news")) }
    first.connection.withLock { $0 }?.cancel()
    let second = Receiver(engine, token)
    try await second.acknowledge(until: 5)
    // Messages in delivery count among the waiting ones when the connection has ended.
    #expect(second.numbers == [4, 5])
    let third = Receiver(engine, token)
    try await engine.send("6", to: .topic("news"))
    try await third.acknowledge(until: 6)
    #expect(third.numbers == [6])
  }

  @Test func `an app is told of messages that have given way to others`() async throws {
    let engine = makeEngine(maximumWaiting: 3)
    let token = try await engine.register()
    for number in 1...5 { try await engine.send("\(number)", to: .token(token)) }
    let receiver = Receiver(engine, token)
    try await receiver.acknowledge(until: 5)
    #expect(receiver.numbers == [3, 4, 5] && receiver.log.events.map(\.droppedBefore) == [2, 0, 0])
    try await engine.send("6", to: .token(token))
    try await receiver.acknowledge(until: 6)
    #expect(receiver.dropped == 2)
  }
}

/// A message is for who is subscribed when it is sent.
@Suite struct FanOutTests {
  private func texts(_ engine: MessagingEngine, _ token: String) async throws -> [String] {
    try await engine.send("end", to: .token(token))
    let (log, connection) = engine.inbox(token)
    try await log.wait(for: "the end") { $0.contains { $0.message.data["text"] == "end" } }
    try await engine.acknowledge(token: token, messageIDs: log.events.map(\.messageID), context: CallContext())
    connection.cancel()
    return log.events.compactMap { $0.message.data["text"] }.filter { $0 != "end" }
  }

  @Test(arguments: [true, false])
  func `a registration that leaves a topic, or leaves it and returns, still receives the messages sent before`(
    comesBack: Bool
  ) async throws {
    let engine = makeEngine()
    let token = try await engine.register()
    let context = CallContext()
    try await engine.subscribe(token: token, toTopic: "news", context: context)
    try await engine.send("a", to: .topic("news"))
    try await engine.unsubscribe(token: token, fromTopic: "news", context: context)
    try await engine.send("b", to: .topic("news"))
    if comesBack { try await engine.subscribe(token: token, toTopic: "news", context: context) }
    try await engine.send("c", to: .topic("news"))
    #expect(try await texts(engine, token) == (comesBack ? ["a", "c"] : ["a"]))
    let info = try await engine.registration(token: token, context: .owner)
    #expect(info.topics == (comesBack ? ["news"] : []))
    #expect(try await texts(engine, token) == [])
  }

  @Test func `a condition is looked at with the topics that the registration had when the message was sent`()
    async throws
  {
    let engine = makeEngine()
    let token = try await engine.register()
    let context = CallContext()
    try await engine.subscribe(token: token, toTopic: "a", context: context)
    try await engine.send("with a", to: .condition("'a' in topics"))
    try await engine.send("not with a", to: .condition("!('a' in topics)"))
    try await engine.unsubscribe(token: token, fromTopic: "a", context: context)
    try await engine.send("with a, later", to: .condition("'a' in topics"))
    try await engine.send("not with a, later", to: .condition("!('a' in topics)"))
    #expect(try await texts(engine, token) == ["with a", "not with a, later"])
  }

  @Test func `ended subscriptions leave no rows when their messages are done with, and are few until then`()
    async throws
  {
    var tuning = MessagingServiceTuning()
    (tuning.longestHistory, tuning.maximumTopics) = (2, 3)
    let (store, context) = (ModelStore(), CallContext())
    let engine = makeEngine(store, tuning: tuning)
    let token = try await engine.register()
    let key = RegistrationKey(installationID: "one", senderID: "1")
    for number in 0..<4 {
      try await engine.subscribe(token: token, toTopic: "news", context: context)
      try await engine.send("\(number)", to: .topic("news"))
      try await engine.unsubscribe(token: token, fromTopic: "news", context: context)
    }
    for number in 0..<4 {
      try await engine.subscribe(token: token, toTopic: "t\(number)", context: context)
      try await engine.send("t\(number)", to: .topic("t\(number)"))
      try await engine.unsubscribe(token: token, fromTopic: "t\(number)", context: context)
    }
    #expect(try await store.read { try await $0.entries(in: Keys.subscriptions(key)).count } == 3)
    // Two of the four subscriptions to one topic are kept, and three of five topics.
    #expect(try await texts(engine, token) == ["2", "3", "t0", "t1"])
    #expect(try await engine.statistics(context: .owner).discarded == 4)
    #expect(try await texts(engine, token) == [])
    #expect(try await store.read { try await $0.entries(in: Keys.subscriptions(key)).count } == 0)
    let record = try await store.read {
      try await MessagingReader(reader: $0).record(RegistrationRecord.self, Keys.registration(key))
    }
    #expect(record?.leftTopics == 0 && record?.topics == 0)
  }

  @Test func `the names and the address of a registration are bounded`() async throws {
    let engine = makeEngine()
    let long = String(repeating: "x", count: 5_000)
    var requests = [RegisterRequest](
      repeating: RegisterRequest(installationID: "one", platform: "linux", appID: "a"), count: 4)
    (requests[0].platform, requests[1].appID) = (long, long)
    (requests[2].pushAddress, requests[3].senderID) = (.other(long), long)
    for (request, field) in zip(requests, ["platform", "appID", "pushAddress", "senderID"]) {
      let error = await #expect(throws: MessagingServiceError.self) {
        try await engine.register(request, context: CallContext())
      }
      #expect(error?.field == field)
    }
  }
}
