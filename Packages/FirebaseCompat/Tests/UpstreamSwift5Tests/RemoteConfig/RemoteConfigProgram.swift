// swift-format-ignore-file: NeverForceUnwrap

// (The Firebase SDK's documentation is written so.)
import FirebaseCore
import FirebaseRemoteConfig
import Foundation

// A program as users of the Firebase SDK write it, with Remote Config.

// Sound as @unchecked Sendable: used by one test at a time.
final class WelcomeModel: @unchecked Sendable {
  let remoteConfig: RemoteConfig
  private var registration: ConfigUpdateListenerRegistration?

  init(remoteConfig: RemoteConfig) {
    self.remoteConfig = remoteConfig
    let settings = RemoteConfigSettings()
    settings.minimumFetchInterval = 0
    settings.fetchTimeout = 20
    remoteConfig.configSettings = settings
    let appDefaults: [String: Any?] = ["welcome_message": "Welcome", "welcome_message_caps": false, "attempts": 3]
    remoteConfig.setDefaults(appDefaults as? [String: NSObject])
  }

  func displayed() -> String {
    var welcomeMessage = remoteConfig["welcome_message"].stringValue
    if remoteConfig["welcome_message_caps"].boolValue { welcomeMessage = welcomeMessage.uppercased() }
    return welcomeMessage
  }

  func fetchThenActivate(_ completion: @escaping @Sendable (String) -> Void) {
    remoteConfig.fetch { (status, error) -> Void in
      if status == .success {
        self.remoteConfig.activate { changed, error in
          completion(self.displayed())
        }
      } else {
        print("Error: \(error?.localizedDescription ?? "No error available.")")
      }
    }
  }

  func both(_ completion: @escaping @Sendable (RemoteConfigFetchAndActivateStatus) -> Void) {
    remoteConfig.fetchAndActivate { status, error in
      guard error == nil else { return print("Error: \(error!)") }
      completion(status)
    }
  }

  func listen(_ keys: @escaping @Sendable (Set<String>) -> Void) {
    registration = remoteConfig.addOnConfigUpdateListener { configUpdate, error in
      guard let configUpdate, error == nil else {
        return print("Error listening for config updates: \(String(describing: error))")
      }
      self.remoteConfig.activate { changed, error in
        guard error == nil else { return }
        keys(configUpdate.updatedKeys)
      }
    }
  }

  func stop() { registration?.remove() }

  func modern() async throws -> (Int, RemoteConfigSource) {
    let status = try await remoteConfig.fetchAndActivate()
    switch status {
    case .successFetchedFromRemote, .successUsingPreFetchedData: break
    case .error: return (-1, .static)
    @unknown default: break
    }
    let value = remoteConfig.configValue(forKey: "attempts")
    return (value.numberValue.intValue, value.source)
  }
}
