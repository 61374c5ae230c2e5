import Foundation
import VestaRemoteConfigBackend

/// The active values.
struct ActiveConfig: Codable, Sendable, Equatable {
  var entries: [String: String] = [:]
  var templateVersion: Int64 = 0
  var rollouts: [ConfigRollout] = []
  /// The time at which the active values were fetched; 0 before the first activation.
  var etagTime: Double = 0
}

/// The values that were fetched last.
struct FetchedConfig: Codable, Sendable, Equatable {
  var entries: [String: String] = [:]
  var templateVersion: Int64 = 0
  var rollouts: [ConfigRollout] = []
  var etag: String?
  /// The time at which the last new ETag was received, in seconds since 1970; it only grows.
  var etagTime: Double = 0

  /// Takes over a response; answers whether anything changed.
  mutating func apply(_ response: FetchConfigResponse, at now: Double) {
    switch response.state {
    case .noChange: break
    case .update: (entries, rollouts) = (response.entries, response.rollouts)
    case .emptyConfig, .noTemplate: (entries, rollouts) = ([:], response.rollouts)
    }
    templateVersion = response.templateVersion
    guard response.etag != etag else { return }
    etag = response.etag
    etagTime = max(now, etagTime.nextUp)
  }
}

/// The record of fetching.
struct FetchRecord: Codable, Sendable, Equatable {
  /// The last success, in seconds since 1970.
  var lastFetchTime: Double?
  var lastFetchStatus = RemoteConfigFetchStatus.noFetchYet
  /// The app and the device at the last success.
  var context: DeviceContext?
  var customSignals: [String: String] = [:]
  /// The time at which the app was first opened, in microseconds since 1970.
  var firstOpenTime: Int64?
}

/// The app and the device that a fetch depends on: after a change values are fetched again.
struct DeviceContext: Codable, Sendable, Equatable {
  var appVersion: String
  var appBuild: String
  var systemVersion: String
  var locale: String
  var appID: String
}

/// Everything that one ``RemoteConfig`` keeps.
struct ConfigContents: Sendable, Equatable {
  var active = ActiveConfig()
  var fetched = FetchedConfig()
  var defaults: [String: Data] = [:]
  var record = FetchRecord()

  /// Whether something was fetched that is not active.
  var hasNews: Bool { fetched.etagTime > active.etagTime }

  mutating func activate() {
    active = ActiveConfig(
      entries: fetched.entries, templateVersion: fetched.templateVersion, rollouts: fetched.rollouts,
      etagTime: fetched.etagTime)
  }

  /// The keys whose values, or rollouts, differ between what was fetched and what is active.
  var changedKeys: Set<String> {
    var keys = Set(fetched.entries.filter { active.entries[$0.key] != $0.value }.keys)
    keys.formUnion(active.entries.keys.filter { fetched.entries[$0] == nil })
    for rollout in Set(fetched.rollouts).symmetricDifference(active.rollouts) {
      keys.formUnion(rollout.affectedParameterKeys)
    }
    return keys
  }
}
