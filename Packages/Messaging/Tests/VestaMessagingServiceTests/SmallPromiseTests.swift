import Testing
import VestaBytes
import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaMessagingService

/// Promises of single lines: what is counted, what is left in the store, and where a time ends.
@Suite struct SmallPromiseTests {
  private func keys(of store: ModelStore) async throws -> [String] {
    try await store.read { reader in
      try await reader.entries(in: KeyRange(from: [], to: [0xFF])).map { KeyPrinter.text(for: $0.key) }
    }
  }

  private func sendScore(_ text: String, _ engine: MessagingEngine, _ token: String) async throws {
    var message = PushMessage(to: .token(token), data: ["text": text])
    message.android = ["collapse_key": "score"]
    _ = try await engine.send(message, isValidateOnly: false, context: .owner)
  }

  @Test func `a token has a secret of 140 characters`() async throws {
    let parts = try await makeEngine().register("one").split(separator: ":")
    #expect(parts.map(\.count) == [3, 140])
  }

  @Test func `the id of an installation has 200 characters at most`() async throws {
    let engine = makeEngine()
    for length in [1, 200] { _ = try await engine.register(String(repeating: "z", count: length)) }
    for length in [0, 201] {
      let id = String(repeating: "z", count: length)
      let error = await #expect(throws: MessagingServiceError.self) { try await engine.register(id) }
      #expect(error?.code == .invalidArgument)
    }
  }

  @Test func `a token is replaced from the end of its lifetime on`() async throws {
    let clock = ManualClock()
    let service = ServiceClock(now: { clock.now }, schedule: { clock.schedule(after: $0, $1) })
    let options = MessagingServiceOptions(tokenLifetime: .seconds(1000), clock: service)
    let store = ModelStore()
    let engine = MessagingEngine(projectID: "p", senderID: "1", options: options) { store }
    let token = try await engine.register("one")
    clock.advance(by: .seconds(1000) - .microseconds(1))
    #expect(try await engine.register("one", token: token) == token)
    clock.advance(by: .microseconds(1))
    #expect(try await engine.register("one", token: token) != token)
  }

  @Test func `each replaced message is counted once, and an acknowledged one leaves no row of its collapse key`()
    async throws
  {
    let store = ModelStore()
    let engine = makeEngine(store)
    let token = try await engine.register()
    for text in ["1", "2", "3"] { try await sendScore(text, engine, token) }
    #expect(try await engine.statistics(context: .owner).collapsed == 2)
    #expect(try await keys(of: store).filter { $0.contains("collapse") }.count == 1)
    let (log, connection) = engine.inbox(token)
    try await log.wait(forTexts: ["3"])
    try await engine.acknowledge(token: token, messageIDs: log.events.map(\.messageID), context: CallContext())
    #expect(try await keys(of: store).filter { $0.contains("collapse") || $0.contains("queue") } == [])
    connection.cancel()
  }

  @Test func `a message to a topic that was replaced does not return when the time of the later one is over`()
    async throws
  {
    let clock = ManualClock()
    let engine = makeEngine(clock: clock)
    let token = try await engine.register()
    try await engine.subscribe(token: token, toTopic: "news", context: CallContext())
    for (text, ttl) in [("old", "1000s"), ("new", "10s")] {
      var message = PushMessage(to: .topic("news"), data: ["text": text])
      message.android = ["collapse_key": "score", "ttl": .string(ttl)]
      _ = try await engine.send(message, isValidateOnly: false, context: .owner)
    }
    let (first, connection) = engine.inbox(token)
    try await first.wait(forTexts: ["new"])
    connection.cancel()
    clock.advance(by: .seconds(20))
    try await engine.send("end", to: .token(token))
    let (second, again) = engine.inbox(token)
    try await second.wait(for: "the end") { $0.last?.message.data["text"] == "end" }
    #expect(second.events.map { $0.message.data["text"] } == ["end"])
    again.cancel()
  }

