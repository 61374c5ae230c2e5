import Testing
import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaMessagingService

/// Messages for transports in the store of several engines with different transports.
@Suite(.timeLimit(.minutes(10))) struct PushSharingTests {
  private func times(_ store: ModelStore) async throws -> [Int64] {
    try await store.read { try await $0.entries(in: Keys.pushes).map { try Keys.push(ofRow: $0.key).time } }
  }

  private func wait(_ store: ModelStore, until condition: ([Int64]) -> Bool) async throws {
    var commits = store.commits.makeAsyncIterator()
    while !condition(try await times(store)) { _ = await commits.next() }
  }

  /// An engine that accepts a message for `ios` and ends before it hands it over.
  private func leaveMessage(_ clock: ManualClock, _ store: ModelStore, ttl: Int64? = nil) async throws -> String {
    let hanging = WaitingTransport()
    let killed = makeEngine(store, clock: clock, transports: [hanging])
    let token = try await killed.register(address: "A")
    var message = PushMessage(to: .token(token), data: ["text": "a"])
    if let ttl { message.apns = ["headers": ["apns-expiration": .string("\(clock.seconds + ttl)")]] }
    _ = try await killed.send(message, isValidateOnly: false, context: .owner)
    _ = await hanging.pushes.wait(for: 1)
    // As if its process had been killed.
    killed.pushTimer.close()
    return token
  }

  @Test func `an engine without a transport for the platform leaves a message to one that has it`() async throws {
    let (clock, store) = (ManualClock(), ModelStore())
    let token = try await leaveMessage(clock, store)
    let other = makeEngine(store, clock: clock, transports: [RecordingPushTransport(platforms: ["web"])])
    _ = try await other.registration(token: token, context: .owner)
    await clock.waitForTimers()
    // It passes the message over when it is due, and moves it after half a claim.
    let due = try #require(try await times(store).first)
    clock.advance(by: MessagingServiceTuning().pushClaim * 2)
    try await wait(store) { $0.count == 1 && $0[0] > due + 120_000_000 }
    let transport = RecordingPushTransport(platforms: ["ios"])
    let engine = makeEngine(store, clock: clock, transports: [transport])
    _ = try await engine.registration(token: token, context: .owner)
    while try await !times(store).isEmpty {
      clock.advance(by: .seconds(10))
      await Task.yield()
    }
    #expect(transport.pushes.map(\.address) == ["A"])
    #expect(try await engine.statistics(context: .owner).acknowledged == 1)
    try await other.close()
  }

  @Test func `of two transports for a platform the first one takes its messages`() async throws {
    let (store, first, second) = (ModelStore(), RecordingPushTransport(platforms: ["ios"]), RecordingPushTransport())
    let engine = makeEngine(store, transports: [first, second])
    try await engine.send("a", to: .token(try await engine.register(address: "A")))
    try await engine.send("b", to: .token(try await engine.register("two", address: "B", platform: "web")))
    try await wait(store) { $0.isEmpty }
    #expect(first.pushes.map(\.address) == ["A"])
    #expect(second.pushes.map(\.address) == ["B"])
    try await engine.close()
  }

  @Test func `an engine passes messages that it does not reach, however many they are`() async throws {
    let (clock, store) = (ManualClock(), ModelStore())
    let hanging = [WaitingTransport(), WaitingTransport(platform: "web")]
    let killed = makeEngine(store, clock: clock, transports: hanging)
    var token = try await killed.register(address: "A")
    for _ in 0..<20 {
      let message = PushMessage(to: .token(token), data: ["text": "a"])
      _ = try await killed.send(message, isValidateOnly: false, context: .owner)
    }
    // Later than all of those.
    clock.advance(by: .seconds(1))
    token = try await killed.register("two", address: "W", platform: "web")
    _ = try await killed.send(
      PushMessage(to: .token(token), data: ["text": "w"]), isValidateOnly: false, context: .owner)
    for transport in hanging { _ = await transport.pushes.wait(for: 1) }
    killed.pushTimer.close()

    clock.advance(by: MessagingServiceTuning().pushClaim + .seconds(1))
    let transport = RecordingPushTransport(platforms: ["web"])
    var tuning = MessagingServiceTuning()
    (tuning.longestPushScan, tuning.pushBatch) = (4, 3)
    let engine = makeEngine(store, clock: clock, transports: [transport], tuning: tuning)
    _ = try await engine.registration(token: token, context: .owner)
    // All are due, and none of the others for so long that it is moved.
    try await wait(store) { $0.count == 20 }
    #expect(transport.pushes.map(\.address) == ["W"])
    try await engine.close()
  }

  @Test func `the messages of an engine that has ended are taken up in one transaction`() async throws {
    let (clock, store) = (ManualClock(), ModelStore())
    let killed = makeEngine(store, clock: clock, transports: [WaitingTransport()])
    let token = try await killed.register(address: "A")
    for number in 0..<6 { try await killed.send("\(number)", to: .token(token)) }
    killed.pushTimer.close()
    clock.advance(by: MessagingServiceTuning().pushClaim + .seconds(1))
    let (start, commits) = (clock.now, Locked(0))
    let observation = store.observeCommits { _ in commits.withLock { $0 += 1 } }
    let engine = makeEngine(store, clock: clock, transports: [WaitingTransport()])
    _ = try await engine.registration(token: token, context: .owner)
    try await wait(store) { $0.count == 6 && $0.allSatisfy { $0 > start } }
    #expect(commits.withLock { $0 } == 1)
    observation.cancel()
    try await engine.close()
  }

  @Test func `the rows of the members of a topic are written in one transaction`() async throws {
    let (clock, store, commits) = (ManualClock(), ModelStore(), Locked(0))
    let engine = makeEngine(store, clock: clock, transports: [WaitingTransport()])
    for number in 0..<6 {
      let token = try await engine.register("i\(number)", address: "A\(number)")
      try await engine.subscribe(token: token, toTopic: "news", context: CallContext())
    }
    let observation = store.observeCommits { _ in commits.withLock { $0 += 1 } }
    try await engine.send("a", to: .topic("news"))
    let start = clock.now
    try await wait(store) { $0.count == 6 && $0.allSatisfy { $0 > start } }
    // The message, the rows, and that they are taken up.
    #expect(commits.withLock { $0 } == 3)
    observation.cancel()
    try await engine.close()
  }

  @Test func `a message for a platform that no engine reaches ends with its time to live`() async throws {
    let (clock, store) = (ManualClock(), ModelStore())
    let token = try await leaveMessage(clock, store, ttl: 1_000)
    let other = makeEngine(store, clock: clock, transports: [RecordingPushTransport(platforms: ["web"])])
    _ = try await other.registration(token: token, context: .owner)
    let end = clock.now + 1_000_000_000
    // Its own timers alone move the clock, so that it is never late, however slowly the machine works.
    while try await !times(store).isEmpty { if !clock.fireNext() { await Task.yield() } }
    #expect(clock.now < end + 200_000_000)
    #expect(clock.now > end - 900_000_000)
    try await other.close()
  }

  /// An engine with one lane, in which the first one of two messages is under way.
  private func engineWithOneLane(
    _ clock: ManualClock, _ store: ModelStore, _ transport: WaitingTransport, ttl: String? = nil
  ) async throws -> MessagingEngine {
    var tuning = MessagingServiceTuning()
    (tuning.pushLanes, tuning.pushLanesOfService, tuning.pushLanesOfNewServices) = (1, 1, 1)
    let engine = makeEngine(store, clock: clock, transports: [transport], tuning: tuning)
    for id in ["one", "two"] {
      let token = try await engine.register(id, address: id, platform: "android")
      try await engine.send(id, to: .token(token), ttl: id == "two" ? ttl : nil)
    }
    _ = await transport.pushes.wait(for: 1)
    return engine
  }

  /// Lets the first message end after a time; answers what was handed over then, and until nothing is left.
  private func pushes(
    _ engine: MessagingEngine, _ clock: ManualClock, _ store: ModelStore, _ transport: WaitingTransport,
    after time: Duration
  ) async throws -> (then: Int, all: Int) {
    clock.advance(by: time)
    transport.gate.open()
    while !engine.pushes.isIdle { await Task.yield() }
    let then = transport.pushes.entries.count
    while try await !times(store).isEmpty {
      clock.advance(by: .seconds(10))
      await Task.yield()
    }
    return (then, transport.pushes.entries.count)
  }

  @Test(arguments: [(29, 2), (31, 1)])
  func `an immediate message that has waited for half a minute is not handed over`(
    seconds: Int, count: Int
  ) async throws {
    let (clock, store, transport) = (ManualClock(), ModelStore(), WaitingTransport(platform: "android"))
    let engine = try await engineWithOneLane(clock, store, transport, ttl: "0s")
    #expect(try await pushes(engine, clock, store, transport, after: .seconds(seconds)) == (count, count))
    try await engine.close()
  }

  @Test func `a message whose claim is half over waits for the next claim`() async throws {
    let (clock, store, transport) = (ManualClock(), ModelStore(), WaitingTransport(platform: "android"))
    let engine = try await engineWithOneLane(clock, store, transport)
    // Another engine could take the second message up while this one hands it over.
    let late = MessagingServiceTuning().pushClaim * 3 / 4
    #expect(try await pushes(engine, clock, store, transport, after: late) == (1, 2))
    try await engine.close()
  }

  @Test func `an idle engine takes up the messages of one that has ended, although it accepts none`() async throws {
    let (clock, store) = (ManualClock(), ModelStore())
    let transport = RecordingPushTransport(platforms: ["ios"])
    let idle = makeEngine(store, clock: clock, transports: [transport])
    await #expect(throws: MessagingServiceError.self) { try await idle.registration(token: "none", context: .owner) }
    await clock.waitForTimers()
    _ = try await leaveMessage(clock, store)
    let version = try await store.read { $0.version }
    clock.advance(by: .seconds(60))
    await clock.waitForTimers()
    // A look at rows that are not due writes nothing.
    #expect(try await store.read { $0.version } == version)
    while try await !times(store).isEmpty {
      clock.advance(by: .seconds(10))
      await Task.yield()
    }
    #expect(transport.pushes.count == 1)
    try await idle.close()
  }
}

/// A transport that records its pushes and ends none of them before its gate is open.
private final class WaitingTransport: PushTransport {
  let platforms: Set<String>
  let pushes = Log<PushAddress>()
  let gate = Gate()

  init(platform: String = "ios") { platforms = [platform] }

  func push(_ delivery: PushDelivery, to address: PushAddress) async throws(MessagingServiceError) {
    pushes.add(address)
    await gate.wait()
  }
}
