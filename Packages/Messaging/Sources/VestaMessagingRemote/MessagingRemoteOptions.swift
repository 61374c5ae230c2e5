/// The settings of a ``MessagingRemote``; an app brings its own by a component that provides them.
public struct MessagingRemoteOptions: Sendable {
  /// Whether the service delivers to programs over a connection, as `vesta` does and Firebase does not.
  public var delivers: Bool

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
  public static var firebase: MessagingRemoteOptions { MessagingRemoteOptions(delivers: false) }
}

/// Every figure at which the behaviour of a ``MessagingRemote`` changes; tests draw small ones.
public struct MessagingRemoteTuning: Sendable, Hashable {
  /// The time without any byte after which a connection counts as lost; a server gives a sign of life every 45 seconds.
  public var silence: Duration = .seconds(100)

  /// The most deliveries that wait for their receiver; a service sends 100 without an acknowledgement.
  public var maximumUnread = 10_000

  /// The largest event of a connection, in bytes.
  public var maximumEvent = 1 << 18

  /// Figures that suit `vesta`.
  public init() {}
}
