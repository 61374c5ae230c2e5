import FirebaseCore
import FirebaseMessaging
import Foundation

// A program as users of the Firebase SDK write it, with Messaging.

// Sound as @unchecked Sendable: used by one test at a time.
final class Postbox: NSObject, MessagingDelegate, @unchecked Sendable {
  let messaging: Messaging
  private let received: @Sendable (String) -> Void

  init(messaging: Messaging, received: @escaping @Sendable (String) -> Void) {
    self.messaging = messaging
    self.received = received
    super.init()
    messaging.delegate = self
  }

  func messaging(_ messaging: Messaging, didReceiveRegistrationToken fcmToken: String?) {
    let dataDict: [String: String] = ["token": fcmToken ?? ""]
    NotificationCenter.default.post(name: Notification.Name("FCMToken"), object: nil, userInfo: dataDict)
    received(fcmToken ?? "")
  }

  func fetchToken(_ completion: @escaping @Sendable (String?) -> Void) {
    messaging.token { token, error in
      if let error = error {
        print("Error fetching FCM registration token: \(error)")
      } else if let token = token {
        completion(token)
      }
    }
  }

  func join(_ topic: String, _ completion: @escaping @Sendable (MessagingError.Code?) -> Void) {
    messaging.subscribe(toTopic: topic) { error in
      guard let error = error as NSError? else { return completion(nil) }
      completion(MessagingError.Code(rawValue: error.code))
    }
  }

  func leave(_ topic: String, _ completion: @escaping @Sendable (Error?) -> Void) {
    messaging.subscribe(toTopic: "unused")
    messaging.unsubscribe(fromTopic: topic) { error in completion(error) }
  }

  func reset(_ completion: @escaping @Sendable (Error?) -> Void) {
    messaging.deleteToken { error in completion(error) }
  }

  func modern() async throws -> Bool {
    messaging.isAutoInitEnabled = true
    let token = try await messaging.token()
    try await messaging.subscribe(toTopic: "weather")
    try await messaging.unsubscribe(fromTopic: "weather")
    return messaging.fcmToken == token
  }
}
