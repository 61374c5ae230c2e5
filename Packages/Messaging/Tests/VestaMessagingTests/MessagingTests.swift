import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaMessagingBackend
import VestaMessagingBackendFakes
import VestaMessagingInterop
import VestaMessagingInteropContracts
import VestaServiceInterop
import VestaTesting

@testable import VestaMessaging

private final class Delegate: MessagingDelegate {
  let log = EventLog<String>(patience: .seconds(300))
  func messaging(_ messaging: Messaging, didReceiveRegistrationToken fcmToken: String?) {
    log.record(fcmToken ?? "nil")
  }
}

/// Renews tokens one after the other: requests at the same time would be one request.
private actor Renewals {
  private var last: Task<Void, any Error>?

  func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let previous = last
    let task = Task {
      _ = await previous?.result
      try await body()
    }
    last = task
    do { return try await task.value } catch { throw error }
  }
}

@Suite struct TokenTests {
  @Test(arguments: MessagingInteropContracts.all)
  func `the client keeps the contract of its seam`(contract: Contract<MessagingInteropSubject>) async throws {
    let bench = try Bench()
    let messaging = bench.messaging
    let renewals = Renewals()
    bench.backend.state.withLock { $0.rotates = true }
    try await contract.verify(
      MessagingInteropSubject(messaging, patience: .seconds(120)) {
        try await renewals.run {
          // A token of more than a week ago is confirmed, and the service gives another one.
          bench.clock.advance(by: .seconds(8 * 86_400))
          _ = try await messaging.token()
        }
      } deleteToken: {
        try await messaging.deleteToken()
      })
    await bench.end()
  }

  @Test func `tokens that are asked for at the same time are one registration`() async throws {
    let bench = try Bench()
    bench.backend.gate.close()
    try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<10 { group.addTask { try await bench.messaging.token() } }
      while bench.backend.gate.waitingCount == 0 { await Task.yield() }
      bench.backend.gate.open()
      for try await token in group { #expect(token == "\(bench.app.installationID):1") }
    }
    #expect(bench.backend.state.withLock { $0.requests.count } == 1)
    #expect(bench.messaging.fcmToken == "\(bench.app.installationID):1")
    await bench.end()
  }

  @Test func `the token is there after a restart, and confirmed once a week`() async throws {
    let bench = try Bench()
    let token = try await bench.messaging.token()
    bench.messaging.end()
    let second = Bench.client(bench.app, bench.backend, bench.clock)
    #expect(second.fcmToken == token)
    #expect(try await second.token() == token)
    #expect(bench.backend.state.withLock { $0.requests.count } == 1)
    bench.clock.advance(by: .seconds(8 * 86_400))
    #expect(try await second.token() == token)
    #expect(bench.backend.state.withLock { $0.requests.last?.currentToken } == token)
    second.end()
    await bench.app.delete()
  }

  @Test func `the delegate is notified of the known token and of each change`() async throws {
    let bench = try Bench()
    let token = try await bench.messaging.token()
    let delegate = Delegate()
    bench.messaging.delegate = delegate
    try await delegate.log.wait(for: "the known token") { $0 == [token] }
    try await bench.messaging.deleteToken()
    try await delegate.log.wait(for: "its end") { $0 == [token, "nil"] }
    #expect(bench.backend.state.withLock { $0.unregistered } == [token])
    await bench.end()
  }

  @Test func `auto-init registers the app, and what was set outlives the process`() async throws {
    let bench = try Bench(autoInit: true)
    while bench.messaging.fcmTokenIfKnown == nil { await Task.yield() }
    #expect(bench.messaging.isAutoInitEnabled)
    bench.messaging.isAutoInitEnabled = false
    bench.messaging.end()
    let second = Bench.client(bench.app, bench.backend, bench.clock)
    #expect(!second.isAutoInitEnabled)
    try await second.deleteData()
    #expect(second.fcmToken == nil)
    second.end()
    await bench.app.delete()
  }

