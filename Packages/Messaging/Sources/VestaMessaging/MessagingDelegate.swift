public import Foundation

/// The delegate of ``Messaging``; called on the callback queue of the app's options, the main queue unless it was set.
///
/// All members are optional.
///
/// A class of the main actor conforms as it is, where the callback queue is the main queue: with `MainActor` as the
/// default isolation of its module, or as `@MainActor MessagingDelegate`.
public protocol MessagingDelegate: AnyObject {
  /// The registration token has changed; called once at the beginning with the token that is known.
  ///
  /// - Parameters:
  ///   - messaging: The instance that has the token.
  ///   - fcmToken: The token; `nil` after its removal.
  func messaging(_ messaging: Messaging, didReceiveRegistrationToken fcmToken: String?)

  /// The installation is registered under its id.
  func messaging(_ messaging: Messaging, didReceiveRegistration installationId: String?)

  /// The installation is no longer registered.
  func messaging(_ messaging: Messaging, didUnregister installationId: String)

  /// The service has dropped messages for this registration, because too many waited for it: fetch what they were
  /// about.
  ///
  /// - Parameters:
  ///   - messaging: The instance that receives the messages.
  ///   - count: The number of messages.
  func messaging(_ messaging: Messaging, didDropMessages count: Int)
}

extension MessagingDelegate {
  /// Does nothing.
  public func messaging(_ messaging: Messaging, didReceiveRegistrationToken fcmToken: String?) {}
  /// Does nothing.
  public func messaging(_ messaging: Messaging, didReceiveRegistration installationId: String?) {}
  /// Does nothing.
  public func messaging(_ messaging: Messaging, didUnregister installationId: String) {}
  /// Does nothing.
  public func messaging(_ messaging: Messaging, didDropMessages count: Int) {}
}

/// The delegate of a ``Messaging``, which does not keep it.
///
/// It is called on the callback queue and nowhere else.
// Sound as @unchecked Sendable: the reference is read and set under the lock of the state that it is part of.
struct DelegateReference: @unchecked Sendable {
  weak var object: (any MessagingDelegate)?
}

extension NSNotification.Name {
  /// Posted when the registration token has changed; its object is the token, if there is one.
  public static let MessagingRegistrationTokenRefreshed = NSNotification.Name(
    "com.firebase.messaging.notif.fcm-token-refreshed")

  /// Posted when the service has dropped messages because too many waited; its object is their number.
  public static let MessagingMessagesDeleted = NSNotification.Name("com.firebase.messaging.notif.messages-deleted")

  /// Posted when the installation is no longer registered; its object is the id of the installation.
  public static let messagingInstallationIdUnregistered = NSNotification.Name(
    "com.firebase.messaging.notif.installation-id-unregistered")
}
