public import VestaTransportInterop

/// The settings of a ``MessagingRemote`` and a ``MessagingAdminRemote``.
///
/// An app brings its own by a component that provides them.
public struct MessagingRemoteOptions: Sendable {
  /// Whether the service delivers to programs over a connection, as `vesta` does and Firebase does not.
  public var delivers: Bool

  /// The address at which messages are sent, where it is another one, as at Firebase.
  public var sendOrigin: HTTPURL?

  /// The address at which the owner manages topics, where it is another one, as at Firebase.
  public var topicOrigin: HTTPURL?

  /// The figures at which the behaviour changes.
  public var tuning: MessagingRemoteTuning

  /// Settings.
  ///
  /// - Parameters:
  ///   - delivers: Whether the service delivers to programs over a connection.
  ///   - tuning: The figures at which the behaviour changes.
  public init(delivers: Bool = true, tuning: MessagingRemoteTuning = MessagingRemoteTuning()) {
    self.delivers = delivers
    self.tuning = tuning
  }

  /// The settings for Firebase.
  public static var firebase: MessagingRemoteOptions {
    var options = MessagingRemoteOptions(delivers: false)
    options.sendOrigin = HTTPURL("https://fcm.googleapis.com")
    options.topicOrigin = HTTPURL("https://iid.googleapis.com")
    return options
  }
}

/// Every figure at which the behaviour of the remote backends changes; tests draw small ones.
public struct MessagingRemoteTuning: Sendable, Hashable {
  /// The time without any byte after which a connection counts as lost; a server sends a sign of life every 45 seconds.
  public var silence: Duration = .seconds(100)

  /// The most deliveries that wait for their receiver; a service sends 100 without an acknowledgement.
  public var maximumUnread = 10_000

  /// The largest event of a connection, in bytes.
  public var maximumEvent = 1 << 18

  /// The most messages of one call of the owner, as at Firebase.
  public var maximumMessages = 500

  /// The most messages of one call of the owner that are sent concurrently.
  public var parallelSends = 32

  /// Figures that suit `vesta`.
  public init() {}
}
