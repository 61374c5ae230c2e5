import Testing
import VestaMessagingBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaMessagingService

/// Every call of the engine keeps the caller's executor, where it succeeds and where it throws.
@Suite struct EngineExecutorTests {
  private static let calls: [@Sendable (MessagingEngine, String, CallContext) async throws -> Void] = [
    { engine, token, context in
      let request = RegisterRequest(installationID: "one", platform: "linux", appID: "a", currentToken: token)
      _ = try await engine.register(request, context: context)
    },
    { try await $0.subscribe(token: $1, toTopic: "news", context: $2) },
    { try await $0.unsubscribe(token: $1, fromTopic: "news", context: $2) },
    { try await $0.acknowledge(token: $1, messageIDs: ["0:1%1"], context: $2) },
    { _ = try await $0.send(PushMessage(to: .token($1)), isValidateOnly: false, context: $2) },
    { _ = try await $0.sendEach([PushMessage(to: .token($1))], isValidateOnly: false, context: $2) },
    { _ = try await $0.subscribe(tokens: [$1], toTopic: "news", context: $2) },
    { _ = try await $0.unsubscribe(tokens: [$1], fromTopic: "news", context: $2) },
    { _ = try await $0.registration(token: $1, context: $2) },
    { engine, _, context in _ = try await engine.outbox(pageSize: 10, pageToken: nil, context: context) },
    { engine, _, context in _ = try await engine.statistics(context: context) },
    { try await $0.unregister(token: $1, context: $2) },
  ]

  @Test func `the executor is kept on success and on failure, from the main actor and from another one`() async throws {
    for (index, call) in Self.calls.enumerated() {
      let engine = makeEngine()
      let token = try await engine.register()
      #expect(await ExecutorProbe.violations { try await call(engine, token, .owner) } == [], "call \(index)")
      try await engine.close()
      await #expect(throws: MessagingServiceError.self, "call \(index)") { try await call(engine, token, .owner) }
      #expect(await ExecutorProbe.violations { try await call(engine, token, .owner) } == [], "call \(index), closed")
    }
  }
}
