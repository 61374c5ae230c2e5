import Testing
import VestaConcurrency
import VestaCore
import VestaMessagingBackendFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaMessaging

/// Registrations that no caller waits for, while the service cannot be reached.
@Suite struct RegistrationTests {
  @Test(arguments: [ServiceCode.unavailable, .deadlineExceeded])
  func `auto-init registers the app as soon as the service is there`(_ code: ServiceCode) async throws {
    let backend = ScriptedMessagingBackend()
    backend.fail(code)
    let bench = try Bench(backend: backend, autoInit: true)
    while backend.state.withLock({ $0.requests.isEmpty }) { await Task.yield() }
    backend.fail(nil)
    #expect(try await tokenWithinMinutes(bench) { _ in true } != nil)
    await bench.end()
  }

  @Test func `a refused token is replaced, though the service was away when it was noticed`() async throws {
    let bench = try Bench()
    let first = try await bench.messaging.token()
    let task = Task { for await _ in bench.messaging.foregroundMessages {} }
    while bench.backend.links.isEmpty { await Task.yield() }
    bench.backend.state.withLock { $0.rotates = true }
    bench.backend.fail(.unavailable)
    bench.backend.endConnections(.notFound)
    while bench.backend.state.withLock({ $0.requests.count }) < 2 { await Task.yield() }
    bench.backend.fail(nil)
    #expect(try await tokenWithinMinutes(bench) { $0 != first } != nil)
    task.cancel()
    await task.value
    await bench.end()
  }

  @Test func `the pauses grow, and the deletion of the token ends the attempts`() async throws {
    let backend = ScriptedMessagingBackend()
    backend.fail(.unavailable)
    let bench = try Bench(backend: backend, autoInit: true)
    #expect(try await tokenWithinMinutes(bench, steps: 600) { _ in true } == nil)
    // After 1, 2, 4, 8, 16 and 32 s, and then every minute.
    #expect((5...16).contains(backend.state.withLock { $0.requests.count }))
    try await bench.messaging.deleteToken()
    backend.fail(nil)
    let count = backend.state.withLock { $0.requests.count }
    #expect(try await tokenWithinMinutes(bench, steps: 600) { _ in true } == nil)
    #expect(backend.state.withLock { $0.requests.count } == count)
    await bench.end()
  }

  @Test func `a change of the network ends the pauses of the registration, of topics and of the connection`()
    async throws
  {
    let (backend, network) = (ScriptedMessagingBackend(), ManualNetwork())
    backend.fail(.unavailable)
    let bench = try Bench(backend: backend, autoInit: true, network: network)
    await bench.clock.waitForTimers(1)
    backend.fail(nil)
    network.change()
    while bench.messaging.fcmTokenIfKnown == nil { await Task.yield() }
    backend.fail(.unavailable)
    bench.messaging.subscribe(toTopic: "a") { _ in }
    await bench.clock.waitForTimers(2)
    backend.fail(nil)
    network.change()
    try await backend.changes.wait(for: "the topic") { $0 == ["+a"] }
    let messages = bench.messaging.foregroundMessages.makeAsyncIterator()
    backend.endConnections(.unavailable)
    #expect(backend.links.isEmpty)
    network.change()
    #expect(backend.links.count == 1)
    withExtendedLifetime(messages) {}
    await bench.end()
  }

  @Test func `asking for the token registers the app in the background, while that is allowed`() async throws {
    let bench = try Bench()
    #expect(bench.messaging.fcmToken == nil)
    bench.app.isDataCollectionDefaultEnabled = true
    #expect(bench.messaging.fcmToken == nil)
    while bench.messaging.fcmTokenIfKnown == nil { await Task.yield() }
    #expect(bench.backend.state.withLock { $0.requests.count } == 1)
    #expect(bench.messaging.fcmToken == bench.messaging.fcmTokenIfKnown)
    await bench.end()
  }

  @Test func `a token that is refused again and again is replaced once an hour`() async throws {
    let bench = try Bench()
    let token = try await bench.messaging.token()
    #expect(bench.messaging.tokenWasRefused(token))
    bench.clock.advance(by: .seconds(3_600) - .microseconds(1))
    #expect(!bench.messaging.tokenWasRefused(token))
    bench.clock.advance(by: .microseconds(1))
    #expect(bench.messaging.tokenWasRefused(token))
    await bench.end()
  }

  /// Lets ten minutes pass, or fewer when there is a token that the caller waits for.
  private func tokenWithinMinutes(
    _ bench: Bench, steps: Int = 10_000, _ isWanted: (String) -> Bool
  ) async throws -> String? {
    // A busy machine may have answered nothing when the ten minutes are over.
    for step in 0..<steps {
      if let token = bench.messaging.fcmTokenIfKnown, isWanted(token) { return token }
      if step < 600 { bench.clock.advance(by: .seconds(1)) }
      try await Task.sleep(for: .milliseconds(2))
    }
    return nil
  }
}
