import Testing
import VestaBytes
import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaMessagingService

@Suite struct HostileMessageTests {
  private func nested(_ depth: Int) -> JSONValue {
    (0..<depth).reduce(JSONValue.string("x")) { value, _ in .array([value]) }
  }

  /// An accepted message can be delivered: a message that the service could not read again would be lost, and what
  /// waits after it too.
  @Test func `a message that cannot be stored is refused, and one that is accepted arrives`() async throws {
    let marks = String(repeating: "\u{301}", count: 50_000)
    var messages = [PushMessage](repeating: PushMessage(to: .topic("news"), data: ["text": "odd"]), count: 8)
    messages[0].apns = ["payload": .object(["aps": [:], "a": nested(40)])]
    messages[1].webpush = ["notification": .object(["a": nested(600)])]
    messages[2].apns = ["payload": .object(["aps": [:], "a": .number(.infinity)])]
    messages[3].apns = ["payload": .object(["aps": [:], "a": .array([.number(.nan)])])]
    messages[4].target = .condition("'news' in topics \(marks)")
    messages[5].target = .condition(" \(marks)'news' in topics")
    messages[6].data["e\u{301}"] = "\u{0}\u{1f}\u{2028}"
    messages[7].android = ["collapse_key": .string(String(repeating: "k", count: 1900))]
    for (index, message) in messages.enumerated() {
      let engine = makeEngine()
      let token = try await engine.register()
      try await engine.subscribe(token: token, toTopic: "news", context: CallContext())
      let isAccepted = (try? await engine.send(message, isValidateOnly: false, context: .owner)) != nil
      try await engine.send("after", to: .token(token))
      let (log, connection) = engine.inbox(token)
      try await log.wait(for: "message \(index)") { $0.last?.message.data["text"] == "after" }
      #expect(log.events.count == (isAccepted ? 2 : 1), "message \(index)")
      #expect(try await engine.outbox(pageSize: 10, pageToken: nil, context: .owner).messages.count == log.events.count)
      connection.cancel()
    }
  }

  @Test func `a damaged row of a message costs no registration the other messages`() async throws {
    let store = ModelStore()
    let engine = makeEngine(store)
    let (one, two) = (try await engine.register("one"), try await engine.register("two"))
    let (log, connection) = engine.inbox(two)
    try await engine.send("first", to: .token(two))
    try await log.wait(forTexts: ["first"])
    try await engine.send("damaged", to: .token(one))
    let key = Keys.message(try await store.read { try await MessagingReader(reader: $0).lastNumber() })
    _ = try await store.write { try await $0.put([0xFF, 0xFF, 0xFF], for: key) }
    try await engine.send("whole", to: .token(one))
    try await engine.send("second", to: .token(two))
    try await log.wait(forTexts: ["first", "second"])
    let (other, connectionOfOne) = engine.inbox(one)
    try await other.wait(forTexts: ["whole"])
    // A second engine meets the damaged row while it dispatches.
    let second = makeEngine(store)
    let (third, connectionOfSecond) = second.inbox(two)
    try await third.wait(forTexts: ["first", "second"])
    for connection in [connection, connectionOfOne, connectionOfSecond] { connection.cancel() }
  }

  @Test func `a receiver that blocks delays no other receiver, and not the sender`() async throws {
    let engine = makeEngine()
    let (slow, quick) = (try await engine.register("slow"), try await engine.register("quick"))
    for token in [slow, quick] { try await engine.subscribe(token: token, toTopic: "news", context: CallContext()) }
    let gate = Gate()
    let blocked = EventLog<String>(patience: .seconds(300))
    let connection = engine.connect(token: slow, context: CallContext(), onEnd: { _ in }) {
      blocked.record($0.message.data["text"] ?? "")
      if $0.message.data["text"] != "0" { _ = gate.passes() }
    }
    // From the second message on nothing is read for the connection: messages that arrive are dispatched to it.
    for number in 0...1 {
      try await engine.send("\(number)", to: .token(slow))
      try await blocked.wait(for: "message \(number)") { $0.count == number + 1 }
    }
    let (log, other) = engine.inbox(quick)
    for number in 2...5 { try await engine.send("\(number)", to: .topic("news")) }
    try await log.wait(forTexts: ["2", "3", "4", "5"])
    gate.open()
    try await blocked.wait(for: "the others") { $0 == ["0", "1", "2", "3", "4", "5"] }
    connection.cancel()
    other.cancel()
  }

