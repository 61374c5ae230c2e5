import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaRemoteConfig

/// Intervals, throttling and pauses under clocks that jump and callers that try to get around them.
@Suite struct ThrottleTests {
  private func code(_ bench: Bench) async -> Int {
    do {
      _ = try await bench.config.fetch(withExpirationDuration: 0)
      return 0
    } catch {
      return (error as NSError).code
    }
  }

  @Test func `before the first success nothing is throttled, however many fetches fail`() async throws {
    let bench = try Bench()
    bench.backend.fail(.unavailable)
    for count in 1...5 {
      let error = await #expect(throws: RemoteConfigError.self) { try await bench.config.fetch() }
      #expect(error?.code == .internalError)
      #expect(error?.throttledEndTime == nil)
      #expect(bench.backend.requests.count == count)
    }
    bench.backend.fail(nil)
    // Nor is a version that is announced.
    let log = EventLog<Int>(patience: .seconds(300))
    let registration = bench.config.addOnConfigUpdateListener { update, error in
      log.record(update == nil ? (error as NSError?)?.code ?? 0 : 1)
    }
    bench.backend.publish(["a": "1"])
    try await log.wait(for: "the update") { $0 == [1] }
    registration.remove()
    await bench.end()
  }

  @Test func `throttling ends at its time, and at once when the clock is set back before the failure`() async throws {
    for jump in [-1, -86_400, -400 * 86_400] as [Int64] {
      let bench = try Bench()
      #expect(await code(bench) == 0)
      bench.clock.advance(by: .seconds(10))
      bench.backend.fail(.resourceExhausted)
      #expect(await code(bench) == 8003)
      #expect(await code(bench) == 8002)
      bench.clock.jump(to: bench.clock.now + 179_999_999)
      #expect(await code(bench) == 8002)
      bench.clock.jump(to: bench.clock.now - 179_999_999)
      #expect(await code(bench) == 8002)
      bench.backend.fail(nil)
      bench.clock.jump(to: bench.clock.now + jump * 1_000_000)
      #expect(await code(bench) == 0, "\(jump) s")
      await bench.end()
    }
  }

  @Test func `a clock that was ahead at the last fetch keeps no values for years`() async throws {
    let bench = try Bench()
    let now = bench.clock.now
    bench.clock.jump(to: now + 10 * 365 * 86_400_000_000)
    bench.backend.publish(["key": "future"])
    try await bench.config.fetchAndActivate()
    bench.clock.jump(to: now)
    bench.backend.publish(["key": "present"])
    try await bench.config.fetchAndActivate()
    #expect(bench.config["key"].stringValue == "present")
    #expect(bench.config.lastFetchTime == Date(timeIntervalSince1970: Double(now) / 1e6))
    // From then on the interval counts again.
    bench.backend.publish(["key": "later"])
    #expect(try await bench.config.fetch() == .success)
    #expect(bench.backend.requests.count == 2)
    bench.clock.jump(to: now + 43_200_000_000)
    try await bench.config.fetchAndActivate()
    #expect(bench.config["key"].stringValue == "later")
    await bench.end()
  }

  @Test func `the pause of the connection outlasts its listeners`() async throws {
    let bench = try Bench()
    let first = bench.config.addOnConfigUpdateListener { _, _ in }
    bench.backend.endConnections(.unavailable)
    first.remove()
    for _ in 0..<10 {
      bench.clock.advance(by: .seconds(10))
      let listener = bench.config.addOnConfigUpdateListener { _, _ in }
      #expect(bench.backend.listeners.isEmpty)
      listener.remove()
    }
    #expect(bench.clock.deadlines.isEmpty)
    let last = bench.config.addOnConfigUpdateListener { _, _ in }
    bench.clock.advance(by: .seconds(79))
    #expect(bench.backend.listeners.isEmpty)
    bench.clock.advance(by: .seconds(1))
    #expect(bench.backend.listeners.count == 1)
    #expect(bench.backend.state.withLock { $0.connections } == 2)
    last.remove()
    await bench.end()
  }

  @Test func `a clock that is set back ends the pause of the connection for the next listener`() async throws {
    let bench = try Bench()
    let first = bench.config.addOnConfigUpdateListener { _, _ in }
    bench.backend.endConnections(.unavailable)
    first.remove()
    bench.clock.jump(to: bench.clock.now - 86_400_000_000)
    let second = bench.config.addOnConfigUpdateListener { _, _ in }
    #expect(bench.backend.listeners.count == 1)
    second.remove()
    await bench.end()
  }

  @Test(arguments: ["active", "fetched", "defaults", "record"])
  func `a damaged file is kept under another name`(part: String) async throws {
    let bench = try Bench()
    bench.config.setDefaults(["default": "d"])
    bench.backend.publish(["key": "a"])
    try await bench.config.setCustomSignals(["city": "Lyon"])
    try await bench.config.fetchAndActivate()
    bench.config.end()
    let file = bench.app.dataDirectory.appending(path: "remote-config-client/firebase/\(part).json")
    let whole = try Data(contentsOf: file)
    try whole.dropLast().write(to: file)
    let second = RemoteConfig(app: bench.app, namespace: "firebase", backend: bench.backend)
    try await second.setCustomSignals(["age": 5])
    second.setDefaults(["other": 1])
    try await second.fetchAndActivate()
    second.end()
    let kept = file.deletingLastPathComponent().appending(path: "\(part).json.damaged")
    #expect(try Data(contentsOf: kept) == whole.dropLast())
    await bench.app.delete()
  }
}
