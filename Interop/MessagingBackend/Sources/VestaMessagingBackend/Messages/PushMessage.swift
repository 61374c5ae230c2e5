public import VestaBytes

/// A message in the format of FCM's v1 API: whom it is for, what it says, and what is different on each platform.
///
/// ```swift
/// let message = PushMessage(to: .topic("news"), notification: PushNotification(title: "Hello"), data: ["id": "5"])
/// ```
public struct PushMessage: Sendable, Hashable {
  /// The recipients of a message.
  public enum Target: Sendable, Hashable {
    /// One registration.
    case token(String)
    /// All registrations that are subscribed to a topic.
    case topic(String)
    /// All registrations whose topics fulfil a condition, such as `'a' in topics && !('b' in topics)`.
    case condition(String)
    /// One installation.
    case installation(String)
  }

  /// The recipients of the message.
  public var target: Target

  /// Data for the app.
  public var data: [String: String]

  /// The notification that is shown to the user.
  public var notification: PushNotification?

  /// The overrides for Android, with the names of the v1 API in snake case.
  public var android: JSONObject?

  /// The overrides for APNs.
  public var apns: JSONObject?

  /// The overrides for the web.
  public var webpush: JSONObject?

  /// Options for all platforms.
  public var fcmOptions: JSONObject?

  /// A message.
  public init(
    to target: Target, notification: PushNotification? = nil, data: [String: String] = [:],
    android: JSONObject? = nil, apns: JSONObject? = nil, webpush: JSONObject? = nil, fcmOptions: JSONObject? = nil
  ) {
    self.target = target
    self.notification = notification
    self.data = data
    self.android = android
    self.apns = apns
    self.webpush = webpush
    self.fcmOptions = fcmOptions
  }
}

/// The notification that is shown to the user.
public struct PushNotification: Sendable, Hashable {
  /// The title.
  public var title: String?
  /// The text.
  public var body: String?
  /// The address of a picture.
  public var image: String?

  /// A notification.
  public init(title: String? = nil, body: String? = nil, image: String? = nil) {
    self.title = title
    self.body = body
    self.image = image
  }
}
