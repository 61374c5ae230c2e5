import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaRemoteConfig

/// Time-outs, files that were lost, ends in order, and the names of upstream.
@Suite struct ClientRuleTests {
  @Test func `a service that ends each connection in order is asked again after pauses that grow`() async throws {
    let bench = try Bench()
    let registration = bench.config.addOnConfigUpdateListener { _, _ in }
    for pause in [1, 2, 4, 8, 16, 32, 64, 120, 120] as [Int64] {
      // A message does not make up for it: the service may send one on each connection.
      bench.backend.listeners.first?.receive(ConfigInvalidation(latestVersion: 0))
      bench.backend.endConnections(nil)
      #expect(bench.clock.deadlines == [bench.clock.now + pause * 1_000_000])
      bench.clock.advance(by: .seconds(pause))
      #expect(bench.backend.listeners.count == 1)
    }
    bench.clock.advance(by: .seconds(60))
    bench.backend.endConnections(nil)
    bench.clock.advance(by: .zero)
    #expect(bench.backend.listeners.count == 1)
    bench.backend.endConnections(nil)
    #expect(bench.clock.deadlines == [bench.clock.now + 1_000_000])
    registration.remove()
    await bench.end()
  }

  @Test func `a fetch ends after its time-out, whatever the service does`() async throws {
    let bench = try Bench()
    let settings = RemoteConfigSettings()
    settings.fetchTimeout = 1
    bench.config.configSettings = settings
    bench.backend.gate.close()
    let fetch = Task { try await bench.config.fetch() }
    await bench.clock.waitForTimers(1)
    bench.clock.advance(by: .seconds(1))
    let error = await #expect(throws: RemoteConfigError.self) { try await fetch.value }
    #expect(error?.code == .internalError && error?.message.contains("504") == true)
    bench.backend.gate.open()
    // A later response is not taken over.
    #expect(bench.config.lastFetchStatus == .failure)
    try await bench.config.fetch()
    #expect(bench.config.lastFetchStatus == .success && bench.clock.deadlines.isEmpty)
    await bench.end()
  }

  @Test(arguments: [["active", "fetched"], ["fetched"], ["active"], []])
  func `after a restart young values are there without a fetch, and those whose file was lost with one`(
    lost: [String]
  ) async throws {
    let bench = try Bench()
    bench.backend.publish(["a": "1"])
    try await bench.config.fetchAndActivate()
    bench.config.end()
    for name in lost {
      let directory = bench.app.dataDirectory.appending(path: "remote-config-client/firebase")
      try FileManager.default.removeItem(at: directory.appending(path: "\(name).json"))
    }
    let again = Bench.client(bench.app, bench.backend, bench.clock)
    try await again.fetchAndActivate()
    #expect(again["a"].stringValue == "1", "without \(lost)")
    #expect(bench.backend.requests.count == (lost.contains("fetched") ? 2 : 1), "without \(lost)")
    again.end()
    await bench.app.delete()
  }

  @Test func `errors can be made as upstream's, with a code`() {
    let end = Date(timeIntervalSince1970: 1_000_000)
    let error = RemoteConfigError(
      .throttled, userInfo: [RemoteConfigThrottledEndTimeInSecondsKey: end.timeIntervalSince1970])
    #expect(error.throttledEndTime == end)
    #expect(error.errorCode == 8002)
    #expect(RemoteConfigError(.throttled).code == .throttled)
    #expect(RemoteConfigUpdateError(.notFetched).errorCode == 8002)
  }

  @Test func `a property has the active value, the default, or its fallback`() async throws {
    let bench = try Bench()
    func value(_ key: String) -> Int { bench.config.value(forKey: key, fallback: 7) }
    #expect(value("a") == 7)
    bench.config.setDefaults(["a": 1 as NSNumber, "b": "text" as NSString])
    #expect(value("a") == 1)
    bench.backend.publish(["a": "2"])
    try await bench.config.fetchAndActivate()
    #expect(value("a") == 2)
    let decoded: [Int] = bench.config.value(forKey: "b", fallback: [1])
    #expect(decoded == [1])
    await bench.end()
  }

  @Test func `what does not decode has upstream's words`() {
    let value = RemoteConfigValue(Data("x".utf8), source: .remote)
    let error = #expect(throws: RemoteConfigValueCodableError.self) { try value.decoded(asType: Date.self) }
    let text = "Date type is not currently supported for  Remote Config Value decoding. Please file a feature request"
    #expect(error == .unsupportedType(text))
    let other = #expect(throws: DecodingError.self) { try value.decoded(asType: [String: Int].self) }
    #expect("\(other.map { "\($0)" } ?? "")".contains("FirebaseRemoteConfigValueDecoderHelper"))
  }
}