  @Test func `a look at what waits that is out of date changes nothing, and tells of no dropped messages`()
    async throws
  {
    let store = ModelStore()
    let engine = makeEngine(store)
    let token = try await engine.register()
    let key = RegistrationKey(installationID: "one", senderID: "1")
    let before = try await store.read { try await $0.get(Keys.registration(key)) }
    for var outcome in [PendingLoad.Outcome(token: "another", cursor: 0), .init(token: token, cursor: 7)] {
      outcome.dropped = 3
      let late = outcome
      #expect(try await engine.write { try await $0.noteLoad(late, for: key) } == 0)
    }
    #expect(try await store.read { try await $0.get(Keys.registration(key)) } == before)
  }

  @Test func `an address that comes after a subscription, or goes, is a place among the members of the topic`()
    async throws
  {
    let store = ModelStore()
    let engine = makeEngine(store)
    let token = try await engine.register()
    try await engine.subscribe(token: token, toTopic: "news", context: CallContext())
    let row = Keys.member("news", RegistrationKey(installationID: "one", senderID: "1"))
    for address in [nil, "A", "B", nil, "A"] {
      #expect(try await engine.register(token: token, address: address) == token)
      let isMember = try await store.read { try await $0.get(row) } != nil
      #expect(isMember == (address != nil), "\(address ?? "none")")
    }
  }

  @Test func `a row of a token that names half a registration is damaged`() throws {
    for (id, sender, isWhole) in [("one", "1", true), ("one", "", false), ("", "1", false), ("", "", false)] {
      let bytes = try TokenRecord(RegistrationKey(installationID: id, senderID: sender)).fieldBytes()
      let isRead = (try? TokenRecord(fieldBytes: bytes)) != nil
      #expect(isRead == isWhole, "\(id):\(sender)")
    }
  }

  @Test func `deliveries are written down a second later, without an acknowledgement`() async throws {
    let (store, clock) = (ModelStore(), ManualClock())
    let (engine, other) = (makeEngine(store, clock: clock), makeEngine(store, clock: clock))
    let token = try await engine.register()
    let (log, connection) = engine.inbox(token)
    try await engine.send("a", to: .token(token))
    try await log.wait(forTexts: ["a"])
    #expect(try await other.statistics(context: .owner).delivered == 0)
    // The row is written on a task of the engine.
    let counted = Log<Int64>()
    let observation = store.observeCommits { _ in Task { counted.add(try await Self.delivered(store)) } }
    clock.advance(by: .seconds(1))
    await counted.wait { $0.contains(1) }
    #expect(try await other.statistics(context: .owner).delivered == 1)
    observation.cancel()
    connection.cancel()
  }

  private static func delivered(_ store: ModelStore) async throws -> Int64 {
    try await store.read { reader in
      try await MessagingReader(reader: reader).record(StatisticsRecord.self, Keys.statistics)?.delivered ?? 0
    }
  }

