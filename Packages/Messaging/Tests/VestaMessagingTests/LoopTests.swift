import Testing
import VestaConcurrency
import VestaCore
import VestaMessagingBackend
import VestaMessagingBackendFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaMessaging

/// A message is acknowledged when its loop asks for the next one or was left, and returned when no loop has taken it.
@Suite struct LoopTests {
  private func makeBench(_ tuning: MessagingTuning = MessagingTuning()) async throws -> Bench {
    let bench = try Bench(tuning: tuning)
    _ = try await bench.messaging.token()
    return bench
  }

  private func acknowledged(_ bench: Bench) -> [String] { bench.backend.state.withLock { $0.acknowledged } }

  @Test func `a message is acknowledged when the loop asks for the next one, and not before`() async throws {
    let bench = try await makeBench()
    var messages = bench.messaging.foregroundMessages.makeAsyncIterator()
    for number in 1...3 { bench.backend.deliver("\(number)", "x") }
    #expect(await messages.next()?.messageID == "1")
    for _ in 0..<1_000 { await Task.yield() }
    #expect(acknowledged(bench).isEmpty)
    #expect(await messages.next()?.messageID == "2")
    try await bench.backend.changes.wait(for: "the first one") { $0 == ["ack 1"] }
    #expect(bench.messaging.delivery.waitingCount == 1)
    await bench.end()
  }

  @Test func `a loop that is left gives the messages back that it has not taken, and the next loop receives them`()
    async throws
  {
    let bench = try await makeBench()
    let backlog = (0..<10).map { "s\($0)" }
    var seen: [String] = []
    for round in 0..<2 {
      var messages = bench.messaging.foregroundMessages.makeAsyncIterator()
      // The service delivers at each connection what is not acknowledged.
      for id in backlog where !acknowledged(bench).contains(id) { bench.backend.deliver(id, "x") }
      while let message = await messages.next() {
        seen.append(message.messageID)
        if round == 0 || seen.count == backlog.count { break }
      }
      let count = round == 0 ? 1 : backlog.count
      // The iterator is dropped at the end of each round.
      _ = consume messages
      try await bench.backend.changes.wait(for: "\(count) acknowledgements") { $0.count == count }
      #expect(bench.messaging.delivery.listenerCount == 0 && bench.backend.links.isEmpty)
    }
    #expect(seen == backlog)
    #expect(acknowledged(bench) == backlog)
    await bench.end()
  }

  @Test(arguments: [true, false])
  func `a loop whose task is cancelled gives everything back but the message that it has taken`(
    isWaiting: Bool
  ) async throws {
    let bench = try await makeBench()
    let messaging = bench.messaging
    let (taken, gate) = (EventLog<String>(patience: .seconds(300)), Gate(isOpen: isWaiting))
    let loop = Task {
      for await message in messaging.foregroundMessages {
        taken.record(message.messageID)
        await gate.wait()
      }
    }
    while messaging.delivery.listenerCount == 0 { await Task.yield() }
    bench.backend.deliver("1", "x")
    try await taken.wait(for: "the message") { $0 == ["1"] }
    if isWaiting {
      try await bench.backend.changes.wait(for: "its acknowledgement") { $0 == ["ack 1"] }
    } else {
      bench.backend.deliver("2", "x")
      bench.backend.deliver("3", "x")
    }
    loop.cancel()
    gate.open()
    await loop.value
    try await bench.backend.changes.wait(for: "its acknowledgement") { $0 == ["ack 1"] }
    #expect(taken.events == ["1"] && messaging.delivery.waitingCount == 0)
    await bench.end()
  }

