import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaRemoteConfig

/// Random fetches, activations, failures and restarts under a clock that jumps in both directions, against a model.
@Suite struct FetchModelTests {
  private struct Model {
    var version: Int64 = 0
    var value: String?
    var fetched: (value: String?, etag: String)?
    var active: String?
    var hasNews = false
    var lastSuccess: Double?
    var status = RemoteConfigFetchStatus.noFetchYet
    var throttle: ClosedRange<Double>?
    var pause: Double = 0
    var requests = 0
  }

  @Test func `fetching, throttling and activating equal the model's, whatever the clock says`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    for history in 0..<12 {
      var random = SplitMix(seed: seed &+ UInt64(history))
      var model = Model()
      let bench = try Bench()
      for step in 0..<80 {
        let label: Comment = "seed \(seed), history \(history), step \(step)"
        switch random.below(8) {
        case 0: bench.clock.jump(to: bench.clock.now + Int64(random.below(40_000) - 10_000) * 1_000_000)
        case 1: bench.clock.jump(to: bench.clock.now - Int64(random.below(2)) * 400 * 86_400_000_000)
        case 2:
          model.version += 1
          model.value = "\(step)"
          bench.backend.publish(["key": "\(step)"])
        case 3: bench.backend.fail([nil, nil, .unavailable, .invalidArgument, .resourceExhausted][random.below(5)])
        case 4: try await activate(bench, &model, label)
        default: try await fetch(bench, &model, interval: [0, 100, 43_200, -5, .nan][random.below(5)], label)
        }
        #expect(bench.config["key"].stringValue == model.active ?? "", label)
        #expect(bench.config.lastFetchStatus == model.status, label)
      }
      await bench.end()
    }
  }

  private func activate(_ bench: Bench, _ model: inout Model, _ label: Comment) async throws {
    #expect(try await bench.config.activate() == model.hasNews, label)
    guard model.hasNews else { return }
    (model.active, model.hasNews) = (model.fetched?.value, false)
  }

  private func fetch(_ bench: Bench, _ model: inout Model, interval: Double, _ label: Comment) async throws {
    let now = Double(bench.clock.now) / 1e6
    let failure = bench.backend.state.withLock { $0.failure?.code }
    let isNewEnough = model.lastSuccess.map { now >= $0 && now - $0 < interval } ?? false
    // Nothing is throttled before the first success.
    let isThrottled =
      model.lastSuccess != nil && model.throttle.map { $0.contains(now) && now < $0.upperBound } ?? false
    let outcome: String
    do {
      outcome = "\(try await bench.config.fetch(withExpirationDuration: interval))"
    } catch {
      outcome = "error \((error as NSError).code)"
    }
    if isNewEnough { return #expect(outcome == "success", label) }
    if isThrottled {
      model.status = .throttled
      return #expect(outcome == "error 8002", label)
    }
    model.requests += 1
    #expect(bench.backend.requests.count == model.requests, label)
    guard let failure else {
      #expect(outcome == "success", label)
      if model.fetched?.etag != "etag-\(model.version)" {
        model.fetched = (model.value, "etag-\(model.version)")
        model.hasNews = true
      }
      (model.lastSuccess, model.status, model.throttle, model.pause) = (now, .success, nil, 0)
      return
    }
    #expect(outcome == "error 8003", label)
    if failure != .invalidArgument, model.status != .noFetchYet {
      // The bench draws 0.9, which makes the delay longer by half.
      model.pause = model.status == .success || model.pause == 0 ? 120 : min(model.pause * 2, 7680)
      model.throttle = now...(now + model.pause * 1.5)
    }
    model.status = .failure
  }

  @Test func `no setting of the time-out stops the process`() async throws {
    let bench = try Bench()
    for timeout in [Double.greatestFiniteMagnitude, .infinity, .nan, -1, 1e18, 1e-300] {
      let settings = RemoteConfigSettings()
      settings.fetchTimeout = timeout
      settings.minimumFetchInterval = timeout
      bench.config.configSettings = settings
      _ = try? await bench.config.fetch(withExpirationDuration: 0)
      _ = try? await bench.config.fetch()
      _ = try? await bench.config.fetch(withExpirationDuration: timeout)
    }
    await bench.end()
  }

  @Test func `signals are counted in UTF-16, as upstream counts them`() async throws {
    let bench = try Bench()
    let error = await #expect(throws: RemoteConfigCustomSignalsError.self) {
      try await bench.config.setCustomSignals([String(repeating: "👩‍👩‍👧", count: 50): 1])
    }
    #expect(error?.code == .limitExceeded)
    await #expect(throws: RemoteConfigCustomSignalsError.self) {
      try await bench.config.setCustomSignals(["a": .string("e" + String(repeating: "\u{301}", count: 500))])
    }
    try await bench.config.setCustomSignals([
      String(repeating: "é", count: 250): .string(String(repeating: "ß", count: 500))
    ])
    await bench.end()
  }

  @Test func `an announced version is not fetched while fetches are throttled, and listeners receive the reason`()
    async throws
  {
    let bench = try Bench()
    _ = try await bench.config.fetch()
    bench.backend.fail(.unavailable)
    _ = try? await bench.config.fetch(withExpirationDuration: 0)
    bench.backend.fail(nil)
    let count = bench.backend.requests.count
    let log = EventLog<Int>(patience: .seconds(300))
    let registration = bench.config.addOnConfigUpdateListener { update, error in
      log.record(update == nil ? (error as NSError?)?.code ?? 0 : 1)
    }
    bench.backend.publish(["a": "1"])
    try await log.wait(for: "the error") { $0 == [RemoteConfigError.Code.throttled.rawValue] }
    #expect(bench.backend.requests.count == count)
    bench.clock.advance(by: .seconds(200))
    bench.backend.publish(["a": "2"])
    try await log.wait(for: "the update") { $0.last == 1 }
    registration.remove()
    await bench.end()
  }

  @Test func `what is fetched after a loss of the file can be activated, also under a clock that was set back`()
    async throws
  {
    let directory = try TemporaryDirectory("remote-config")
    let first = try Bench(in: directory)
    first.backend.publish(["key": "old"])
    try await first.config.fetchAndActivate()
    let file = directory.names.first { $0.hasSuffix("fetched.json") } ?? ""
    let appDirectory = first.app.dataDirectory
    first.config.end()
    try Data("{".utf8).write(to: appDirectory.appending(path: "remote-config-client/firebase/fetched.json"))
    #expect(!file.isEmpty)
    first.clock.jump(to: first.clock.now - 86_400_000_000)
    let clock = first.clock
    let again = RemoteConfig(
      app: first.app, namespace: "firebase", backend: first.backend,
      clock: ServiceClock(now: { clock.now }, schedule: { clock.schedule(after: $0, $1) }), random: { 0.9 })
    first.backend.publish(["key": "new"])
    _ = try await again.fetch(withExpirationDuration: 0)
    #expect(try await again.activate())
    #expect(again["key"].stringValue == "new")
    again.end()
    await first.app.delete()
  }

  @Test func `the service can ask for a pause before the next connection`() {
    var link = LinkMachine(RemoteConfigTuning().link)
    func random() -> Double { 0.9 }
    #expect(link.open(now: 0) == [.connect(refreshesCredential: false)])
    link.received(requestedPause: .seconds(300))
    #expect(link.ended(.unavailable, now: 0, random: random) == [.wait(.seconds(300))])
    #expect(link.pauseEnded(now: 0) == [.connect(refreshesCredential: false)])
    // It was no failure: the next one counts as the first.
    #expect(link.ended(.unavailable, now: 0, random: random) == [.wait(.seconds(180))])
    #expect(link.pauseEnded(now: 0) == [.connect(refreshesCredential: false)])
    link.received(requestedPause: .seconds(Int64.max / 2))
    #expect(link.ended(nil, now: 0, random: random) == [.wait(.seconds(86_400))])
  }

  @Test func `eight failures without a message in between end the connection, and another listener opens it again`() {
    var link = LinkMachine(RemoteConfigTuning().link)
    _ = link.open(now: 0)
    for _ in 1...7 {
      #expect(link.ended(.unavailable, now: 0, random: { 0 }).count == 1)
      _ = link.pauseEnded(now: 0)
    }
    #expect(link.ended(.unavailable, now: 0, random: { 0 }) == [.fail(.unavailable)])
    #expect(link.open(now: .max / 2) == [.connect(refreshesCredential: false)])
    // The connection carries no credential that could be refreshed.
    #expect(link.ended(.unauthenticated, now: .max / 2, random: { 0 }) == [.fail(.unauthenticated)])
  }
}

