import Testing
import VestaBytes
import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaMessagingService

/// A service in whose store one row after the other is damaged.
///
/// Of two registrations one owns the row or not: the other one is never concerned; the owner registers again, as the
/// error advises, and has lost nothing but a message whose own row it was.
@Suite struct DamageTests {
  private struct World {
    let store = ModelStore()
    let clock = ManualClock()
    var one = ""
    var two = ""

    func engine() -> MessagingEngine { makeEngine(store, clock: clock) }
  }

  /// Two registrations that are away, with messages of every kind and what an earlier connection has left.
  private func makeWorld() async throws -> World {
    var world = World()
    let engine = world.engine()
    (world.one, world.two) = (try await engine.register("one"), try await engine.register("two"))
    for token in [world.one, world.two] {
      try await engine.subscribe(token: token, toTopic: "news", context: CallContext())
      let (log, connection) = engine.inbox(token)
      try await engine.send("acknowledged", to: .topic("news"))
      try await log.wait(for: "the first message") { !$0.isEmpty }
      try await engine.acknowledge(token: token, messageIDs: log.events.map(\.messageID), context: CallContext())
      connection.cancel()
    }
    for token in [world.one, world.two] {
      try await engine.send("direct", to: .token(token))
      var score = PushMessage(to: .token(token), data: ["text": "score"])
      score.android = ["collapse_key": "score"]
      _ = try await engine.send(score, isValidateOnly: false, context: .owner)
    }
    try await engine.send("topic", to: .topic("news"))
    try await engine.send("condition", to: .condition("'news' in topics"))
    _ = try await engine.statistics(context: .owner)
    return world
  }

  private func rows(of store: ModelStore) async throws -> [(key: [UInt8], value: [UInt8])] {
    try await store.read { reader in
      try await reader.entries(in: KeyRange(from: [], to: [0xFF])).map { ($0.key, $0.value) }
    }
  }

  private func world(_ world: World, damaging key: [UInt8], to value: [UInt8]) async throws -> World {
    let copy = World(one: world.one, two: world.two)
    let rows = try await rows(of: world.store)
    _ = try await copy.store.write { transaction in
      for row in rows { try await transaction.put(row.key == key ? value : row.value, for: row.key) }
    }
    return copy
  }

  /// Everything that a registration receives, after a last message that says where the end is.
  private func receive(_ engine: MessagingEngine, _ token: String) async throws -> Set<String> {
    let (log, connection) = engine.inbox(token)
    try await engine.send("end", to: .token(token))
    try await log.wait(for: "the end") { $0.contains { $0.message.data["text"] == "end" } }
    try await engine.acknowledge(token: token, messageIDs: log.events.map(\.messageID), context: CallContext())
    connection.cancel()
    return Set(log.events.compactMap { $0.message.data["text"] })
  }

  @Test func `a damaged row costs its owner one message at most, and other owners nothing`() async throws {
    let world = try await makeWorld()
    for row in try await rows(of: world.store) where !row.value.isEmpty {
      for damage in [[0xFF, 0xFF], [], Array(row.value.dropLast(row.value.count / 2 + 1))] as [[UInt8]] {
        let label: Comment = "\(KeyPrinter.text(for: row.key)) damaged to \(damage.count) bytes"
        let copy = try await self.world(world, damaging: row.key, to: damage)
        let engine = copy.engine()
        // The owner of all other rows, whichever it is, continues as if nothing had happened.
        var whole: Set<String> = []
        for (id, token) in [("one", copy.one), ("two", copy.two)] {
          let current = try await engine.register(id, token: token)
          let texts = try await receive(engine, current)
          #expect(texts.isSuperset(of: ["end"]), label)
          let missing = Set(["direct", "score", "topic", "condition"]).subtracting(texts)
          #expect(missing.count <= 1, "\(label): \(id) misses \(missing)")
          if current == token, missing.isEmpty { whole.insert(id) }
          // A registration whose message row is damaged misses that message; everything new arrives.
          try await engine.send("new", to: .topic("news"))
          #expect(try await receive(engine, current).contains("new"), label)
        }
        #expect(!whole.isEmpty || isShared(row.key), label)
        try await sweepsEverything(engine, copy, label)
      }
    }
  }

