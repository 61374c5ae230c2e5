import Testing
import VestaConcurrency
import VestaCore
import VestaRemoteConfigBackendFakes
import VestaTesting

@testable import VestaRemoteConfig

/// Every member that waits ends its wait when its task is cancelled, also where the service does not answer.
@Suite struct CancellationTests {
  static let calls: [(name: String, call: @Sendable (RemoteConfig) async throws -> Void)] = [
    ("fetch", { try await $0.fetch() }),
    ("fetch with an expiration", { try await $0.fetch(withExpirationDuration: 0) }),
    ("fetchAndActivate", { try await $0.fetchAndActivate() }),
    ("updates", { for try await _ in $0.updates {} }),
    ("configUpdates", { for try await _ in $0.configUpdates {} }),
  ]

  @Test(arguments: calls.map(\.name), [true, false])
  func `a cancelled call ends, and leaves the client as it can be used`(name: String, before: Bool) async throws {
    let call = try #require(Self.calls.first { $0.name == name }).call
    let bench = try Bench()
    let config = bench.config
    bench.backend.publish(["a": "1"])
    bench.backend.gate.close()
    let task = Task {
      while before, !Task.isCancelled { await Task.yield() }
      try await call(config)
    }
    if !before, name.hasPrefix("fetch") {
      while bench.backend.gate.waitingCount == 0 { await Task.yield() }
    } else if !before {
      while config.realtime.listenerCount == 0 { await Task.yield() }
    }
    task.cancel()
    let outcome = await task.result
    if name.hasPrefix("fetch") { #expect(throws: CancellationError.self) { try outcome.get() } }
    #expect(config.realtime.listenerCount == 0)
    bench.backend.gate.open()
    try await config.fetchAndActivate()
    #expect(config["a"].stringValue == "1")
    await bench.end()
  }
}
