import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaRemoteConfig

@Suite struct FetchTests {
  @Test func `what is fetched takes effect when it is activated`() async throws {
    let bench = try Bench()
    bench.config.setDefaults(["key": "default", "other": 5])
    bench.backend.publish(["key": "remote"])
    #expect(try await bench.config.fetch() == .success)
    #expect(bench.config["key"].source == .default)
    #expect(try await bench.config.activate())
    #expect(bench.config["key"].stringValue == "remote" && bench.config["key"].source == .remote)
    #expect(bench.config["other"].numberValue == 5 && bench.config["other"].source == .default)
    #expect(bench.config["none"].source == .static && bench.config["none"].stringValue.isEmpty)
    #expect(try await !bench.config.activate())
    await bench.end()
  }

  @Test func `values are fetched again after the minimum interval, or at once when asked for`() async throws {
    let bench = try Bench()
    let settings = RemoteConfigSettings()
    settings.minimumFetchInterval = 100
    bench.config.configSettings = settings
    for _ in 1...3 { _ = try await bench.config.fetch() }
    #expect(bench.backend.requests.count == 1)
    _ = try await bench.config.fetch(withExpirationDuration: 0)
    #expect(bench.backend.requests.count == 2)
    bench.clock.advance(by: .seconds(100))
    _ = try await bench.config.fetch()
    #expect(bench.backend.requests.count == 3)
    #expect(bench.backend.requests.map(\.etag) == [nil, "etag-0", "etag-0"])
    await bench.end()
  }

  @Test func `a clock that was set back does not stop fetches`() async throws {
    let bench = try Bench()
    _ = try await bench.config.fetch()
    bench.clock.jump(to: bench.clock.now - 1_000_000_000_000)
    _ = try await bench.config.fetch()
    #expect(bench.backend.requests.count == 2)
    await bench.end()
  }

  @Test func `fetches at the same time are one fetch`() async throws {
    let bench = try Bench()
    bench.backend.gate.close()
    try await withThrowingTaskGroup(of: RemoteConfigFetchStatus.self) { group in
      for _ in 0..<10 { group.addTask { try await bench.config.fetch() } }
      while bench.backend.gate.waitingCount == 0 { await Task.yield() }
      bench.backend.gate.open()
      for try await status in group { #expect(status == .success) }
    }
    // A task that started after the fetch had ended found it new enough.
    #expect(bench.backend.requests.count == 1)
    await bench.end()
  }

  @Test func `a failed fetch keeps the active values and says why`() async throws {
    let bench = try Bench()
    bench.backend.publish(["key": "a"])
    try await bench.config.fetchAndActivate()
    bench.backend.fail(.invalidArgument)
    let error = await #expect(throws: RemoteConfigError.self) {
      try await bench.config.fetch(withExpirationDuration: 0)
    }
    #expect(error?.code == .internalError)
    #expect((error as NSError?)?.domain == "com.google.remoteconfig.ErrorDomain")
    #expect((error as NSError?)?.code == 8003)
    #expect(bench.config["key"].stringValue == "a")
    #expect(bench.config.lastFetchStatus == .failure)
    await bench.end()
  }