  /// Whether a row is one of a message to both registrations.
  private func isShared(_ key: [UInt8]) -> Bool { KeyPrinter.text(for: key).contains("message") }

  /// After the time to live of all messages the store has no row of them.
  private func sweepsEverything(_ engine: MessagingEngine, _ world: World, _ label: Comment) async throws {
    world.clock.advance(by: .seconds(5 * 7 * 86_400))
    _ = try await engine.statistics(context: .owner)
    let left = try await rows(of: world.store).map { KeyPrinter.text(for: $0.key) }.filter { $0.contains("expiry") }
    #expect(left.isEmpty, label)
  }

  @Test func `a damaged registration is an error that says so, and not one that has ended`() async throws {
    let world = try await makeWorld()
    let key = RegistrationKey(installationID: "one", senderID: "1")
    for row in [Keys.token(world.one), Keys.registration(key)] {
      for damage in [[], [0xFF, 0xFF]] as [[UInt8]] {
        let copy = try await self.world(world, damaging: row, to: damage)
        let engine = copy.engine()
        let label: Comment = "\(KeyPrinter.text(for: row)) damaged to \(damage.count) bytes"
        for call in Self.callsWithToken {
          let error = await #expect(throws: MessagingServiceError.self, label) { try await call(engine, copy.one) }
          #expect(error?.code == .dataLoss && error?.reason != .unregistered, label)
        }
      }
    }
  }

  private static let callsWithToken: [@Sendable (MessagingEngine, String) async throws -> Void] = [
    { engine, token in try await engine.send("a", to: .token(token)) },
    { engine, token in try await engine.subscribe(token: token, toTopic: "other", context: CallContext()) },
    { engine, token in try await engine.acknowledge(token: token, messageIDs: ["0:1%1"], context: CallContext()) },
    { engine, token in try await engine.unregister(token: token, context: CallContext()) },
    { engine, token in _ = try await engine.registration(token: token, context: .owner) },
  ]

  @Test func `of several messages the one to a damaged registration is refused, with advice`() async throws {
    let world = try await makeWorld()
    let key = RegistrationKey(installationID: "one", senderID: "1")
    let copy = try await self.world(world, damaging: Keys.registration(key), to: [0xFF, 0xFF])
    let engine = copy.engine()
    let messages = [copy.two, copy.one, copy.two].map { PushMessage(to: .token($0), data: ["text": "each"]) }
    let outcomes = try await engine.sendEach(messages, isValidateOnly: false, context: .owner)
    let errors = outcomes.map { outcome -> MessagingServiceError? in
      if case .failure(let error) = outcome { error } else { nil }
    }
    #expect(errors.map { $0?.code } == [nil, .dataLoss, nil])
    #expect(errors[1]?.message.contains("Register the installation again") == true)
    #expect(errors[1]?.message.contains("registration") == true)
    let managed = try await engine.subscribe(tokens: [copy.one, copy.two], toTopic: "other", context: .owner)
    #expect(managed.map { $0?.code } == [.dataLoss, nil])
  }

  @Test func `numbers continue after the row with the last one was damaged`() async throws {
    let world = try await makeWorld()
    // The messages are deleted too, so that only the time shows which numbers were used.
    world.clock.advance(by: .seconds(5 * 7 * 86_400))
    _ = try await world.engine().statistics(context: .owner)
    let copy = try await self.world(world, damaging: Keys.sequence, to: [0xFF])
    copy.clock.advance(by: .seconds(5 * 7 * 86_400))
    let engine = copy.engine()
    let token = try await engine.register("one", token: copy.one)
    let (log, connection) = engine.inbox(token)
    try await engine.send("topic", to: .topic("news"))
    try await engine.send("direct", to: .token(token))
    try await log.wait(forTexts: ["topic", "direct"])
    connection.cancel()
  }
}