  @Test func `a connection ends when its registration does, and receives nothing more`() async throws {
    for isRotated in [true, false] {
      let store = ModelStore()
      let (engine, other) = (makeEngine(store), makeEngine(store))
      let token = try await engine.register()
      try await engine.subscribe(token: token, toTopic: "news", context: CallContext())
      let log = EventLog<String>(patience: .seconds(300))
      let connection = engine.connect(token: token, context: CallContext()) {
        log.record("end \($0?.reason.rawValue ?? "in order")")
      } _: {
        log.record($0.message.data["text"] ?? "")
      }
      try await engine.send("before", to: .token(token))
      try await log.wait(for: "the message") { $0 == ["before"] }
      if isRotated {
        _ = try await other.register()
      } else {
        try await other.unregister(token: token, context: CallContext())
      }
      try await engine.send("after", to: .topic("news"))
      try await log.wait(for: "the end") { $0.count == 2 }
      #expect(log.events == ["before", "end UNREGISTERED"])
      connection.cancel()
    }
  }

  @Test func `what waits is counted right when collapsed messages are dropped`() async throws {
    let engine = makeEngine(maximumWaiting: 2)
    let token = try await engine.register()
    func send(_ text: String, key: String?) async throws {
      var message = PushMessage(to: .token(token), data: ["text": text])
      message.android = key.map { ["collapse_key": .string($0)] }
      _ = try await engine.send(message, isValidateOnly: false, context: .owner)
    }
    try await send("1", key: "k")
    try await send("2", key: nil)
    try await send("3", key: nil)
    try await send("4", key: "k")
    try await send("5", key: nil)
    let (log, connection) = engine.inbox(token)
    try await log.wait(forTexts: ["4", "5"])
    let statistics = try await engine.statistics(context: .owner)
    #expect(statistics.discarded == 3 && statistics.collapsed == 0)
    connection.cancel()
  }

  @Test func `an acknowledgement counts once, and only for an id of this service`() async throws {
    let engine = makeEngine()
    let token = try await engine.register()
    try await engine.subscribe(token: token, toTopic: "news", context: CallContext())
    try await engine.send("direct", to: .token(token))
    try await engine.send("topic", to: .topic("news"))
    let (log, connection) = engine.inbox(token)
    try await log.wait(forTexts: ["direct", "topic"])
    let ids = log.events.map(\.messageID)
    // The same numbers as another service, or this one before its data were deleted, would have given them.
    let foreign = ids.map { "0:1%" + ($0.split(separator: "%").last ?? "") }
    try await engine.acknowledge(token: token, messageIDs: foreign, context: CallContext())
    #expect(try await engine.statistics(context: .owner).acknowledged == 0)
    for _ in 1...3 { try await engine.acknowledge(token: token, messageIDs: ids, context: CallContext()) }
    #expect(try await engine.statistics(context: .owner).acknowledged == 2)
    connection.cancel()
  }

  @Test func `statistics survive an engine that was never closed`() async throws {
    let (store, clock) = (ModelStore(), ManualClock())
    let engine = makeEngine(store, clock: clock, maximumWaiting: 2)
    let token = try await engine.register()
    try await engine.send("short", to: .token(token), ttl: "10s")
    clock.advance(by: .seconds(61))
    for number in 1...3 { try await engine.send("\(number)", to: .token(token)) }
    let (log, connection) = engine.inbox(token)
    try await log.wait(forTexts: ["2", "3"])
    try await engine.acknowledge(token: token, messageIDs: [log.events[0].messageID], context: CallContext())
    let next = makeEngine(store, clock: clock)
    let statistics = try await next.statistics(context: .owner)
    #expect(statistics.accepted == 4 && statistics.discarded == 1 && statistics.expired == 1, "\(statistics)")
    #expect(statistics.acknowledged == 1)
    #expect(statistics.delivered >= 1)
    connection.cancel()
  }

