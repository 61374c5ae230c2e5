import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaRemoteConfig

@Suite struct RealtimeTests {
  private func listen(_ bench: Bench) -> (EventLog<String>, ConfigUpdateListenerRegistration) {
    let log = EventLog<String>(patience: .seconds(300))
    let registration = bench.config.addOnConfigUpdateListener { update, error in
      log.record(update.map { $0.updatedKeys.sorted().joined(separator: ",") } ?? "\((error as NSError?)?.code ?? 0)")
    }
    return (log, registration)
  }

  @Test func `a listener receives the keys that a publish has changed, and the values wait for activation`()
    async throws
  {
    let bench = try Bench()
    bench.backend.publish(["a": "1", "b": "2", "c": "3"])
    try await bench.config.fetchAndActivate()
    let (log, registration) = listen(bench)
    bench.backend.publish(["a": "1", "b": "x", "d": "4"])
    try await log.wait(for: "the update") { $0 == ["b,c,d"] }
    #expect(bench.config["b"].stringValue == "2")
    #expect(try await bench.config.activate())
    #expect(bench.config["b"].stringValue == "x")
    registration.remove()
    await bench.end()
  }

  @Test func `the connection is open while there are listeners`() async throws {
    let bench = try Bench()
    #expect(bench.backend.listeners.isEmpty)
    let (_, first) = listen(bench)
    let (_, second) = listen(bench)
    #expect(bench.backend.listeners.count == 1)
    first.remove()
    first.remove()
    #expect(bench.backend.listeners.count == 1)
    second.remove()
    #expect(bench.backend.listeners.isEmpty && bench.config.realtime.listenerCount == 0)
    await bench.end()
  }

  @Test func `a publish that changes nothing for the app is not announced`() async throws {
    let bench = try Bench()
    bench.backend.publish(["a": "1"])
    try await bench.config.fetchAndActivate()
    let (log, registration) = listen(bench)
    bench.backend.publish(["a": "1"])
    bench.backend.publish(["a": "2"])
    try await log.wait(for: "the second update") { $0 == ["a"] }
    registration.remove()
    await bench.end()
  }

  @Test func `a version that was fetched already is not announced to listeners`() async throws {
    let bench = try Bench()
    bench.backend.publish(["a": "1"])
    _ = try await bench.config.fetch()
    let (log, registration) = listen(bench)
    bench.backend.listeners.first?.receive(ConfigInvalidation(latestVersion: 1))
    for _ in 0..<1_000 { await Task.yield() }
    bench.backend.publish(["a": "1", "b": "2"])
    try await log.wait(for: "the next version") { $0.last == "a,b" }
    #expect(log.events == ["a,b"])
    #expect(bench.backend.requests.count == 2)
    registration.remove()
    await bench.end()
  }

  @Test func `a change of the network opens a lost connection again at once, and an open one anew`() async throws {
    let network = ManualNetwork()
    let bench = try Bench(network: network)
    let (_, registration) = listen(bench)
    bench.backend.endConnections(.unavailable)
    #expect(bench.backend.listeners.isEmpty)
    network.change()
    let connections = bench.backend.state.withLock { $0.connections }
    #expect(bench.backend.listeners.count == 1)
    network.change()
    #expect(bench.backend.listeners.count == 1)
    #expect(bench.backend.state.withLock { $0.connections } == connections + 1)
    registration.remove()
    #expect(network.listenerCount == 1)
    await bench.end()
    #expect(network.listenerCount == 0)
  }

  @Test func `a lost connection is opened again after a pause, which grows`() async throws {
    let bench = try Bench()
    let (_, registration) = listen(bench)
    for pause in [180.0, 360, 720] {
      bench.backend.endConnections(.unavailable)
      #expect(bench.backend.listeners.isEmpty)
      bench.clock.advance(by: .seconds(pause - 1))
      #expect(bench.backend.listeners.isEmpty)
      bench.clock.advance(by: .seconds(1))
      #expect(bench.backend.listeners.count == 1)
    }
    bench.backend.publish(["a": "1"])
    // One that has lasted ends in order, and is opened again at once.
    bench.clock.advance(by: .seconds(60))
    bench.backend.endConnections(nil)
    bench.clock.advance(by: .zero)
    #expect(bench.backend.listeners.count == 1)
    registration.remove()
    await bench.end()
  }

