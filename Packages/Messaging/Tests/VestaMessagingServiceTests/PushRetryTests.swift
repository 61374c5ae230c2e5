import Testing
import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaMessagingService

/// A transport that does for each push what a test says.
private final class ScriptedTransport: PushTransport {
  typealias Answer = @Sendable (PushDelivery, PushAddress) async throws(MessagingServiceError) -> Void

  let platforms: Set<String> = ["ios"]
  let pushes = Log<(delivery: PushDelivery, address: PushAddress)>()
  private let answer: Locked<Answer>

  init(_ answer: @escaping Answer = { _, _ in }) { self.answer = Locked(answer) }

  func set(_ answer: @escaping Answer) { self.answer.withLock { $0 = answer } }

  func push(_ delivery: PushDelivery, to address: PushAddress) async throws(MessagingServiceError) {
    let answer = answer.withLock { $0 }
    pushes.add((delivery, address))
    try await answer(delivery, address)
  }

  func service(of address: PushAddress) -> String { String(address.text.prefix { $0 != "/" }) }

  var texts: [String] { pushes.entries.compactMap { $0.delivery.message.data["text"] } }

  func wait(_ count: Int) async { await pushes.wait { $0.count >= count } }
}

private func unavailable(_ seconds: Int64? = nil) -> MessagingServiceError {
  MessagingServiceError(
    .unavailable, reason: .unavailable, "busy",
    errorDetails: seconds.map { [.retryInfo(after: .seconds($0))] } ?? [])
}