  @Test func `tokens for other senders are apart from the app's own`() async throws {
    let bench = try Bench()
    let own = try await bench.messaging.token()
    let other = try await bench.messaging.retrieveFCMToken(forSenderID: "77")
    #expect(other.contains(":77") && other != own)
    try await bench.messaging.deleteFCMToken(forSenderID: "77")
    #expect(bench.backend.state.withLock { $0.unregistered } == [other])
    #expect(bench.messaging.fcmToken == own)
    let error = await #expect(throws: MessagingError.self) {
      try await bench.messaging.retrieveFCMToken(forSenderID: "")
    }
    #expect((error as NSError?)?.code == 7 && (error as NSError?)?.domain == "com.google.fcm")
    await bench.end()
  }

  @Test func `a code is caught, also as an NSError, and not across domains`() {
    func caught(_ error: any Error) -> String {
      do { throw error } catch MessagingError.network { return "network" } catch { return "another" }
    }
    #expect(caught(MessagingError(.network, "")) == "network")
    #expect(caught(NSError(domain: MessagingErrorDomain, code: 4)) == "network")
    #expect(caught(NSError(domain: MessagingErrorDomain, code: 3)) == "another")
    #expect(caught(NSError(domain: "else", code: 4)) == "another")
  }

  @Test func `failures have upstream's codes, in both forms`() async throws {
    let bench = try Bench()
    bench.backend.fail(.unavailable)
    let error = await #expect(throws: MessagingError.self) { try await bench.messaging.token() }
    #expect(error?.code == .network)
    let code = await withCheckedContinuation { continuation in
      bench.messaging.token { token, error in
        continuation.resume(returning: token == nil ? (error as NSError?)?.code : 0)
      }
    }
    #expect(code == 4)
    let reports = await ExecutorProbe.violations { try await bench.messaging.token() }
    #expect(reports.isEmpty)
    await #expect(throws: MessagingError.self) { try await bench.messaging.register() }
    await bench.end()
  }
}

/// Every public call that throws keeps the caller's executor, where it succeeds and where it throws.
@Suite struct ClientExecutorTests {
  private static let calls: [@Sendable (Messaging) async throws -> Void] = [
    { _ = try await $0.token() }, { _ = try await $0.retrieveFCMToken(forSenderID: "other") },
    { try await $0.subscribe(toTopic: "news") }, { try await $0.unsubscribe(fromTopic: "news") },
    { try await $0.deleteFCMToken(forSenderID: "other") }, { try await $0.deleteToken() },
    { try await $0.deleteData() },
  ]

  @Test func `the executor is kept on success and on failure, from the main actor and from another one`() async throws {
    let (living, deleted) = (try Bench(), try Bench())
    await deleted.end()
    for (index, call) in Self.calls.enumerated() {
      for (bench, fails) in [(living, false), (deleted, true)] {
        let reports = [
          await ExecutorProbe.fromMainActor { try await call(bench.messaging) },
          await ExecutorProbe.fromActor { try await call(bench.messaging) },
        ]
        for report in reports { #expect(report.isKept && report.hasThrown == fails, "call \(index): \(report)") }
      }
    }
    #expect(await ExecutorProbe.violations { try await living.messaging.register() } == [])
    #expect(await ExecutorProbe.violations { try await living.messaging.unregister() } == [])
    await living.end()
  }
}

@Suite struct TopicTests {
  @Test func `topics are subscribed in the order of the calls and their names are checked`() async throws {
    let bench = try Bench()
    try await bench.messaging.subscribe(toTopic: "a")
    try await bench.messaging.subscribe(toTopic: "/topics/b")
    try await bench.messaging.unsubscribe(fromTopic: "a")
    #expect(bench.backend.state.withLock { $0.topics } == ["+a", "+b", "-a"])
    let error = await #expect(throws: MessagingError.self) { try await bench.messaging.subscribe(toTopic: "a b") }
    #expect((error as NSError?)?.code == 8)
    #expect(error?.message == "Cannot parse topic name: 'a b'. Will not subscribe.")
    await bench.end()
  }

  @Test func `changes wait while the service is away, and over a restart`() async throws {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    bench.backend.fail(.unavailable)
    bench.messaging.subscribe(toTopic: "a") { _ in }
    while bench.clock.deadlines.isEmpty { await Task.yield() }
    #expect(bench.backend.state.withLock { $0.topics.isEmpty })
    bench.messaging.end()
    bench.backend.fail(nil)
    let second = Bench.client(bench.app, bench.backend, bench.clock)
    try await bench.backend.changes.wait(for: "the subscription") { $0 == ["+a"] }
    second.end()
    await bench.app.delete()
  }

  @Test func `a batch has one action, joins the same and keeps the order of others`() {
    var queue = TopicQueue()
    let changes: [(TopicQueue.Action, String)] = [
      (.subscribe, "a"), (.subscribe, "b"), (.subscribe, "a"), (.unsubscribe, "a"), (.subscribe, "a"),
    ]
    #expect(changes.map { queue.add($0.0, $0.1) } == [0, 0, 0, 1, 2])
    #expect(queue.batches.map(\.topics) == [["a", "b"], ["a"], ["a"]])
    var done: [String] = []
    var ends: [Bool] = []
    while let (action, topic) = queue.next {
      done.append("\(action) \(topic)")
      ends.append(queue.finish(action, topic))
    }
    #expect(ends == [false, true, true, true])
    #expect(done == ["subscribe a", "subscribe b", "unsubscribe a", "subscribe a"])
  }
}

@Suite struct MessageStreamTests {
  private func waitForListener(_ messaging: Messaging, _ count: Int = 1) async {
    while messaging.delivery.listenerCount != count { await Task.yield() }
  }

