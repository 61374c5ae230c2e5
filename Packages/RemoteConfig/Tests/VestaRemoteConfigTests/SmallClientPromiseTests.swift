import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaRemoteConfig

/// Promises of single lines of the client: what settings are bounded to, which keys have changed, which listeners are
/// called.
@Suite struct SmallClientPromiseTests {
  @Test func `settings that make no sense become the nearest that do`() {
    let settings = RemoteConfigSettings()
    #expect(settings.minimumFetchInterval == 43_200 && settings.fetchTimeout == 60)
    let intervals: [(Double, Double)] = [(0, 0), (5, 5), (-1, 0), (.infinity, .infinity), (-.infinity, 0), (.nan, 0)]
    for (value, expected) in intervals {
      settings.minimumFetchInterval = value
      #expect(settings.minimumFetchInterval == expected, "\(value)")
    }
    let timeouts: [(Double, Double)] = [
      (0.5, 0.5), (0, 60), (-1, 60), (.infinity, 60), (.nan, 60), (86_400, 86_400), (86_401, 86_400),
    ]
    for (value, expected) in timeouts {
      settings.fetchTimeout = value
      #expect(settings.fetchTimeout == expected, "\(value)")
    }
  }

  @Test(arguments: [
    ("1e-3", 0.001), ("1E+2", 100), ("1e+", 1), ("1e-", 1), ("-1.5e1x", -15), ("+.5e0", 0.5), ("1-2", 1), ("--1", 0),
    ("\t\n 7", 7), (".", 0), ("1.5.5", 1.5),
  ])
  func `a number may have an exponent`(text: String, expected: Double) {
    let value = RemoteConfigValue(Data(text.utf8), source: .remote)
    #expect(value.numberValue.doubleValue == expected)
  }

  @Test func `the changed keys include values and rollouts`() {
    var contents = ConfigContents()
    contents.active.entries = ["same": "1", "changed": "1", "removed": "1", "kept": "1"]
    contents.fetched.entries = ["same": "1", "changed": "2", "added": "1", "kept": "1"]
    #expect(contents.changedKeys == ["changed", "removed", "added"])
    let old = ConfigRollout(rolloutID: "r", variantID: "a", affectedParameterKeys: ["same"])
    let new = ConfigRollout(rolloutID: "s", variantID: "a", affectedParameterKeys: ["kept"])
    contents.active.rollouts = [old]
    contents.fetched.rollouts = [old]
    #expect(contents.changedKeys == ["changed", "removed", "added"])
    contents.fetched.rollouts = [new]
    #expect(contents.changedKeys == ["changed", "removed", "added", "same", "kept"])
    contents.activate()
    #expect(contents.changedKeys.isEmpty && contents.active.rollouts == [new])
  }

  @Test func `a response that changes nothing leaves the time of the values as it is`() {
    var fetched = FetchedConfig()
    let first = FetchConfigResponse(state: .update, entries: ["a": "1"], templateVersion: 1, etag: "e1")
    fetched.apply(first, at: 10)
    #expect(fetched.etagTime == 10 && fetched.entries == ["a": "1"] && fetched.templateVersion == 1)
    fetched.apply(FetchConfigResponse(state: .noChange, templateVersion: 2, etag: "e1"), at: 20)
    #expect(fetched.etagTime == 10 && fetched.entries == ["a": "1"] && fetched.templateVersion == 2)
    // The clock was set back: what is newer has a later time all the same.
    fetched.apply(FetchConfigResponse(state: .emptyConfig, templateVersion: 3, etag: "e3"), at: 5)
    #expect(fetched.etagTime == 10.0.nextUp && fetched.entries.isEmpty && fetched.etag == "e3")
    fetched.apply(first, at: 30)
    fetched.apply(FetchConfigResponse(state: .noTemplate, etag: "e4"), at: 40)
    #expect(fetched.etagTime == 40 && fetched.entries.isEmpty && fetched.templateVersion == 0)
  }