  @Test func `listeners are notified of a service that cannot be reached for good, or has switched updates off`()
    async throws
  {
    let bench = try Bench()
    let (log, registration) = listen(bench)
    bench.backend.endConnections(.permissionDenied)
    try await log.wait(for: "the error") { $0 == ["8001"] }
    registration.remove()
    let (other, second) = listen(bench)
    bench.backend.listeners.first?.receive(ConfigInvalidation(latestVersion: 1, isFeatureDisabled: true))
    try await other.wait(for: "the error") { $0 == ["8004"] }
    second.remove()
    let (third, last) = listen(bench)
    try await third.wait(for: "the error") { $0 == ["8004"] }
    last.remove()
    await bench.end()
  }

  @Test func `a fetch that fails is reported, and a version that does not arrive too`() async throws {
    let bench = try Bench()
    let (log, registration) = listen(bench)
    bench.backend.fail(.notFound)
    bench.backend.publish(["a": "1"])
    try await log.wait(for: "the failure") { $0 == ["8003"] }
    bench.backend.fail(nil)
    bench.backend.listeners.first?.receive(ConfigInvalidation(latestVersion: 99))
    try await log.wait(for: "the missing version") { $0 == ["8003", "8002"] }
    registration.remove()
    await bench.end()
  }

  // MARK: Streams

  @Test func `a stream yields updates in order and removes its listener on cancellation`() async throws {
    let bench = try Bench()
    let log = EventLog<Set<String>>(patience: .seconds(300))
    let config = bench.config
    let task = Task {
      for try await update in config.updates {
        log.record(update.updatedKeys)
        try await config.activate()
      }
    }
    while config.realtime.listenerCount == 0 { await Task.yield() }
    bench.backend.publish(["a": "1"])
    try await log.wait(for: "the first update") { $0.count == 1 }
    task.cancel()
    _ = await task.result
    #expect(config.realtime.listenerCount == 0 && bench.backend.listeners.isEmpty)
    await bench.end()
  }

  @Test func `leaving a loop, dropping an iterator and an error remove the listener`() async throws {
    let bench = try Bench()
    let config = bench.config
    let sequence = config.configUpdates
    let task = Task {
      for try await _ in sequence { break }
    }
    while config.realtime.listenerCount == 0 { await Task.yield() }
    bench.backend.publish(["a": "1"])
    try await task.value
    #expect(config.realtime.listenerCount == 0)
    var iterator: RemoteConfig.RemoteConfigUpdateSequence.Iterator? = sequence.makeAsyncIterator()
    #expect(config.realtime.listenerCount == 1)
    iterator = nil
    #expect(config.realtime.listenerCount == 0 && iterator == nil)
    let failing = Task { for try await _ in config.configUpdates {} }
    while config.realtime.listenerCount == 0 { await Task.yield() }
    bench.backend.endConnections(.permissionDenied)
    await #expect(throws: RemoteConfigUpdateError.self) { try await failing.value }
    #expect(config.realtime.listenerCount == 0)
    await bench.end()
  }

  @Test func `streams end with the app`() async throws {
    let bench = try Bench()
    let config = bench.config
    let task = Task { for try await _ in config.updates {} }
    while config.realtime.listenerCount == 0 { await Task.yield() }
    config.end()
    try await task.value
    #expect(bench.backend.listeners.isEmpty)
    await #expect(throws: RemoteConfigError.self) { try await config.fetch() }
    await bench.app.delete()
  }
}

@Suite struct RealtimeStressTests {
  @Test func `listeners, publishes, fetches and readers from many threads keep every promise`() async throws {
    let bench = try Bench()
    let config = bench.config
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<4 {
        group.addTask {
          for number in 0..<50 { bench.backend.publish(["key": "\(index)-\(number)"]) }
        }
        group.addTask {
          for _ in 0..<50 {
            _ = try? await config.fetch(withExpirationDuration: 0)
            _ = try? await config.activate()
            _ = config["key"].stringValue
          }
        }
        group.addTask {
          for number in 0..<50 {
            let registration = config.addOnConfigUpdateListener { _, _ in }
            config.setDefaults(["d": number])
            registration.remove()
          }
        }
        group.addTask {
          for _ in 0..<20 {
            let task = Task { for try await _ in config.updates {} }
            await Task.yield()
            task.cancel()
            _ = await task.result
          }
        }
      }
    }
    #expect(config.realtime.listenerCount == 0 && bench.backend.listeners.isEmpty)
    _ = try await config.fetch(withExpirationDuration: 0)
    _ = try await config.activate()
    #expect(config["key"].stringValue == bench.backend.state.withLock { $0.entries["key"] })
    await bench.end()
  }
}
