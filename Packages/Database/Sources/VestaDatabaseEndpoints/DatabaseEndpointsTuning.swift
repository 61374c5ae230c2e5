public import VestaDatabaseWire

/// Every figure at which the behaviour of ``DatabaseEndpoints`` changes; tests draw small ones.
public struct DatabaseEndpointsTuning: Sendable, Hashable {
  /// The figures of the codec.
  public var wire = DatabaseWireTuning()

  /// The most bytes of a body, also when it is decompressed.
  public var bodyLimit = 32 << 20

  /// The time after which a silent stream of events has an event that says that it is open.
  public var keepAlive = Duration.seconds(30)

  /// The size of the messages that may wait for a client, as its link estimates it; a client that lags more
  /// loses its connection, and asks again when it connects again.
  public var backlog = 16 << 20

  /// The number of requests of a connection that may wait for their replies; further ones are not read.
  public var requestLimit = 1_000

  /// The bytes of the requests of a connection that may wait for their replies.
  public var requestBytes = 32 << 20

  /// How long a poll waits for something to send: longer than clients wait before they send the next one.
  public var pollLength = Duration.seconds(45)

  /// The time after which a session of long polling ends that is not polled.
  public var pollPause = Duration.seconds(60)

  /// The largest number of sessions of long polling.
  public var sessionLimit = 10_000

  /// Figures that suit upstream's clients.
  public init() { wire.maximumMessageBytes = 32 << 20 }
}
