import FirebaseCore
import FirebaseRemoteConfig
import Foundation

// A program as users of the Firebase SDK write it: values of every type, sources, typed values and statuses.

struct Theme: Codable, Equatable {
  var color: String
  var size: Int
}

struct Defaults: Codable {
  var title: String
  var columns: Int
  var isBeta: Bool
  var theme: Theme
}

// Sound as @unchecked Sendable: used by one test at a time.
final class ValuesModel: @unchecked Sendable {
  let remoteConfig: RemoteConfig

  init(remoteConfig: RemoteConfig) {
    self.remoteConfig = remoteConfig
    remoteConfig.configSettings.minimumFetchInterval = 0
  }

  func defaults() throws -> [String] {
    remoteConfig.setDefaults(["title": "Good day" as NSObject, "columns": 1 as NSObject])
    try remoteConfig.setDefaults(
      from: Defaults(title: "Hello", columns: 2, isBeta: true, theme: Theme(color: "red", size: 1)))
    let title = remoteConfig["title"]
    return [
      title.stringValue, "\(title.source == .default)", "\(remoteConfig["columns"].numberValue.intValue)",
      "\(remoteConfig["isBeta"].boolValue)", "\(remoteConfig["absent"].source == .static)",
      "\(remoteConfig["absent"].stringValue.isEmpty)", "\(remoteConfig["title"].dataValue.count)",
      "\((remoteConfig["theme"].jsonValue as? [String: Any])?["color"] as? String ?? "none")",
      "\(remoteConfig.defaultValue(forKey: "columns")?.stringValue ?? "none")",
    ]
  }

  func typed() throws -> (Theme?, Theme, Int) {
    let theme: Theme? = remoteConfig[decodedValue: "theme"]
    return (theme, try remoteConfig["theme"].decoded(asType: Theme.self), try remoteConfig["columns"].decoded())
  }

  func keys() -> [String] {
    [
      remoteConfig.allKeys(from: .default).sorted().joined(separator: " "),
      remoteConfig.allKeys(from: .remote).sorted().joined(separator: " "),
      remoteConfig.keys(withPrefix: "co").sorted().joined(separator: " "),
    ]
  }

  func fetch(_ completion: @escaping @Sendable (String) -> Void) {
    remoteConfig.fetch(withExpirationDuration: 0) { status, error in
      switch status {
      case .noFetchYet: completion("none yet")
      case .success:
        self.remoteConfig.activate { changed, error in
          completion("changed: \(changed), status: \(self.remoteConfig.lastFetchStatus == .success)")
        }
      case .throttled: completion("throttled")
      case .failure:
        switch RemoteConfigError.Code(rawValue: (error! as NSError).code) {
        case .throttled: completion("throttled")
        case .internalError: completion("internal")
        default: completion("unknown")
        }
      @unknown default: completion("later status")
      }
    }
  }

  func signals() async -> [String] {
    var outcomes: [String] = []
    do {
      try await remoteConfig.setCustomSignals(["city": "Tokyo", "level": 3, "ratio": 0.5, "gone": nil])
      outcomes.append("set")
      let long = String(repeating: "x", count: 600)
      try await remoteConfig.setCustomSignals(["city": .string(long)])
    } catch RemoteConfigCustomSignalsError.limitExceeded {
      outcomes.append("too long")
    } catch {
      outcomes.append("\(error)")
    }
    return outcomes
  }

  /// Completion handlers are optional.
  func fireAndForget() {
    remoteConfig.fetchAndActivate()
    remoteConfig.fetch()
    remoteConfig.activate()
    remoteConfig.ensureInitialized { error in }
  }

  func firstUpdate() async throws -> Set<String> {
    for try await update in remoteConfig.configUpdates {
      try await remoteConfig.activate()
      return update.updatedKeys
    }
    return []
  }
}