  @Test func `a connection is a sign of life once a day`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock: clock)
    let token = try await engine.register()
    let start = clock.now
    for (hours, expected) in [(23, start), (26, start + 49 * 3_600_000_000)] {
      clock.advance(by: .seconds(hours * 3600))
      try await engine.send("\(hours)", to: .token(token))
      let (log, connection) = engine.inbox(token)
      try await log.wait(for: "the connection") { !$0.isEmpty }
      connection.cancel()
      #expect(try await engine.registration(token: token, context: .owner).lastSeenTime == expected, "\(hours)")
    }
  }

  @Test func `a registration that was seen again is not swept, and one whose lifetime is over is`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock: clock)
    let token = try await engine.register("one")
    let key = RegistrationKey(installationID: "one", senderID: "1")
    clock.advance(by: .seconds(270 * 86_400) - .microseconds(1))
    try await engine.write { try await $0.sweep([key]) }
    #expect(try await engine.registration(token: token, context: .owner).installationID == "one")
    clock.advance(by: .microseconds(1))
    try await engine.write { try await $0.sweep([key]) }
    let row = try await engine.store().read { try await $0.get(Keys.registration(key)) }
    #expect(row == nil)
  }

  @Test func `a connection that is cancelled leaves the table at once`() async throws {
    let engine = makeEngine()
    let token = try await engine.register()
    try await engine.send("a", to: .token(token))
    let (log, connection) = engine.inbox(token)
    try await log.wait(forTexts: ["a"])
    #expect(engine.table.count == 1)
    connection.cancel()
    #expect(engine.table.count == 0)
  }

  // MARK: Sessions

  private func session(_ id: String, startNumber: Int64 = 5, window: Int = 10) -> Session {
    let key = RegistrationKey(installationID: id, senderID: "1")
    return Session(
      key: key, platform: "linux", token: id, startNumber: startNumber, window: window,
      runner: DeliveryRunner(limit: 1, patience: .seconds(1)), onEnd: { _ in }, receive: { _ in })
  }

  private func message(_ number: Int64, ttl: String = "0s") throws -> DispatchedMessage {
    var record = MessageRecord()
    record.kind = .topic
    record.json = PushMessage(to: .topic("news"), android: ["ttl": .string(ttl)]).json
    return try #require(DispatchedMessage(number: number, record: record))
  }

  @Test func `an immediate message is for the connections that were there before it`() throws {
    let table = SessionTable()
    let session = session("one")
    _ = table.add(session)
    // The connection is loading: what is dispatched is kept for it.
    for number in 4...7 as ClosedRange<Int64> { #expect(table.recipients(of: try message(number)).isEmpty) }
    _ = table.recipients(of: try message(8, ttl: "60s"))
    #expect(table.takeInstants(session, upTo: 6).map(\.number) == [6])
    #expect(table.takeInstants(session, upTo: 8).map(\.number) == [7])
    #expect(table.takeInstants(session, upTo: 8).isEmpty)
  }

  @Test func `a connection that is silenced receives nothing more, and is not alive`() throws {
    let session = session("one")
    #expect(session.isLive)
    session.silence()
    #expect(!session.isLive)
    let delivery = try message(6).delivery(platform: "linux", senderID: "1")
    #expect(session.deliver(delivery, number: 6, isBroadcast: true) == .superfluous)
  }

  @Test func `a window takes a bounded number of deliveries, and has room again after an acknowledgement`() throws {
    let session = session("one", window: 2)
    let delivery = try message(6).delivery(platform: "linux", senderID: "1")
    let numbers: [Int64] = [6, 6, 7, 8]
    let outcomes = numbers.map { session.deliver(delivery, number: $0, isBroadcast: $0 == 7) }
    #expect(outcomes == [.delivered, .superfluous, .delivered, .windowIsFull])
    #expect(session.underWay.broadcasts == [7] && session.underWay.all == [6, 7])
    #expect(session.acknowledged([6]) == (true, false))
    #expect(session.acknowledged([6, 9]) == (false, false))
    #expect(session.freeWindow == 1)
  }

  @Test(.timeLimit(.minutes(20))) func `a topic that was left counts until its messages are done with`() async throws {
    let store = ModelStore()
    let engine = makeEngine(store, window: 1)
    let token = try await engine.register()
    for topic in ["a", "b"] {
      try await engine.subscribe(token: token, toTopic: topic, context: CallContext())
      try await engine.send(topic, to: .topic(topic))
      try await engine.unsubscribe(token: token, fromTopic: topic, context: CallContext())
    }
    let key = Keys.registration(RegistrationKey(installationID: "one", senderID: "1"))
    func leftTopics() async throws -> Int64? {
      try await store.read { try await MessagingReader(reader: $0).record(RegistrationRecord.self, key)?.leftTopics }
    }
    #expect(try await leftTopics() == 2)
    // The second message is read when the first one is done with.
    let (log, connection) = engine.inbox(token)
    try await log.wait(forTexts: ["a"])
    try await engine.acknowledge(token: token, messageIDs: log.events.map(\.messageID), context: CallContext())
    try await log.wait(forTexts: ["a", "b"])
    while try await leftTopics() == 2 { await Task.yield() }
    #expect(try await leftTopics() == 1)
    connection.cancel()
  }
}