  @Test func `failures of the service throttle fetches, longer each time, until one succeeds`() async throws {
    let bench = try Bench()
    _ = try await bench.config.fetch()
    bench.backend.fail(.unavailable)
    for expected in [180.0, 360, 720, 1440, 2880, 5760, 11520, 11520] {
      await #expect(throws: RemoteConfigError.self) { try await bench.config.fetch(withExpirationDuration: 0) }
      let error = await #expect(throws: RemoteConfigError.self) {
        try await bench.config.fetch(withExpirationDuration: 0)
      }
      #expect(error?.code == .throttled)
      let end = (error as NSError?)?.userInfo[RemoteConfigThrottledEndTimeInSecondsKey] as? Double ?? 0
      #expect(abs(end - Double(bench.clock.now) / 1e6 - expected) < 0.001, "\(expected)")
      bench.clock.advance(by: .seconds(expected))
    }
    bench.backend.fail(nil)
    #expect(try await bench.config.fetch(withExpirationDuration: 0) == .success)
    #expect(try await bench.config.fetch(withExpirationDuration: 0) == .success)
    await bench.end()
  }

  @Test func `nothing is throttled before the first success`() async throws {
    let bench = try Bench()
    bench.backend.fail(.unavailable)
    await #expect(throws: RemoteConfigError.self) { try await bench.config.fetch() }
    bench.backend.fail(nil)
    #expect(try await bench.config.fetch() == .success)
    await bench.end()
  }

  @Test func `a request has the installation, the signals and a deadline`() async throws {
    let bench = try Bench()
    try await bench.config.setCustomSignals(["city": "Lyon", "age": 20, "score": 1.5])
    try await bench.config.setCustomSignals(["age": nil])
    _ = try await bench.config.fetch()
    let instance = bench.backend.requests[0].instance
    #expect(instance.installationID == bench.app.installationID)
    #expect(instance.customSignals == ["city": "Lyon", "score": "1.5"])
    #expect(bench.backend.state.withLock { $0.contexts[0].deadline } == bench.clock.now + 60_000_000)
    await bench.end()
  }

  @Test func `everything is there again after a restart`() async throws {
    let directory = try TemporaryDirectory("remote-config")
    let first = try Bench(in: directory)
    first.config.setDefaults(["default": "d"])
    first.backend.publish(["key": "a"])
    try await first.config.fetchAndActivate()
    first.backend.publish(["key": "b"])
    _ = try await first.config.fetch(withExpirationDuration: 0)
    try await first.config.setCustomSignals(["s": 1])
    first.config.end()
    let second = RemoteConfig(app: first.app, namespace: "firebase", backend: first.backend)
    #expect(second["key"].stringValue == "a" && second["default"].stringValue == "d")
    #expect(second.lastFetchStatus == .success)
    #expect(try await second.activate())
    #expect(second["key"].stringValue == "b")
    _ = try await second.fetch(withExpirationDuration: 0)
    #expect(first.backend.requests.last?.etag == "etag-2")
    #expect(first.backend.requests.last?.instance.customSignals == ["s": "1"])
    await first.app.delete()
  }

  @Test func `that the last fetch has failed is known after a restart`() async throws {
    let bench = try Bench()
    try await bench.config.fetchAndActivate()
    bench.backend.fail(.unavailable)
    await #expect(throws: RemoteConfigError.self) { try await bench.config.fetch(withExpirationDuration: 0) }
    bench.config.end()
    let second = RemoteConfig(app: bench.app, namespace: "firebase", backend: bench.backend)
    #expect(second.lastFetchStatus == .failure)
    second.end()
    await bench.app.delete()
  }

  @Test(arguments: ["active", "fetched", "defaults", "record"])
  func `a damaged file counts as absent and the others are kept`(part: String) async throws {
    let bench = try Bench()
    bench.config.setDefaults(["default": "d"])
    bench.backend.publish(["key": "a"])
    try await bench.config.fetchAndActivate()
    bench.config.end()
    let folder = bench.app.dataDirectory.appending(path: "remote-config-client/firebase")
    try Data("{\"broken\":".utf8).write(to: folder.appending(path: "\(part).json"))
    let second = RemoteConfig(app: bench.app, namespace: "firebase", backend: bench.backend)
    #expect(second["key"].stringValue == (part == "active" ? "" : "a"))
    #expect(second["default"].stringValue == (part == "defaults" ? "" : "d"))
    try await second.fetchAndActivate()
    #expect(second["key"].stringValue == "a" || part == "active")
    await bench.app.delete()
  }

  @Test func `signals beyond the limits are refused and none is changed`() async throws {
    let bench = try Bench()
    let long = String(repeating: "a", count: 501)
    for signals in [[long: 1], ["a": .string(long)]] as [[String: CustomSignalValue?]] {
      let error = await #expect(throws: RemoteConfigCustomSignalsError.self) {
        try await bench.config.setCustomSignals(signals)
      }
      #expect((error as NSError?)?.code == 8103)
    }
    let many = Dictionary(
      uniqueKeysWithValues: (0..<101).map { ("k\($0)", CustomSignalValue.integer($0) as CustomSignalValue?) })
    await #expect(throws: RemoteConfigCustomSignalsError.self) { try await bench.config.setCustomSignals(many) }
    _ = try await bench.config.fetch()
    #expect(bench.backend.requests[0].instance.customSignals.isEmpty)
    await bench.end()
  }

  @Test func `completion forms report what the async forms return and throw`() async throws {
    let bench = try Bench()
    bench.backend.publish(["key": "a"])
    let config = bench.config
    let status = await withCheckedContinuation { continuation in
      config.fetchAndActivate { status, error in continuation.resume(returning: error == nil ? status : .error) }
    }
    #expect(status == .successFetchedFromRemote)
    bench.backend.fail(.unavailable)
    let failed = await withCheckedContinuation { continuation in
      config.fetch(withExpirationDuration: 0) { status, error in
        continuation.resume(returning: error == nil ? nil : status)
      }
    }
    #expect(failed == .failure)
    let throttled = await withCheckedContinuation { continuation in
      config.fetch(withExpirationDuration: 0) { status, error in
        continuation.resume(returning: error == nil ? nil : status)
      }
    }
    #expect(throttled == .throttled)
    await bench.end()
  }

  @Test func `the caller's executor is kept on success and on failure`() async throws {
    let bench = try Bench()
    let reports = await ExecutorProbe.violations { try await bench.config.fetch(withExpirationDuration: 0) }
    #expect(reports.isEmpty)
    bench.backend.fail(.notFound)
    let failures = await ExecutorProbe.violations { try await bench.config.fetch(withExpirationDuration: 0) }
    #expect(failures.isEmpty)
    await bench.end()
  }

  @Test func `every call keeps its caller's executor, and throws when the app was deleted`() async throws {
    let calls: [@Sendable (RemoteConfig) async throws -> Void] = [
      { _ = try await $0.fetch() }, { _ = try await $0.fetch(withExpirationDuration: 0) },
      { _ = try await $0.activate() }, { _ = try await $0.fetchAndActivate() }, { try await $0.ensureInitialized() },
      { try await $0.setCustomSignals(["a": 1]) },
    ]
    let (living, deleted) = (try Bench(), try Bench())
    await deleted.end()
    for (index, call) in calls.enumerated() {
      for (bench, fails) in [(living, false), (deleted, true)] {
        let reports = [
          await ExecutorProbe.fromMainActor { try await call(bench.config) },
          await ExecutorProbe.fromActor { try await call(bench.config) },
        ]
        for report in reports { #expect(report.isKept && report.hasThrown == fails, "call \(index): \(report)") }
      }
    }
    await living.end()
  }
}
