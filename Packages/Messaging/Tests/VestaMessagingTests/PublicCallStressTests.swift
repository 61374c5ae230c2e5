import Testing
import VestaConcurrency
import VestaCore
import VestaMessagingBackend
import VestaMessagingBackendFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaMessaging

/// Every public call from many threads at once, and from within every callback; races between two threads.
@Suite struct PublicCallStressTests {
  private final class Delegate: MessagingDelegate, Sendable {
    let calls: @Sendable (Messaging) -> Void
    init(_ calls: @escaping @Sendable (Messaging) -> Void) { self.calls = calls }
    func messaging(_ messaging: Messaging, didReceiveRegistrationToken fcmToken: String?) { calls(messaging) }
  }

  private static let calls: [@Sendable (Messaging, Int) -> Void] = [
    { messaging, _ in _ = messaging.fcmToken },
    { messaging, _ in messaging.token { _, _ in _ = messaging.fcmToken } },
    { messaging, _ in messaging.deleteToken { _ in } },
    { messaging, number in messaging.retrieveFCMToken(forSenderID: "\(number % 3)") { _, _ in } },
    { messaging, number in messaging.deleteFCMToken(forSenderID: "\(number % 3)") { _ in } },
    { messaging, _ in messaging.deleteData { _ in } },
    { messaging, number in messaging.isAutoInitEnabled = number % 2 == 0 },
    { messaging, _ in _ = (messaging.isAutoInitEnabled, messaging.isInstallationIdEnabled) },
    { messaging, number in messaging.subscribe(toTopic: "t\(number % 7)") { _ in _ = messaging.delegate } },
    { messaging, number in messaging.unsubscribe(fromTopic: "t\(number % 7)") },
    { messaging, _ in _ = messaging.foregroundMessages },
    { messaging, _ in _ = messaging.tokenUpdates },
    { messaging, _ in messaging.addFCMTokenListener { _ in _ = messaging.fcmToken }.cancel() },
    { messaging, _ in _ = messaging.appDidReceiveMessage(["a": "b"]) },
    { messaging, _ in messaging.register { _ in } },
    { messaging, _ in messaging.unregister { _ in } },
  ]

  @Test func `every public call may be made from any thread and from any callback`() async throws {
    let bench = try Bench()
    let messaging = bench.messaging
    let delegate = Delegate { messaging in
      for (number, call) in Self.calls.enumerated() where number != 4 { call(messaging, 1) }
    }
    messaging.delegate = delegate
    let listener = messaging.addFCMTokenListener { _ in _ = messaging.isAutoInitEnabled }
    await TestThreads.run {
      TestThreads.run(6) { thread in
        var random = SplitMix(seed: UInt64(thread))
        for number in 0..<100 {
          switch random.below(8) {
          case 0: bench.backend.deliver("\(thread)-\(number)", "x")
          case 1: bench.backend.endConnections([nil, .unavailable, .notFound][random.below(3)])
          case 2: bench.clock.advance(by: .seconds(Double(random.below(100_000))))
          case 3: bench.backend.fail([nil, nil, .unavailable][random.below(3)])
          case 4: messaging.delegate = random.oneIn(2) ? nil : delegate
          default: Self.calls[random.below(Self.calls.count)](messaging, number)
          }
        }
      }
    }
    bench.backend.fail(nil)
    messaging.delegate = nil
    listener.cancel()
    // Everything that waits ends: the topics, the registrations.
    while !messaging.state.withLock({ $0.topics.isEmpty }) {
      // Without a token they wait for one.
      _ = try? await messaging.token()
      bench.clock.advance(by: .seconds(30))
      await Task.yield()
    }
    #expect(messaging.delivery.listenerCount == 0 && bench.backend.links.isEmpty)
    await bench.end()
  }

  @Test func `no caller waits for a topic of an app that was deleted`() async throws {
    for _ in 0..<40 {
      let bench = try Bench()
      let messaging = bench.messaging
      _ = try await messaging.token()
      bench.backend.fail(.unavailable)
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<6 { group.addTask { try? await messaging.subscribe(toTopic: "t\(number)") } }
        group.addTask {
          await Task.yield()
          messaging.end()
        }
      }
      await bench.app.delete()
    }
  }

  @Test func `a message is acknowledged only when a loop has taken it`() async throws {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    let messaging = bench.messaging
    let heard = Locked<Set<String>>([])
    let listen: @Sendable () -> Task<Void, Never> = {
      Task { for await message in messaging.foregroundMessages { heard.withLock { _ = $0.insert(message.messageID) } } }
    }
    var loops: [Task<Void, Never>] = []
    for round in 0..<300 {
      let (first, second) = (listen(), Locked<Task<Void, Never>?>(nil))
      TestThreads.run(3) { thread in
        switch thread {
        case 0: for number in 0..<4 { bench.backend.deliver("\(round)-\(number)", "x") }
        case 1: first.cancel()
        default:
          let loop = listen()
          loop.cancel()
          second.withLock { $0 = loop }
        }
      }
      loops += [first, second.withLock { $0 }].compactMap { $0 }
    }
    for loop in loops { await loop.value }
    // The acknowledgement of the last message arrives after all others.
    let last = listen()
    while bench.backend.links.isEmpty { await Task.yield() }
    bench.backend.deliver("last", "x")
    try await bench.backend.changes.wait(for: "the last acknowledgement") { $0.contains("ack last") }
    let acknowledged = Set(bench.backend.state.withLock { $0.acknowledged })
    #expect(acknowledged.subtracting(heard.withLock { $0 }) == [])
    last.cancel()
    await last.value
    #expect(bench.backend.links.isEmpty)
    await bench.end()
  }

  @Test func `what a loop that is left has not taken reaches the one that stays`() async throws {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    let messaging = bench.messaging
    for round in 0..<200 {
      let heard = Locked<[String]>([])
      let listen: @Sendable (String) -> Task<Void, Never> = { name in
        Task { for await _ in messaging.foregroundMessages { heard.withLock { $0.append(name) } } }
      }
      let (first, second) = (listen("first"), Locked<Task<Void, Never>?>(nil))
      TestThreads.run(3) { thread in
        switch thread {
        case 0: bench.backend.deliver("\(round)", "x")
        case 1: first.cancel()
        default:
          let loop = listen("second")
          second.withLock { $0 = loop }
        }
      }
      // The service delivers again to every connection what was not acknowledged.
      while heard.withLock({ $0.isEmpty }) {
        bench.backend.deliver("\(round)", "x")
        await Task.yield()
      }
      let loop = second.withLock { $0 }
      loop?.cancel()
      await loop?.value
      await first.value
      #expect(heard.withLock { Set($0).count == $0.count }, "round \(round): a loop received it twice")
    }
    await bench.end()
  }

  @Test func `a connection that ends is opened again, whatever the clock does in between`() async throws {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    let reader = MessageReader(bench.messaging.delivery)
    for _ in 0..<200 {
      TestThreads.run(2) { thread in
        if thread == 0 {
          bench.backend.endConnections(.unavailable)
        } else {
          for _ in 0..<20 { bench.clock.advance(by: .seconds(60)) }
        }
      }
      while bench.backend.links.isEmpty {
        bench.clock.advance(by: .seconds(60))
        await Task.yield()
      }
    }
    withExtendedLifetime(reader) {}
    await bench.end()
  }
}