  @Test func `topic messages of high priority are first, and collapse while they wait`() async throws {
    let engine = makeEngine()
    let token = try await engine.register()
    try await engine.subscribe(token: token, toTopic: "news", context: CallContext())
    func send(_ text: String, isHigh: Bool = false, key: String? = nil) async throws {
      var message = PushMessage(to: .topic("news"), data: ["text": text])
      message.android = ["priority": .string(isHigh ? "HIGH" : "NORMAL")]
      message.android?["collapse_key"] = key.map { .string($0) }
      _ = try await engine.send(message, isValidateOnly: false, context: .owner)
    }
    try await send("score 1", key: "score")
    try await send("normal")
    try await send("high", isHigh: true)
    try await send("score 2", key: "score")
    let (log, connection) = engine.inbox(token)
    try await log.wait(forTexts: ["high", "normal", "score 2"])
    let last = log.events[2].messageID
    try await engine.acknowledge(token: token, messageIDs: [last], context: CallContext())
    connection.cancel()
    // The replaced one does not reappear when its successor was acknowledged.
    let (again, second) = engine.inbox(token)
    try await again.wait(forTexts: ["high", "normal"])
    second.cancel()
  }

  @Test func `a registration has a limited number of topics, and of messages to them that wait`() async throws {
    let engine = makeEngine(maximumWaiting: 3)
    let token = try await engine.register()
    for number in 0..<2000 {
      try await engine.subscribe(token: token, toTopic: "t\(number)", context: CallContext())
    }
    let error = await #expect(throws: MessagingServiceError.self) {
      try await engine.subscribe(token: token, toTopic: "one.more", context: CallContext())
    }
    #expect(error?.code == .resourceExhausted)
    try await engine.unsubscribe(token: token, fromTopic: "t7", context: CallContext())
    try await engine.subscribe(token: token, toTopic: "one.more", context: CallContext())
    for number in 0..<6 { try await engine.send("\(number)", to: .topic("t\(number)")) }
    let (log, connection) = engine.inbox(token)
    try await log.wait(forTexts: ["3", "4", "5"])
    connection.cancel()
  }

  @Test func `a long connection leaves no rows behind for what it has acknowledged`() async throws {
    let store = ModelStore()
    let engine = makeEngine(store)
    let token = try await engine.register()
    try await engine.subscribe(token: token, toTopic: "news", context: CallContext())
    let (log, connection) = engine.inbox(token)
    for number in 0..<600 {
      try await engine.send("\(number)", to: .topic("news"))
      try await log.wait(for: "\(number)") { $0.count == number + 1 }
      try await engine.acknowledge(token: token, messageIDs: [log.events[number].messageID], context: CallContext())
    }
    let range = Keys.acknowledged(RegistrationKey(installationID: "one", senderID: "1"))
    let count = try await store.read { try await $0.entries(in: range).count }
    #expect(count < 300)
    connection.cancel()
  }

  @Test func `a connection that is used is a sign of life, and what is over is swept`() async throws {
    let (store, clock) = (ModelStore(), ManualClock())
    let engine = makeEngine(store, clock: clock)
    let (used, unused) = (try await engine.register("used"), try await engine.register("unused"))
    try await engine.subscribe(token: unused, toTopic: "news", context: CallContext())
    for _ in 0..<4 {
      clock.advance(by: .seconds(100 * 86_400))
      let (log, connection) = engine.inbox(used)
      try await engine.send("a", to: .token(used))
      try await log.wait(for: "the message") { !$0.isEmpty }
      try await engine.acknowledge(token: used, messageIDs: log.events.map(\.messageID), context: CallContext())
      connection.cancel()
    }
    try await engine.sweep()
    let key = RegistrationKey(installationID: "unused", senderID: "1")
    #expect(try await store.read { try await $0.get(Keys.registration(key)) } == nil)
    #expect(try await store.read { try await $0.entries(in: Keys.subscriptions(key)).count } == 0)
  }

  @Test func `a clock that was set back does not stop the sweeping`() async throws {
    let (store, clock) = (ModelStore(), ManualClock())
    let engine = makeEngine(store, clock: clock)
    let token = try await engine.register()
    try await engine.send("future", to: .token(token))
    clock.jump(to: clock.now - 10_000_000_000)
    try await engine.send("short", to: .token(token), ttl: "1s")
    clock.advance(by: .seconds(3600))
    try await engine.send("later", to: .token(token))
    let deadline = Keys.expiries(upTo: clock.now)
    while try await store.read({ try await $0.entries(in: deadline).count }) > 0 { await Task.yield() }
  }
}
