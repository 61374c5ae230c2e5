import FirebaseCore
import FirebaseMessaging
import Foundation

// A program as users of the Firebase SDK write it: registration by installation, errors by code, messages
// of the system.

// Sound as @unchecked Sendable: used by one test at a time.
final class RegistrationModel: NSObject, MessagingDelegate, @unchecked Sendable {
  let messaging: Messaging
  private let changed: @Sendable (String) -> Void

  init(messaging: Messaging, changed: @escaping @Sendable (String) -> Void) {
    self.messaging = messaging
    self.changed = changed
    super.init()
    messaging.delegate = self
  }

  func messaging(_ messaging: Messaging, didReceiveRegistration installationId: String?) {
    changed("registered \(installationId ?? "none")")
  }

  func messaging(_ messaging: Messaging, didUnregister installationId: String) {
    changed("unregistered \(installationId)")
  }

  /// Registers the installation, where the app's settings allow it; otherwise asks for a token, as before.
  func register(_ completion: @escaping @Sendable (String) -> Void) {
    messaging.register { error in
      guard let error = error as NSError? else { return completion("registered") }
      guard MessagingError.Code(rawValue: error.code) == .invalidRequest else { return completion("\(error)") }
      self.messaging.token { token, error in
        completion(token == nil ? "nothing" : "token")
      }
    }
  }

  func token(for sender: String, _ completion: @escaping @Sendable (String?, MessagingError.Code?) -> Void) {
    messaging.retrieveFCMToken(forSenderID: sender) { token, error in
      guard let error = error as? MessagingError else { return completion(token, nil) }
      completion(nil, error.code)
    }
  }

  func received(_ userInfo: [AnyHashable: Any]) -> Bool {
    switch messaging.appDidReceiveMessage(userInfo).status {
    case .new: return true
    case .unknown: return false
    @unknown default: return false
    }
  }

  func subscribe(_ topic: String) async -> String {
    do {
      try await messaging.subscribe(toTopic: topic)
      return "subscribed"
    } catch MessagingError.invalidTopicName {
      return "invalid name"
    } catch {
      let error = error as NSError
      guard error.domain == MessagingErrorDomain else { return "another domain" }
      switch MessagingError.Code(rawValue: error.code) {
      case .network, .timeout: return "try again"
      case .invalidRequest: return "invalid"
      default: return error.localizedDescription
      }
    }
  }

  func leave() async throws {
    try? await messaging.unregister()
    try await messaging.deleteToken()
    try await messaging.deleteData()
  }
}
