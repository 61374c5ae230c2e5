public import VestaDatabaseWire

/// The settings of a ``DatabaseRemote``; an app brings its own by a component that provides them.
public struct DatabaseRemoteOptions: Sendable {
  /// The domain in which each database has its host, such as `firebaseio.com`; `nil` for a server that serves
  /// all databases at its address.
  public var domain: String?

  /// Whether the host that a service names in its first message is used from then on.
  ///
  /// It is kept in memory, and forgotten when it cannot be reached.
  public var followsHosts: Bool

  /// Whether ID tokens of calls without a connection are part of the address, as Firebase wants them.
  public var sendsUserTokensInQuery: Bool

  /// The figures at which the behaviour changes.
  public var tuning: DatabaseRemoteTuning

  /// Settings.
  ///
  /// - Parameters:
  ///   - domain: The domain in which each database has its host.
  ///   - followsHosts: Whether the host that a service names is used from then on.
  ///   - sendsUserTokensInQuery: Whether ID tokens of calls without a connection are part of the address.
  ///   - tuning: The figures at which the behaviour changes.
  public init(
    domain: String? = nil, followsHosts: Bool = false, sendsUserTokensInQuery: Bool = false,
    tuning: DatabaseRemoteTuning = DatabaseRemoteTuning()
  ) {
    self.domain = domain
    self.followsHosts = followsHosts
    self.sendsUserTokensInQuery = sendsUserTokensInQuery
    self.tuning = tuning
  }

  /// The settings for Firebase: a host for each database, which names the machine that serves it.
  public static var firebase: DatabaseRemoteOptions {
    DatabaseRemoteOptions(domain: "firebaseio.com", followsHosts: true, sendsUserTokensInQuery: true)
  }
}

/// Every figure at which the behaviour of a ``DatabaseRemote`` changes; tests draw small ones.
public struct DatabaseRemoteTuning: Sendable, Hashable {
  /// The figures of the codec.
  public var wire = DatabaseWireTuning()

  /// The largest request of a connection, in bytes: a larger one would end each connection that it is sent on.
  public var requestBytes = 32 << 20

  /// How long a connection may take to open.
  public var openingTime = Duration.seconds(30)

  /// The time after which a connection on which nothing is sent has a sign of life, and one on which nothing arrives is
  /// asked for one.
  public var keepAlive = Duration.seconds(45)

  /// How long a sign of life may take; the connection is lost then.
  public var answerTime = Duration.seconds(30)

  /// The most bytes of an answer without a connection, such as an export.
  public var answerBytes = 256 << 20

  /// The number of rows of a part of an export.
  public var exportRows = 1_000

  /// The figures of upstream's clients.
  public init() { wire.maximumMessageBytes = 256 << 20 }
}
