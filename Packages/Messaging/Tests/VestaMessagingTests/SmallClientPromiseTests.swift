import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaMessagingBackend
import VestaMessagingBackendFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaMessaging

/// Promises of single lines of the client: which listeners are called, what is forgotten, and what stays.
@Suite struct SmallClientPromiseTests {
  @Test func `deleting all data unregisters every token at the service, and forgets them`() async throws {
    let bench = try Bench()
    let own = try await bench.messaging.token()
    let other = try await bench.messaging.retrieveFCMToken(forSenderID: "77")
    try await bench.messaging.deleteData()
    #expect(Set(bench.backend.state.withLock { $0.unregistered }) == [own, other])
    #expect(bench.messaging.fcmTokenIfKnown == nil)
    #expect(bench.messaging.state.withLock { $0.stored.otherTokens.isEmpty })
    await bench.end()
  }

  @Test func `deleting all data fails when one token could not be deleted, and forgets all of them`() async throws {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    _ = try await bench.messaging.retrieveFCMToken(forSenderID: "77")
    bench.backend.fail(.unavailable)
    let error = await #expect(throws: MessagingError.self) { try await bench.messaging.deleteData() }
    #expect(error?.code == .network)
    #expect(bench.messaging.fcmTokenIfKnown == nil)
    #expect(bench.messaging.state.withLock { $0.stored.otherTokens.isEmpty })
    await bench.end()
  }

  @Test func `each caller that changes a topic to and fro waits for its own change, and none is left behind`()
    async throws
  {
    let bench = try Bench()
    let messaging = bench.messaging
    _ = try await messaging.token()
    bench.backend.gate.close()
    let returned = EventLog<String>(patience: .seconds(30))
    var calls: [Task<Void, any Error>] = []
    for (index, subscribes) in [true, false, true].enumerated() {
      calls.append(
        Task {
          if subscribes {
            try await messaging.subscribe(toTopic: "a")
          } else {
            try await messaging.unsubscribe(fromTopic: "a")
          }
          returned.record("\(index) \(bench.backend.state.withLock { $0.topics.count > index })")
        })
      while messaging.state.withLock({ $0.topicWaiters.count }) <= index { await Task.yield() }
    }
    bench.backend.gate.open()
    for call in calls { try await call.value }
    #expect(bench.backend.state.withLock { $0.topics } == ["+a", "-a", "+a"])
    try await returned.wait(for: "all callers") { Set($0) == ["0 true", "1 true", "2 true"] }
    #expect(messaging.state.withLock { $0.topicWaiters.isEmpty && $0.topics.isEmpty })
    await bench.end()
  }

  @Test func `every loop receives every message, which is acknowledged once`() async throws {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    let messaging = bench.messaging
    let log = EventLog<String>(patience: .seconds(30))
    let loops = ["one", "two", "three"].map { name in
      Task { for await message in messaging.foregroundMessages { log.record("\(name) \(message.messageID)") } }
    }
    while messaging.delivery.listenerCount < 3 { await Task.yield() }
    bench.backend.deliver("1", "a")
    bench.backend.deliver("2", "b")
    let expected = Set(["one", "two", "three"].flatMap { ["\($0) 1", "\($0) 2"] })
    try await log.wait(for: "six calls") { Set($0) == expected && $0.count == 6 }
    try await bench.backend.changes.wait(for: "two acknowledgements") { $0.sorted() == ["ack 1", "ack 2"] }
    for loop in loops { loop.cancel() }
    await bench.end()
  }

  @Test func `a message is in the form of the system with its id, its sender and its notification, if it has one`() {
    for notification in [nil, PushNotification(title: "T", body: "B"), PushNotification(body: "B")] {
      let message = PushMessage(to: .token("t"), notification: notification, data: ["k": "v"])
      let settings = DeliverySettings(message, platform: "linux", now: 0)
      let delivery = PushDelivery(messageID: "1", message: message, from: "7", sentTime: 0, settings: settings)
      let fields = MessagingRemoteMessage(delivery).appData
      #expect(fields["k"] as? String == "v" && fields["gcm.message_id"] as? String == "1")
      #expect(fields["from"] as? String == "7")
      let alert = (fields["aps"] as? [String: [String: String]])?["alert"]
      #expect(alert?["title"] == notification?.title && alert?["body"] == notification?.body)
      #expect((fields["aps"] == nil) == (notification == nil))
    }
  }