@Suite struct ListenerStressTests {
  @Test func `the connection is open while there are listeners, whatever listeners start and stop at the same time`()
    async throws
  {
    let bench = try Bench()
    let config = bench.config
    for round in 0..<150 {
      let last = Locked<ConfigUpdateListenerRegistration?>(nil)
      TestThreads.run(4) { thread in
        for number in 0..<6 {
          let registration = config.addOnConfigUpdateListener { _, _ in }
          if thread == 0, number == 5 {
            last.withLock { $0 = registration }
          } else {
            registration.remove()
          }
        }
      }
      #expect(bench.backend.listeners.count == 1, "round \(round)")
      last.withLock { $0 }?.remove()
      #expect(bench.backend.listeners.isEmpty, "round \(round)")
    }
    await bench.end()
  }
}

/// Every asynchronous method keeps the caller's executor, where it succeeds and where it throws.
@Suite struct ExecutorTests {
  private static let calls: [@Sendable (RemoteConfig) async throws -> Void] = [
    { try await $0.ensureInitialized() },
    { _ = try await $0.fetch() },
    { _ = try await $0.fetch(withExpirationDuration: 0) },
    { try await $0.activate() },
    { try await $0.fetchAndActivate() },
    { try await $0.setCustomSignals(["a": 1]) },
  ]

  @Test func `the executor is kept on success and on failure, from the main actor and from another one`() async throws {
    for (index, call) in Self.calls.enumerated() {
      let bench = try Bench()
      let config = bench.config
      let settings = RemoteConfigSettings()
      settings.minimumFetchInterval = 0
      config.configSettings = settings
      #expect(await ExecutorProbe.violations { try await call(config) } == [], "call \(index)")
      bench.backend.fail(.notFound)
      #expect(await ExecutorProbe.violations { try await call(config) } == [], "call \(index), failing")
      config.end()
      await #expect(throws: (any Error).self, "call \(index)") { try await call(config) }
      #expect(await ExecutorProbe.violations { try await call(config) } == [], "call \(index), after the end")
      await bench.app.delete()
    }
  }
}