  @Test func `the time of the first start is kept, and sent`() async throws {
    let bench = try Bench()
    let start = bench.clock.now
    bench.clock.advance(by: .seconds(10))
    _ = try await bench.config.fetch()
    #expect(bench.backend.requests.last?.instance.firstOpenTime == start)
    bench.config.end()
    let clock = bench.clock
    let second = RemoteConfig(
      app: bench.app, namespace: "firebase", backend: bench.backend,
      clock: ServiceClock(now: { clock.now }, schedule: { clock.schedule(after: $0, $1) }))
    _ = try await second.fetch(withExpirationDuration: 0)
    #expect(bench.backend.requests.count == 2 && bench.backend.requests.last?.instance.firstOpenTime == start)
    second.end()
    await bench.app.delete()
  }

  @Test func `values are equal when bytes and source are`() {
    func value(_ text: String, _ source: RemoteConfigSource) -> RemoteConfigValue {
      RemoteConfigValue(Data(text.utf8), source: source)
    }
    #expect(value("a", .remote) == value("a", .remote))
    #expect(value("a", .remote) != value("b", .remote))
    #expect(value("a", .remote) != value("a", .default))
    #expect(value("a", .remote).hash == value("a", .remote).hash)
    #expect(!value("a", .remote).isEqual("a"))
  }

  private static let completionForms:
    [@Sendable (RemoteConfig, @escaping @Sendable (String, (any Error)?) -> Void) -> Void] = [
      { config, done in config.ensureInitialized { done("", $0) } },
      { config, done in config.fetch { done("\($0)", $1) } },
      { config, done in config.fetch(withExpirationDuration: 0) { done("\($0)", $1) } },
      { config, done in config.fetchAndActivate { done("\($0)", $1) } },
      { config, done in config.activate { done("\($0)", $1) } },
      { config, done in config.setCustomSignals(["a": 1]) { done("", $0) } },
    ]

  @Test func `every completion form reports its success, and every one its failure`() async throws {
    let bench = try Bench()
    bench.backend.publish(["a": "1"])
    let config = bench.config
    func outcomes() async -> [(String, (any Error)?)] {
      var outcomes: [(String, (any Error)?)] = []
      for call in Self.completionForms {
        let outcome = await withCheckedContinuation { continuation in
          call(config) { continuation.resume(returning: ($0, $1)) }
        }
        outcomes.append(outcome)
      }
      return outcomes
    }
    let successes = await outcomes()
    #expect(successes.map(\.0) == ["", "success", "success", "successFetchedFromRemote", "false", ""])
    #expect(successes.allSatisfy { $0.1 == nil })
    #expect(config.state.withLock { $0.contents.record.customSignals } == ["a": "1"])
    config.end()
    let failures = await outcomes()
    #expect(failures.map(\.0) == ["", "failure", "failure", "error", "false", ""])
    #expect(failures.allSatisfy { ($0.1 as? RemoteConfigError)?.code == .internalError })
    await bench.app.delete()
  }

  @Test func `custom signals may be as long and as many as they are allowed to be, and not more`() async throws {
    let bench = try Bench()
    func text(_ count: Int) -> String { String(repeating: "x", count: count) }
    try await bench.config.setCustomSignals([text(250): .string(text(500))])
    for signals in [[text(251): "x"], ["a": .string(text(501))]] as [[String: CustomSignalValue?]] {
      let error = await #expect(throws: RemoteConfigCustomSignalsError.self) {
        try await bench.config.setCustomSignals(signals)
      }
      #expect(error?.code == .limitExceeded)
    }
    let others = Dictionary(
      uniqueKeysWithValues: (1...99).map { ("\($0)", CustomSignalValue.integer($0) as CustomSignalValue?) })
    try await bench.config.setCustomSignals(others)
    await #expect(throws: RemoteConfigCustomSignalsError.self) { try await bench.config.setCustomSignals(["b": 1.5]) }
    #expect(bench.config.state.withLock { $0.contents.record.customSignals.count } == 100)
    // One is removed and another is added.
    try await bench.config.setCustomSignals(["99": nil, "b": 1.5])
    #expect(bench.config.state.withLock { $0.contents.record.customSignals["b"] } == "1.5")
    await bench.end()
  }
}