  @Test func `after a message the pauses of a connection that is lost begin again`() async throws {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    let messaging = bench.messaging
    let log = EventLog<String>(patience: .seconds(30))
    let loop = Task { for await message in messaging.foregroundMessages { log.record(message.messageID) } }
    while bench.backend.links.isEmpty { await Task.yield() }
    for pause in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
      bench.backend.endConnections(.unavailable)
      #expect(bench.clock.deadlines == [bench.clock.now + pause * 1_000_000])
      bench.clock.advance(by: .seconds(pause))
    }
    bench.backend.deliver("1", "a")
    try await log.wait(for: "the message") { $0 == ["1"] }
    bench.backend.endConnections(.unavailable)
    #expect(bench.clock.deadlines == [bench.clock.now + 1_000_000])
    loop.cancel()
    await bench.end()
  }

  @Test func `no timer outlives the client`() async throws {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    let log = EventLog<String>(patience: .seconds(30))
    let task = Task { for await message in bench.messaging.foregroundMessages { log.record(message.messageID) } }
    while bench.backend.links.isEmpty { await Task.yield() }
    bench.backend.fail(.unavailable)
    bench.backend.deliver("1", "a")
    await bench.clock.waitForTimers(1)
    bench.messaging.end()
    // A timer that is being set at this very time is cancelled by the caller that sets it.
    while !bench.clock.deadlines.isEmpty { await Task.yield() }
    await task.value
    await bench.app.delete()
  }

  private typealias Completion = @Sendable ((any Error)?) -> Void

  private static let completionForms: [@Sendable (Messaging, @escaping @Sendable ((any Error)?) -> Void) -> Void] = [
    { messaging, done in messaging.token { token, error in done(token == nil ? error : nil) } },
    { messaging, done in
      messaging.retrieveFCMToken(forSenderID: "77") { token, error in done(token == nil ? error : nil) }
    },
    { messaging, done in messaging.deleteFCMToken(forSenderID: "77", completion: done) },
    { messaging, done in messaging.subscribe(toTopic: "a", completion: done) },
    { messaging, done in messaging.unsubscribe(fromTopic: "a", completion: done) },
    { messaging, done in messaging.deleteToken(completion: done) },
    { messaging, done in messaging.deleteData(completion: done) },
  ]

  @Test func `every completion form reports its success, and every one its failure`() async throws {
    let bench = try Bench()
    for (index, call) in Self.completionForms.enumerated() {
      let error = await withCheckedContinuation { continuation in
        call(bench.messaging) { continuation.resume(returning: $0.map { "\($0)" }) }
      }
      #expect(error == nil, "call \(index)")
    }
    bench.messaging.end()
    for (index, call) in Self.completionForms.enumerated() {
      let code = await withCheckedContinuation { continuation in
        call(bench.messaging) { continuation.resume(returning: ($0 as? MessagingError)?.code) }
      }
      #expect(code == MessagingError.appDeleted.code, "call \(index) after the end")
    }
    let messaging = bench.messaging
    for call in [{ messaging.register(completion: $0) }, { messaging.unregister(completion: $0) }]
      as [@Sendable (@escaping Completion) -> Void]
    {
      let error = await withCheckedContinuation { continuation in
        call { continuation.resume(returning: ($0 as? MessagingError)?.code) }
      }
      #expect(error == .invalidRequest)
    }
    await bench.app.delete()
  }

  @Test func `a token is confirmed when it is older than a week, or from the future`() async throws {
    for (advance, requests) in [(Duration.seconds(7 * 86_400), 1), (.seconds(7 * 86_400) + .microseconds(1), 2)] {
      let bench = try Bench()
      let token = try await bench.messaging.token()
      bench.clock.advance(by: advance)
      #expect(try await bench.messaging.token() == token)
      #expect(bench.backend.state.withLock { $0.requests.count } == requests, "after \(advance)")
      bench.messaging.change { $0.tokenTime = bench.clock.now + 1 }
      #expect(try await bench.messaging.token() == token)
      #expect(bench.backend.state.withLock { $0.requests.count } == requests + 1, "from the future")
      await bench.end()
    }
  }

  // MARK: Acknowledgements

  private func makeRunner() -> (AcknowledgementRunner, ScriptedMessagingBackend, ManualClock) {
    let (backend, clock) = (ScriptedMessagingBackend(), ManualClock())
    let service = ServiceClock(now: { clock.now }, schedule: { clock.schedule(after: $0, $1) })
    let runner = AcknowledgementRunner(backend: backend, clock: service)
    runner.setToken("t")
    return (runner, backend, clock)
  }

  @Test func `acknowledgements are gathered while one is under way`() async throws {
    let (runner, backend, _) = makeRunner()
    backend.gate.close()
    runner.add(["1"])
    while backend.gate.waitingCount == 0 { await Task.yield() }
    runner.add(["2"])
    runner.add((3...502).map(String.init))
    backend.gate.open()
    try await backend.changes.wait(for: "the last one") { $0.last == "ack 502" }
    #expect(backend.state.withLock { $0.batches.map(\.count) } == [1, 500, 1])
    runner.end()
  }

  @Test func `an acknowledgement that fails is tried again after 1, 2, 4, … seconds, and at most a minute`()
    async throws
  {
    let (runner, backend, clock) = makeRunner()
    backend.fail(.unavailable)
    runner.add(["1"])
    for pause in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
      await clock.waitForTimers(1)
      #expect(clock.deadlines == [clock.now + pause * 1_000_000])
      clock.advance(by: .seconds(pause))
    }
    await clock.waitForTimers(1)
    backend.fail(nil)
    clock.advance(by: .seconds(60))
    try await backend.changes.wait(for: "the acknowledgement") { $0 == ["ack 1"] }
    // After a success the pauses begin again.
    backend.fail(.unavailable)
    runner.add(["2"])
    await clock.waitForTimers(1)
    #expect(clock.deadlines == [clock.now + 1_000_000])
    runner.end()
  }
}