  @Test func `the message of a loop that was left is acknowledged only when no other loop holds it`() async throws {
    let bench = try await makeBench()
    var first: ForegroundMessages.Iterator? = bench.messaging.foregroundMessages.makeAsyncIterator()
    var second = bench.messaging.foregroundMessages.makeAsyncIterator()
    for number in 1...3 { bench.backend.deliver("\(number)", "x") }
    for id in ["1", "2"] {
      let taken = await first?.next()
      #expect(taken?.messageID == id)
    }
    for _ in 0..<1_000 { await Task.yield() }
    #expect(acknowledged(bench).isEmpty)
    first = nil
    // The third one was taken by none, and is still the second loop's.
    for id in ["1", "2", "3"] { #expect(await second.next()?.messageID == id) }
    try await bench.backend.changes.wait(for: "two") { $0 == ["ack 1", "ack 2"] }
    await bench.end()
  }

  @Test func `a message that only the loop that was left held passes on to the remaining ones, in order`() async throws
  {
    let bench = try await makeBench()
    var first: ForegroundMessages.Iterator? = bench.messaging.foregroundMessages.makeAsyncIterator()
    for number in 1...2 { bench.backend.deliver("\(number)", "x") }
    var second = bench.messaging.foregroundMessages.makeAsyncIterator()
    bench.backend.deliver("3", "x")
    first = nil
    #expect(first == nil)
    for id in ["1", "2", "3"] { #expect(await second.next()?.messageID == id) }
    await bench.end()
  }

  @Test func `a repeated message is handed over once, and acknowledged again once it was acknowledged`()
    async throws
  {
    let bench = try await makeBench()
    var messages = bench.messaging.foregroundMessages.makeAsyncIterator()
    bench.backend.deliver("1", "x")
    bench.backend.deliver("1", "x")
    #expect(await messages.next()?.messageID == "1")
    bench.backend.deliver("1", "x")
    bench.backend.deliver("2", "x")
    #expect(await messages.next()?.messageID == "2")
    bench.backend.deliver("1", "x")
    try await bench.backend.changes.wait(for: "twice") { $0 == ["ack 1", "ack 1"] }
    await bench.end()
  }

  @Test func `a bounded number of acknowledged messages are remembered, and the oldest are forgotten first`()
    async throws
  {
    var tuning = MessagingTuning()
    tuning.rememberedMessages = 2
    var book = DeliveryBook(rememberedMessages: tuning.rememberedMessages)
    let reader = book.addReader()
    for id in ["1", "2", "3"] {
      let isRepeated = book.arrived(Self.message(id))
      let taken = book.take(reader)?.messageID
      let done = book.finishedCurrent(reader)
      #expect(!isRepeated && taken == id && done == [id])
    }
    var repeated: [Bool] = []
    for id in ["1", "2", "3"] { repeated.append(book.arrived(Self.message(id))) }
    #expect(repeated == [false, true, true])
  }

  @Test func `deleting the token drops what no loop has taken`() async throws {
    let bench = try await makeBench()
    var messages = bench.messaging.foregroundMessages.makeAsyncIterator()
    bench.backend.deliver("1", "x")
    bench.backend.deliver("2", "x")
    #expect(await messages.next()?.messageID == "1")
    try await bench.messaging.deleteToken()
    _ = try await bench.messaging.token()
    bench.backend.deliver("3", "x")
    #expect(await messages.next()?.messageID == "3")
    await bench.end()
  }

  private static func message(_ id: String) -> MessagingRemoteMessage {
    let message = PushMessage(to: .token("t"), data: [:])
    let settings = DeliverySettings(message, platform: "linux", now: 0)
    return MessagingRemoteMessage(
      PushDelivery(messageID: id, message: message, from: "1", sentTime: 0, settings: settings))
  }

  @Test func `in random histories each loop receives what arrives in order, and nothing is acknowledged too early`() {
    let seed = UInt64.random(in: 0...UInt64.max)
    for round in 0..<300 {
      var random = SplitMix(seed: seed &+ UInt64(round))
      let memory = 1 + random.below(4)
      var book = DeliveryBook(rememberedMessages: memory)
      var (readers, current): ([Int], [Int: String]) = ([], [:])
      var (held, taken, done): ([String: Set<Int>], Set<String>, Set<String>) = ([:], [], [])
      var (count, last): (Int, [Int: Int]) = (0, [:])
      func expectDone(_ ids: [String]) {
        for id in ids {
          #expect(taken.contains(id) && held[id]?.isEmpty != false, "seed \(seed) \(round), memory \(memory): \(id)")
          #expect(done.insert(id).inserted, "seed \(seed) \(round): \(id) twice")
        }
      }
      for _ in 0..<120 {
        let reader = readers.isEmpty ? 0 : random.pick(readers)
        switch random.below(8) {
        case 0: readers.append(book.addReader())
        case 1:
          readers.removeAll { $0 == reader }
          if let id = current.removeValue(forKey: reader) { taken.insert(id) }
          for id in held.keys { held[id]?.remove(reader) }
          let ids = book.left(reader)
          expectDone(ids)
          for id in held.keys where held[id]?.isEmpty == true && !taken.contains(id) {
            if readers.isEmpty { held[id] = nil } else { held[id] = Set(readers) }
            // It may arrive after later ones that the loop has taken already.
            for other in readers { last[other] = 0 }
          }
        case 2, 3, 4:
          count += 1
          let isRepeated = book.arrived(Self.message("\(count)"))
          #expect(!isRepeated)
          if !readers.isEmpty { held["\(count)"] = Set(readers) }
        default:
          if let id = current.removeValue(forKey: reader) {
            held[id]?.remove(reader)
            taken.insert(id)
          }
          expectDone(book.finishedCurrent(reader))
          guard let message = book.take(reader), let number = Int(message.messageID) else { continue }
          #expect(held[message.messageID]?.contains(reader) == true, "seed \(seed) \(round)")
          #expect(number > last[reader] ?? 0, "seed \(seed) \(round)")
          (last[reader], current[reader]) = (number, message.messageID)
        }
      }
    }
  }
}

/// Acknowledgements after an outage, and refused ones.
@Suite struct AcknowledgementTests {
  private func makeRunner(batch: Int = 500) -> (AcknowledgementRunner, ScriptedMessagingBackend, ManualClock) {
    let (backend, clock) = (ScriptedMessagingBackend(), ManualClock())
    let service = ServiceClock(now: { clock.now }, schedule: { clock.schedule(after: $0, $1) })
    var tuning = MessagingTuning()
    tuning.acknowledgementBatch = batch
    let runner = AcknowledgementRunner(backend: backend, clock: service, tuning: tuning)
    runner.setToken("t")
    return (runner, backend, clock)
  }

  @Test func `what is added in a pause waits for its end, and is no further failure`() async throws {
    let (runner, backend, clock) = makeRunner()
    backend.fail(.unavailable)
    runner.add(["0"])
    await clock.waitForTimers(1)
    for number in 1...50 { runner.add(["\(number)"]) }
    for _ in 0..<1_000 { await Task.yield() }
    #expect(clock.deadlines == [clock.now + 1_000_000])
    backend.fail(nil)
    clock.advance(by: .seconds(1))
    try await backend.changes.wait(for: "all") { Set($0) == Set((0...50).map { "ack \($0)" }) }
    #expect(clock.deadlines.isEmpty)
    runner.end()
  }

  @Test(arguments: [1, 2, 7, 500])
  func `a message whose acknowledgement is refused keeps no other one, and is tried again`(batch: Int) async throws {
    let (runner, backend, clock) = makeRunner(batch: batch)
    backend.state.withLock { $0.refused = ["3", "7"] }
    runner.add((0..<10).map(String.init))
    let others = Set((0..<10).filter { $0 != 3 && $0 != 7 }.map { "ack \($0)" })
    try await backend.changes.wait(for: "the others") { Set($0) == others && $0.count == others.count }
    for pause in [1, 2, 4] as [Int64] {
      await clock.waitForTimers(1)
      #expect(clock.deadlines == [clock.now + pause * 1_000_000])
      clock.advance(by: .seconds(pause))
    }
    await clock.waitForTimers(1)
    backend.state.withLock { $0.refused = [] }
    clock.advance(by: .seconds(8))
    try await backend.changes.wait(for: "all") { $0.count == 10 }
    runner.end()
  }
}

/// The token stays deleted, and the delegate may belong to the main actor.
@Suite struct DeletedTokenTests {
  @Test(arguments: [true, false])
  func `a change of topics that waits does not register the app again after its token was deleted`(
    deletesAll: Bool
  ) async throws {
    let bench = try Bench()
    let messaging = bench.messaging
    _ = try await messaging.token()
    bench.backend.fail(.unavailable)
    let change = Task { try await messaging.subscribe(toTopic: "a") }
    await bench.clock.waitForTimers(1)
    if deletesAll { try? await messaging.deleteData() } else { try? await messaging.deleteToken() }
    bench.backend.fail(nil)
    bench.clock.advance(by: .seconds(30))
    for _ in 0..<1_000 { await Task.yield() }
    #expect(bench.backend.state.withLock { $0.requests.count } == 1)
    #expect(messaging.fcmTokenIfKnown == nil)
    // With the next token the change is made.
    _ = try await messaging.token()
    try await change.value
    #expect(bench.backend.state.withLock { $0.topics } == ["+a"])
    await bench.end()
  }

  @Test func `the delegate is told of messages that were dropped, and so is the notification`() async throws {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    let delegate = MainDelegate()
    let log = delegate.log
    await delegate.attach(to: bench.messaging)
    let messages = bench.messaging.foregroundMessages.makeAsyncIterator()
    bench.backend.deliver("1", "x")
    bench.backend.deliver("2", "x", droppedBefore: 7)
    try await log.wait(for: "the number") { $0.contains("dropped 7") }
    #expect(log.events == ["dropped 7"], "nothing was dropped before the first message")
    withExtendedLifetime((delegate, messages)) {}
    await bench.end()
  }
}

/// A class of the main actor, as programs write them.
@MainActor private final class MainDelegate: MessagingDelegate {
  nonisolated init() {}
  nonisolated let log = EventLog<String>(patience: .seconds(300))
  func attach(to messaging: Messaging) { messaging.delegate = self }
  nonisolated func messaging(_ messaging: Messaging, didDropMessages count: Int) { log.record("dropped \(count)") }
}

/// Compiles: a class of the main actor whose conformance belongs to it.
@MainActor private class AppDelegate: @MainActor MessagingDelegate {
  var token: String?
  func attach(to messaging: Messaging) { messaging.delegate = self }
  func messaging(_ messaging: Messaging, didReceiveRegistrationToken fcmToken: String?) { token = fcmToken }
}
