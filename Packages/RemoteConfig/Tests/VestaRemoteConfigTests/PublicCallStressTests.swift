import Foundation
import Testing
import VestaConcurrency
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaRemoteConfig

/// Every public call from many threads at once, and from within every callback.
@Suite struct PublicCallStressTests {
  private static let calls: [@Sendable (RemoteConfig, Int) -> Void] = [
    { config, _ in _ = config.configSettings.minimumFetchInterval },
    { config, number in
      let settings = RemoteConfigSettings()
      settings.minimumFetchInterval = Double(number % 2)
      settings.fetchTimeout = Double(number % 90)
      config.configSettings = settings
    },
    { config, _ in _ = (config.lastFetchTime, config.lastFetchStatus) },
    { config, number in config.setDefaults(["d\(number % 5)": number]) },
    { config, _ in config.setDefaults(nil) },
    { config, _ in config.setDefaults(fromPlist: "absent") },
    { config, number in try? config.setDefaults(from: ["d": number]) },
    { config, _ in _ = (config["key"].stringValue, config["key"].numberValue, config["key"].jsonValue) },
    { config, _ in _ = config.configValue(forKey: "key", source: .default) },
    { config, _ in _ = (config.allKeys(from: .remote), config.keys(withPrefix: "k"), Array(config)) },
    { config, _ in _ = config.defaultValue(forKey: "d") },
    { config, _ in _ = try? config.decoded(asType: [String: String].self) },
    { config, _ in config.ensureInitialized { _ in } },
    { config, _ in config.fetch { _, _ in } },
    { config, _ in config.fetch(withExpirationDuration: 0) { _, _ in _ = config["key"] } },
    { config, _ in config.fetchAndActivate { _, _ in config.activate() } },
    { config, _ in config.activate { _, _ in _ = config.lastFetchStatus } },
    { config, number in config.setCustomSignals(["s\(number % 3)": .integer(number)]) { _ in } },
    { config, _ in config.addOnConfigUpdateListener { _, _ in }.remove() },
    { config, _ in _ = config.updates },
    { config, _ in _ = config.configUpdates.makeAsyncIterator() },
  ]

  @Test func `every public call may be made from any thread and from any callback`() async throws {
    let bench = try Bench()
    let config = bench.config
    let called = EventLog<Void>(patience: .seconds(60))
    // Within its call a listener calls everything, removes others and itself.
    let listeners = (0..<3).map { _ in
      config.addOnConfigUpdateListener { _, _ in
        for (number, call) in Self.calls.enumerated() { call(config, number) }
        called.record(())
      }
    }
    let own = Locked<ConfigUpdateListenerRegistration?>(nil)
    let registration = config.addOnConfigUpdateListener { _, _ in own.withLock { $0.take() }?.remove() }
    own.withLock { $0 = registration }
    await TestThreads.run {
      TestThreads.run(6) { thread in
        var random = SplitMix(seed: UInt64(thread))
        for number in 0..<120 {
          switch random.below(8) {
          case 0: bench.backend.publish(["key": "\(thread)-\(number)"])
          case 1: bench.backend.endConnections([nil, .unavailable][random.below(2)])
          case 2: bench.clock.advance(by: .seconds(200))
          case 3: bench.backend.fail([nil, nil, .unavailable][random.below(3)])
          default: Self.calls[random.below(Self.calls.count)](config, number)
          }
        }
      }
    }
    bench.backend.fail(nil)
    let before = called.events.count
    // Until the connection is there again, also after too many failures, and an update has arrived that no activation
    // under way has overtaken.
    var number = 0
    while config.realtime.listenerCount > 3 || called.events.count == before {
      number += 1
      config.addOnConfigUpdateListener { _, _ in }.remove()
      bench.clock.advance(by: .seconds(30_000))
      bench.backend.publish(["key": "last \(number)"])
      // The fetch of the update has some steps, and the next advance of the clock ends it by its time-out.
      for _ in 0..<20 { await Task.yield() }
    }
    for listener in listeners { listener.remove() }
    config.setDefaults(["d": "end"])
    #expect(config.defaultValue(forKey: "d")?.stringValue == "end")
    await bench.end()
    #expect(bench.backend.listeners.isEmpty)
  }
}