  @Test func `messages arrive in order, once each, and are acknowledged`() async throws {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    let log = EventLog<String>(patience: .seconds(300))
    let messaging = bench.messaging
    let task = Task {
      for await message in messaging.foregroundMessages {
        log.record("\(message.messageID) \(message.data["text"] ?? "")")
      }
    }
    await waitForListener(messaging)
    bench.backend.deliver("1", "a")
    bench.backend.deliver("2", "b")
    bench.backend.deliver("1", "a")
    bench.backend.deliver("3", "c")
    try await log.wait(for: "the messages") { $0 == ["1 a", "2 b", "3 c"] }
    // The repeated one is acknowledged once more only if the first one had been handed over when it arrived.
    try await bench.backend.changes.wait(for: "the acknowledgements") { Set($0) == ["ack 1", "ack 2", "ack 3"] }
    task.cancel()
    _ = await task.result
    #expect(bench.backend.links.isEmpty && messaging.delivery.listenerCount == 0)
    await bench.end()
  }

  @Test func `the connection is open while there are a token and a stream`() async throws {
    let bench = try Bench()
    var iterator: ForegroundMessages.Iterator? = bench.messaging.foregroundMessages.makeAsyncIterator()
    #expect(bench.backend.links.isEmpty)
    let token = try await bench.messaging.token()
    #expect(bench.backend.links.map(\.token) == [token])
    try await bench.messaging.deleteToken()
    #expect(bench.backend.links.isEmpty)
    _ = try await bench.messaging.token()
    #expect(bench.backend.links.count == 1)
    iterator = nil
    #expect(bench.backend.links.isEmpty && iterator == nil)
    await bench.end()
  }

  @Test func `a lost connection is opened again after a pause`() async throws {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    let stream = bench.messaging.foregroundMessages.makeAsyncIterator()
    for pause in [1.0, 2, 4] {
      bench.backend.endConnections(.unavailable)
      #expect(bench.backend.links.isEmpty)
      bench.clock.advance(by: .seconds(pause))
      #expect(bench.backend.links.count == 1)
    }
    withExtendedLifetime(stream) {}
    await bench.end()
  }

  @Test func `leaving the loop removes the listener, and streams end with the app`() async throws {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    let messaging = bench.messaging
    let task = Task { for await _ in messaging.foregroundMessages { break } }
    await waitForListener(messaging)
    bench.backend.deliver("1", "a")
    await task.value
    #expect(messaging.delivery.listenerCount == 0)
    let last = Task { for await _ in messaging.foregroundMessages {} }
    let tokens = Task { for await _ in messaging.tokenUpdates {} }
    await waitForListener(messaging)
    messaging.end()
    await last.value
    await tokens.value
    #expect(bench.backend.links.isEmpty)
    await bench.app.delete()
  }

  @Test func `token updates have the known token and each new one`() async throws {
    let bench = try Bench()
    let first = try await bench.messaging.token()
    var updates = bench.messaging.tokenUpdates.makeAsyncIterator()
    #expect(await updates.next() == first)
    try await bench.messaging.deleteToken()
    let second = try await bench.messaging.token()
    #expect(await updates.next() == second)
    await bench.end()
  }

  @Test func `a message of the system is new unless it is empty`() async throws {
    let bench = try Bench()
    #expect(bench.messaging.appDidReceiveMessage([:]).status == .unknown)
    #expect(bench.messaging.appDidReceiveMessage(["gcm.message_id": "1"]).status == .new)
    await bench.end()
  }
}

@Suite struct MessagingStressTests {
  @Test func `tokens, topics, messages and streams from many threads keep every promise`() async throws {
    let bench = try Bench()
    let messaging = bench.messaging
    // A change of topics whose token was deleted in between waits for the next one.
    let renewal = Task {
      while !Task.isCancelled {
        _ = try? await messaging.token()
        await Task.yield()
      }
    }
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<4 {
        group.addTask {
          for _ in 0..<20 {
            _ = try? await messaging.token()
            _ = try? await messaging.deleteToken()
            _ = messaging.fcmToken
          }
        }
        group.addTask {
          for number in 0..<20 { try? await messaging.subscribe(toTopic: "t\(index)-\(number)") }
        }
        group.addTask {
          for number in 0..<50 {
            bench.backend.deliver("\(index)-\(number)", "x")
            if number % 10 == 0 { bench.backend.endConnections(nil) }
            bench.clock.advance(by: .seconds(1))
          }
        }
        group.addTask {
          for _ in 0..<20 {
            let task = Task { for await _ in messaging.foregroundMessages {} }
            await Task.yield()
            task.cancel()
            await task.value
          }
        }
      }
    }
    renewal.cancel()
    await renewal.value
    #expect(messaging.delivery.listenerCount == 0 && bench.backend.links.isEmpty)
    #expect(Set(bench.backend.state.withLock { $0.topics }).count == 80)
    await bench.end()
  }
}