/// Messages for transports: failures, crashes and slow services.
@Suite(.timeLimit(.minutes(5))) struct PushRetryTests {
  private func rows(_ store: ModelStore) async throws -> [(time: Int64, number: Int64, key: RegistrationKey?)] {
    try await store.read { try await $0.entries(in: Keys.pushes).map { try Keys.push(ofRow: $0.key) } }
  }

  /// Waits until the store says so: the engine works in the background.
  private func wait(_ store: ModelStore, until condition: ([Int64]) -> Bool) async throws {
    // Each change of a row is a commit; the stream begins before the first look.
    var commits = store.commits.makeAsyncIterator()
    while !condition(try await rows(store).map(\.time)) { _ = await commits.next() }
  }

  private func tuning() -> MessagingServiceTuning {
    var tuning = MessagingServiceTuning()
    tuning.pushRetry = Retry(initial: .seconds(10), cap: .seconds(40), attempts: 4)
    return tuning
  }

  @Test func `a push that failed is made again after growing pauses, and after what the service asks for`() async throws
  {
    let (clock, store) = (ManualClock(), ModelStore())
    let transport = ScriptedTransport { _, _ throws(MessagingServiceError) in throw unavailable() }
    let engine = makeEngine(store, clock: clock, transports: [transport], tuning: tuning())
    let start = clock.now
    try await engine.send("a", to: .token(try await engine.register(address: "A")))
    try await wait(store) { $0 == [start + 10_000_000] }
    clock.advance(by: .seconds(9))
    #expect(transport.pushes.entries.count == 1)
    transport.set { _, _ throws(MessagingServiceError) in throw unavailable(300) }
    clock.advance(by: .seconds(1))
    await transport.wait(2)
    try await wait(store) { $0 == [start + 310_000_000] }
    transport.set { _, _ in }
    clock.advance(by: .seconds(300))
    await transport.wait(3)
    try await wait(store) { $0.isEmpty }
    #expect(Set(transport.pushes.entries.map(\.delivery.messageID)).count == 1)
    // The time that is left grows shorter.
    #expect(
      transport.pushes.entries.map(\.delivery.settings.timeToLive)
        == [0, 10, 310].map { DeliverySettings.maximumTimeToLive - $0 })
    #expect(try await engine.statistics(context: .owner).acknowledged == 1)
    try await engine.close()
  }

  @Test func `attempts are bounded in number and by the time to live; a refusal is final`() async throws {
    let (clock, store) = (ManualClock(), ModelStore())
    let transport = ScriptedTransport { _, _ throws(MessagingServiceError) in throw unavailable() }
    let engine = makeEngine(store, clock: clock, transports: [transport], tuning: tuning())
    let token = try await engine.register(address: "A")
    try await engine.send("a", to: .token(token))
    for (count, pause) in [(1, 10), (2, 20), (3, 40)] {
      let due = clock.now + Int64(pause) * 1_000_000
      await transport.wait(count)
      try await wait(store) { $0 == [due] }
      clock.advance(by: .seconds(pause))
    }
    await transport.wait(4)
    try await wait(store) { $0.isEmpty }
    // It waits for the connection all the same.
    let (log, connection) = engine.inbox(token)
    try await log.wait(forTexts: ["a"])
    connection.cancel()
    try await engine.acknowledge(token: token, messageIDs: log.events.map(\.messageID), context: CallContext())
    var short = PushMessage(to: .token(token), data: ["text": "b"])
    short.apns = ["headers": ["apns-expiration": .string("\(clock.seconds + 5)")]]
    _ = try await engine.send(short, isValidateOnly: false, context: .owner)
    await transport.wait(5)
    try await wait(store) { $0.isEmpty }
    transport.set { _, _ throws(MessagingServiceError) in throw .invalid("message", "no") }
    try await engine.send("c", to: .token(token))
    await transport.wait(6)
    try await wait(store) { $0.isEmpty }
    clock.advance(by: .seconds(1_000))
    #expect(transport.texts == ["a", "a", "a", "a", "b", "c"])
    try await engine.close()
  }

  @Test(arguments: [(true, 2), (false, 1)])
  func `a service that refuses a message does its work, and one that is away does not`(
    refuses: Bool, atOnce: Int
  ) async throws {
    let gate = Gate()
    let transport = ScriptedTransport { delivery, _ throws(MessagingServiceError) in
      if delivery.message.data["text"] == "slow" { return await gate.wait() }
      throw refuses ? .invalid("message", "no") : unavailable()
    }
    var tuning = tuning()
    tuning.pushLanesOfNewServices = 1
    let engine = makeEngine(clock: ManualClock(), transports: [transport], tuning: tuning)
    let tokens = [
      try await engine.register("one", address: "A/1"), try await engine.register("two", address: "B/1"),
    ]
    for (index, token) in tokens.enumerated() {
      try await engine.send("first", to: .token(token))
      await transport.wait(index + 1)
      while !engine.pushes.isIdle { await Task.yield() }
    }
    // Services that do not work have one lane together.
    for token in tokens { try await engine.send("slow", to: .token(token)) }
    await transport.wait(2 + atOnce)
    for _ in 0..<1_000 { await Task.yield() }
    #expect(transport.pushes.entries.count == 2 + atOnce)
    gate.open()
    await transport.wait(4)
    try await engine.close()
  }

  @Test func `an engine that ends while it hands a message over leaves it to the next one`() async throws {
    let (clock, store, gate) = (ManualClock(), ModelStore(), Gate())
    let hanging = ScriptedTransport { _, _ in await gate.wait() }
    let killed = makeEngine(store, clock: clock, transports: [hanging])
    let (one, two) = (
      try await killed.register("one", address: "A"), try await killed.register("two", address: "A/2")
    )
    for token in [one, two] { try await killed.subscribe(token: token, toTopic: "news", context: CallContext()) }
    try await killed.send("direct", to: .token(one))
    await hanging.wait(1)
    try await killed.send("topic", to: .topic("news"))
    try await wait(store) { $0.count == 3 }
    // As if its process had been killed.
    killed.pushTimer.close()
    let transport = ScriptedTransport()
    let next = makeEngine(store, clock: clock, transports: [transport])
    _ = try await next.registration(token: one, context: .owner)
    #expect(transport.texts.isEmpty)
    clock.advance(by: MessagingServiceTuning().pushClaim)
    _ = try await next.registration(token: one, context: .owner)
    await transport.wait(3)
    try await wait(store) { $0.isEmpty }
    #expect(transport.texts.sorted() == ["direct", "topic", "topic"])
    gate.open()
    clock.advance(by: .seconds(1_000))
    #expect(try await next.statistics(context: .owner).acknowledged == 3)
    try await next.close()
  }

  @Test func `a message that was acknowledged, replaced or dropped in between is not handed over again`() async throws {
    let (clock, store) = (ManualClock(), ModelStore())
    let transport = ScriptedTransport { _, _ throws(MessagingServiceError) in throw unavailable() }
    let engine = makeEngine(store, clock: clock, transports: [transport], maximumWaiting: 2, tuning: tuning())
    let token = try await engine.register(address: "A")
    func send(_ text: String, _ key: String?) async throws -> String {
      var message = PushMessage(to: .token(token), data: ["text": text])
      if let key { message.apns = ["headers": ["apns-collapse-id": .string(key)]] }
      let name = try await engine.send(message, isValidateOnly: false, context: .owner)
      return String(name.split(separator: "/").last ?? "")
    }
    let acknowledged = try await send("acknowledged", nil)
    try await engine.acknowledge(token: token, messageIDs: [acknowledged], context: CallContext())
    _ = try await send("replaced", "k")
    _ = try await send("dropped", nil)
    _ = try await send("new", "k")
    _ = try await send("newest", nil)
    try await wait(store) { $0.allSatisfy { $0 == clock.now + 10_000_000 } }
    let before = transport.pushes.entries.count
    transport.set { _, _ in }
    clock.advance(by: .seconds(10))
    try await wait(store) { $0.isEmpty }
    #expect(transport.texts.dropFirst(before).sorted() == ["new", "newest"])
    try await engine.close()
  }

  @Test func `an unregistered address does not end a registration that has another one by now`() async throws {
    let (clock, store, gate) = (ManualClock(), ModelStore(), Gate())
    let transport = ScriptedTransport { _, address throws(MessagingServiceError) in
      guard address == "old" else { return }
      await gate.wait()
      throw .unregistered
    }
    let engine = makeEngine(store, clock: clock, transports: [transport])
    let token = try await engine.register(address: "old")
    try await engine.send("a", to: .token(token))
    await transport.wait(1)
    #expect(try await engine.register(token: token, address: "new") == token)
    gate.open()
    await transport.wait(2)
    try await wait(store) { $0.isEmpty }
    #expect(transport.pushes.entries.map(\.address) == ["old", "new"])
    #expect(try await engine.registration(token: token, context: .owner).platform == "ios")
    try await engine.close()
  }

  @Test func `services that hang stop neither other services nor later messages to a topic`() async throws {
    let (clock, store, gate) = (ManualClock(), ModelStore(), Gate())
    let transport = ScriptedTransport { _, address in
      if address.text.hasPrefix("slow") { await gate.wait() }
    }
    let engine = makeEngine(store, clock: clock, transports: [transport])
    var slow: [String] = []
    for number in 0..<40 {
      let token = try await engine.register("slow\(number)", address: "slow\(number % 20)/\(number)")
      try await engine.subscribe(token: token, toTopic: "news", context: CallContext())
      slow.append(token)
    }
    let good = try await engine.register("good", address: "good/1")
    try await engine.subscribe(token: good, toTopic: "news", context: CallContext())
    try await engine.send("topic", to: .topic("news"))
    for token in slow { try await engine.send("x", to: .token(token)) }
    try await engine.send("direct", to: .token(good))
    await transport.pushes.wait { $0.filter { $0.address == "good/1" }.count == 2 }
    gate.open()
    try await wait(store) { $0.isEmpty }
    #expect(transport.pushes.entries.count == 82)
    try await engine.close()
  }

  @Test func `with small figures each message reaches each member of its topic, whatever fails`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    for round in 0..<10 {
      var random = SplitMix(seed: seed &+ UInt64(round))
      var tuning = MessagingServiceTuning.small(&random)
      tuning.pushRetry = Retry(initial: .seconds(1), cap: .seconds(8))
      let (clock, store, sources) = (ManualClock(), ModelStore(), Locked(random))
      let transport = ScriptedTransport { _, _ throws(MessagingServiceError) in
        if sources.withLock({ $0.oneIn(3) }) { throw unavailable() }
      }
      let engine = makeEngine(store, clock: clock, transports: [transport], tuning: tuning)
      let members = 1 + random.below(9)
      for number in 0..<members {
        let token = try await engine.register("i\(number)", address: "s\(number % 3)/\(number)")
        try await engine.subscribe(token: token, toTopic: "news", context: CallContext())
      }
      let count = 1 + random.below(6)
      for number in 0..<count { try await engine.send("\(number)", to: .topic("news")) }
      while !(try await rows(store).isEmpty) {
        if engine.pushes.isIdle { _ = clock.fireNext() }
        await Task.yield()
      }
      let accepted = try await engine.statistics(context: .owner).acknowledged
      #expect(accepted == Int64(members * count), "seed \(seed) round \(round) \(tuning)")
      try await engine.close()
    }
  }
}
