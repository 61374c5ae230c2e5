public import VestaFirestoreWire

/// The limits of the routes; small in tests.
public struct FirestoreEndpointTuning: Sendable {
  /// The largest request, in bytes; the service allows 10 MiB.
  public var requestBytes = 11 << 20

  /// The largest request that is read on the loop of its connection, in bytes.
  public var loopBytes = 256 << 10

  /// The largest number of responses of a listener that are written together on the loop of its connection.
  public var loopResponses = 1_000

  /// The largest number of responses of a listener that are written where they are made, on the thread that serves all
  /// listeners of a database.
  ///
  /// A commit has few responses, and the first results of a query are many. Responses of more than about `batchBytes`
  /// are written there only when another listener has them written already.
  public var inPlaceResponses = 16

  /// The largest body of a POST to a channel of writes, in bytes: a browser sends ten writes together, each of up to 10
  /// MiB, of which each byte may be escaped as three.
  public var channelBodyBytes = 330 << 20

  /// The number of bytes of writes that wait for the engine before no more of such a body are read.
  public var waitingWriteBytes = 32 << 20

  /// The number of bytes of responses that are gathered before they are sent at once, and after which a response over
  /// REST lets other connections of its loop proceed.
  public var batchBytes = 32_768

  /// The number of bytes of responses that wait for a slow caller before reading pauses; the version that a call reads
  /// is held for as long as it pauses.
  public var waitingBytes = 8 << 20

  /// The largest response over REST, in bytes; a larger one is `RESOURCE_EXHAUSTED`.
  public var responseBytes = 64 << 20

  /// The number of requests of a stream that wait for the engine before no more are read.
  public var pendingRequests = 16

  /// The operations of administration that are kept for each project.
  public var operations = 1_000

  /// The channels of browsers that may be open; one more is refused.
  public var webChannels = 10_000

  /// The figures of a channel; a browser confirms what it has with its next request, so large results need room.
  public var webChannel = largeWebChannel

  /// The pause after which a channel says something to a browser that waits; a session without requests ends after
  /// twice as long.
  public var keepAlive = Duration.seconds(30)

  /// The defaults.
  public init() {}

  private static var largeWebChannel: WebChannelMachine.Tuning {
    var tuning = WebChannelMachine.Tuning()
    tuning.maximumUnconfirmedBytes = 32 << 20
    return tuning
  }
}
