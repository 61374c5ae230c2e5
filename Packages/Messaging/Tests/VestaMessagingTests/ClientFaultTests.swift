import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaMessagingBackend
import VestaMessagingBackendFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaMessaging

@Suite struct ClientFaultTests {
  @Test func `an acknowledgement that fails for a while is tried again`() async throws {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    let log = EventLog<String>(patience: .seconds(300))
    let task = Task { for await message in bench.messaging.foregroundMessages { log.record(message.messageID) } }
    while bench.backend.links.isEmpty { await Task.yield() }
    bench.backend.fail(.unavailable)
    bench.backend.deliver("1", "a")
    try await log.wait(for: "the message") { $0 == ["1"] }
    await bench.clock.waitForTimers(1)
    #expect(bench.backend.state.withLock { $0.acknowledged } == [])
    bench.backend.fail(nil)
    bench.clock.advance(by: .seconds(1))
    try await bench.backend.changes.wait(for: "the acknowledgement") { $0.contains("ack 1") }
    // An acknowledgement of a deleted registration is not tried again: its messages are deleted with it.
    bench.backend.fail(.notFound)
    bench.backend.deliver("2", "b")
    try await log.wait(for: "the message") { $0 == ["1", "2"] }
    bench.backend.fail(nil)
    bench.backend.deliver("3", "c")
    try await bench.backend.changes.wait(for: "the acknowledgement") { $0.contains("ack 3") }
    task.cancel()
    await task.value
    await bench.end()
  }

  @Test func `deleting the token also ends a registration that is under way`() async throws {
    let bench = try Bench()
    bench.backend.gate.close()
    let token = Task { try await bench.messaging.token() }
    while bench.backend.gate.waitingCount == 0 { await Task.yield() }
    let deletion = Task { try await bench.messaging.deleteToken() }
    // The deletion has to wait for the registration.
    while bench.messaging.operations.waitingCount == 0 { await Task.yield() }
    bench.backend.gate.open()
    let made = try await token.value
    try await deletion.value
    #expect(bench.messaging.fcmTokenIfKnown == nil)
    #expect(bench.backend.state.withLock { $0.unregistered } == [made])
    await bench.end()
  }

  @Test func `a token that the service no longer knows is replaced, and messages arrive again`() async throws {
    let bench = try Bench()
    let first = try await bench.messaging.token()
    let log = EventLog<String>(patience: .seconds(300))
    let task = Task { for await message in bench.messaging.foregroundMessages { log.record(message.messageID) } }
    while bench.backend.links.isEmpty { await Task.yield() }
    bench.backend.state.withLock { $0.rotates = true }
    bench.backend.endConnections(.notFound)
    while bench.backend.links.isEmpty { await Task.yield() }
    #expect(bench.backend.links.first?.token != first)
    bench.backend.deliver("1", "a")
    try await log.wait(for: "the message") { $0 == ["1"] }
    // Two programs with one installation do not drive each other out for ever.
    let requests = bench.backend.state.withLock { $0.requests.count }
    bench.backend.endConnections(.notFound)
    for _ in 0..<1000 { await Task.yield() }
    #expect(bench.backend.state.withLock { $0.requests.count } == requests)
    task.cancel()
    await task.value
    await bench.end()
  }

  @Test func `one timer tries the changes of topics again, however many calls have failed`() async throws {
    let bench = try Bench()
    let messaging = bench.messaging
    _ = try await messaging.token()
    bench.backend.fail(.unavailable)
    for number in 1...5 {
      messaging.subscribe(toTopic: "t\(number)") { _ in }
      while bench.backend.state.withLock({ $0.topicCalls }) < number
        || messaging.state.withLock({ $0.isWorkingOnTopics })
      {
        await Task.yield()
      }
      #expect(bench.clock.deadlines.count == 1, "after \(number) calls")
    }
    bench.clock.advance(by: .seconds(30))
    await bench.clock.waitForTimers(1)
    #expect(bench.backend.state.withLock { $0.topicCalls } == 6)
    bench.backend.fail(nil)
    bench.clock.advance(by: .seconds(30))
    try await bench.backend.changes.wait(for: "the topics") { $0 == (1...5).map { "+t\($0)" } }
    #expect(bench.clock.deadlines.isEmpty)
    await bench.end()
  }

  @Test func `a damaged file of the registration is set aside, and the app registers again`() async throws {
    let bench = try Bench()
    let token = try await bench.messaging.token()
    bench.messaging.end()
    let file = bench.app.dataDirectory.appending(path: "messaging-client/registration.json")
    let whole = try Data(contentsOf: file)
    try whole.dropLast(3).write(to: file)
    let second = Bench.client(bench.app, bench.backend, bench.clock)
    #expect(second.fcmTokenIfKnown == nil)
    #expect(try await second.token() != token)
    let kept = file.deletingLastPathComponent().appending(path: "registration.json.damaged")
    #expect(try Data(contentsOf: kept) == whole.dropLast(3))
    second.end()
    await bench.app.delete()
  }

  private static let calls: [@Sendable (Messaging) async throws -> Void] = [
    { _ = try await $0.token() },
    { try await $0.deleteToken() },
    { _ = try await $0.retrieveFCMToken(forSenderID: "7") },
    { try await $0.deleteFCMToken(forSenderID: "7") },
    { try await $0.deleteData() },
    { try await $0.subscribe(toTopic: "news") },
    { try await $0.unsubscribe(fromTopic: "news") },
    { try await $0.register() },
    { try await $0.unregister() },
    { try await $0.subscribe(toTopic: "not a topic") },
    { try await $0.unsubscribe(fromTopic: "") },
    { _ = try await $0.retrieveFCMToken(forSenderID: "") },
    { try await $0.deleteFCMToken(forSenderID: "") },
  ]

  @Test func `the executor is kept on success and on failure, from the main actor and from another one`() async throws {
    for (index, call) in Self.calls.enumerated() {
      let bench = try Bench()
      let messaging = bench.messaging
      #expect(await ExecutorProbe.violations { try await call(messaging) } == [], "call \(index)")
      _ = try await messaging.token()
      _ = try await messaging.retrieveFCMToken(forSenderID: "7")
      bench.backend.fail(.permissionDenied)
      #expect(await ExecutorProbe.violations { try await call(messaging) } == [], "call \(index), failing")
      messaging.end()
      #expect(await ExecutorProbe.violations { try await call(messaging) } == [], "call \(index), after the end")
      await bench.app.delete()
    }
  }
}

@Suite struct ConnectionStressTests {
  @Test func `the connection is open while there are listeners, whatever listeners start and stop at the same time`()
    async throws
  {
    let bench = try Bench()
    _ = try await bench.messaging.token()
    let delivery = bench.messaging.delivery
    for round in 0..<150 {
      let last = Locked<MessageReader?>(nil)
      TestThreads.run(4) { thread in
        for number in 0..<6 {
          let reader = MessageReader(delivery)
          if thread == 0, number == 5 { last.withLock { $0 = reader } }
        }
      }
      #expect(bench.backend.links.count == 1, "round \(round)")
      _ = last.withLock { $0.take() }
      #expect(bench.backend.links.isEmpty, "round \(round)")
    }
    await bench.end()
  }
}
