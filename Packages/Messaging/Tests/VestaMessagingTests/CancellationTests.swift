import Testing
import VestaConcurrency
import VestaCore
import VestaMessagingBackend
import VestaMessagingBackendFakes
import VestaTesting

@testable import VestaMessaging

/// Every member that waits ends its wait when its task is cancelled, also where the service does not answer.
@Suite struct CancellationTests {
  static let calls: [(name: String, call: @Sendable (Messaging) async throws -> Void)] = [
    ("token", { _ = try await $0.token() }),
    ("retrieveFCMToken", { _ = try await $0.retrieveFCMToken(forSenderID: "7") }),
    ("deleteFCMToken", { try await $0.deleteFCMToken(forSenderID: "8") }),
    ("deleteToken", { try await $0.deleteToken() }),
    ("deleteData", { try await $0.deleteData() }),
    ("subscribe", { try await $0.subscribe(toTopic: "news") }),
    ("unsubscribe", { try await $0.unsubscribe(fromTopic: "news") }),
    ("foregroundMessages", { for await _ in $0.foregroundMessages {} }),
    ("tokenUpdates", { for await _ in $0.tokenUpdates {} }),
  ]

  @Test(arguments: calls.map(\.name))
  func `a cancelled call ends, and leaves the client as it can be used`(name: String) async throws {
    let call = try #require(Self.calls.first { $0.name == name }).call
    let bench = try Bench()
    let messaging = bench.messaging
    let isStream = name == "foregroundMessages" || name == "tokenUpdates"
    if name != "token" { _ = try await messaging.token() }
    _ = try await messaging.retrieveFCMToken(forSenderID: "8")
    bench.backend.gate.close()
    let task = Task { try await call(messaging) }
    if isStream {
      while messaging.delivery.listenerCount + messaging.tokens.listenerCount == 0 { await Task.yield() }
    } else {
      while bench.backend.gate.waitingCount == 0 { await Task.yield() }
    }
    task.cancel()
    let outcome = await task.result
    if !isStream { #expect(throws: CancellationError.self) { try outcome.get() } }
    bench.backend.gate.open()
    // Begun work is finished, and the next call works.
    #expect(!(try await messaging.token()).isEmpty)
    try await messaging.subscribe(toTopic: "other")
    #expect(messaging.state.withLock { $0.topicWaiters.isEmpty } && messaging.delivery.listenerCount == 0)
    await bench.end()
  }

  @Test(arguments: calls.map(\.name))
  func `a call of a task that is cancelled before does not hang`(name: String) async throws {
    let call = try #require(Self.calls.first { $0.name == name }).call
    let bench = try Bench()
    bench.backend.gate.close()
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      try await call(bench.messaging)
    }
    task.cancel()
    _ = await task.result
    bench.backend.gate.open()
    await bench.end()
  }
}
