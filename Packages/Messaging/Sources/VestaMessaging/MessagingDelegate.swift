public import Foundation

/// The delegate of ``Messaging``; called on the callback queue of the app's options, the main queue unless it was set.
///
/// All members are optional.
@preconcurrency
public protocol MessagingDelegate: AnyObject, Sendable {
  /// The registration token has changed; called once at the beginning with the token that is known.
  ///
  /// - Parameters:
  ///   - messaging: The instance that has the token.
  ///   - fcmToken: The token; `nil` when there is none any more.
  func messaging(_ messaging: Messaging, didReceiveRegistrationToken fcmToken: String?)

  /// The installation is registered under its id.
  func messaging(_ messaging: Messaging, didReceiveRegistration installationId: String?)

  /// The installation is not registered any more.
  func messaging(_ messaging: Messaging, didUnregister installationId: String)
}

extension MessagingDelegate {
  /// Does nothing.
  public func messaging(_ messaging: Messaging, didReceiveRegistrationToken fcmToken: String?) {}
  /// Does nothing.
  public func messaging(_ messaging: Messaging, didReceiveRegistration installationId: String?) {}
  /// Does nothing.
  public func messaging(_ messaging: Messaging, didUnregister installationId: String) {}
}

extension NSNotification.Name {
  /// Posted when the registration token has changed; its object is the token, if there is one.
  public static let MessagingRegistrationTokenRefreshed = NSNotification.Name(
    "com.firebase.messaging.notif.fcm-token-refreshed")

  /// Posted when the installation is not registered any more; its object is the id of the installation.
  public static let messagingInstallationIdUnregistered = NSNotification.Name(
    "com.firebase.messaging.notif.installation-id-unregistered")
}
