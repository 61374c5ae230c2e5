/// The constants at which the transport's behaviour changes; production uses the defaults, tests draw small ones.
public struct TransportTuning: Sendable {
  /// The largest head of a message, in bytes; a larger one is refused with 431.
  public var headBytes = 16_384

  /// The largest number of fields of a head or of trailers.
  public var fieldCount = 100

  /// The longest target of a request, in bytes; a longer one is refused with 414.
  public var targetBytes = 8_192

  /// The longest line that begins a chunk, in bytes, its extensions included.
  public var chunkLineBytes = 256

  /// The number of bytes that are read from a socket at once.
  public var readBytes = 65_536

  /// The number of bytes that wait to be written, or were received and not taken, at which a connection is not read.
  public var backlogBytes = 262_144

  /// The number of bytes from which on an array is written as it is, shared by the connections that write it, and not
  /// copied into what else a connection writes.
  public var sharedBytes = 16_384

  /// The number of pipelined requests that are served before other connections have their turn.
  public var requestsPerTurn = 64

  /// The number of connections that are accepted before other connections have their turn.
  public var acceptsPerTurn = 64

  /// The number of readiness events that are taken from the system at once.
  public var eventsPerTurn = 256

  /// The number of jobs of tasks after which a loop looks at its sockets again; jobs that are enqueued before it is
  /// reached run in the same turn.
  public var jobsPerTurn = 256

  /// How long the jobs of a turn may take before the rest waits for the next turn; looked at after every few jobs.
  public var jobsTime = Duration.milliseconds(10)

  /// The largest number of open connections of a server; further ones wait in the system's queue.
  public var connectionLimit = 100_000

  /// The number of connections that the system queues for a listener.
  public var listenBacklog = 4_096

  /// How long the head of a request may take from its first byte on, and the first one from the opening on.
  public var headTimeout = Duration.seconds(20)

  /// How long the handshake of TLS may take, and the answer of a proxy.
  public var handshakeTimeout = Duration.seconds(10)

  /// The number of bytes of a handshake of TLS that are read before others have their turn; a handshake has fewer.
  public var handshakeBytes = 65_536

  /// The number of messages without data (new keys, tickets) that a peer of TLS may send at once after the handshake;
  /// the connection ends when there are more.
  public var tlsControlMessages = 100

  /// The number of such messages in a second, in the long run.
  public var tlsControlMessagesPerSecond = 1

  /// How often a listener looks whether the files of its certificates have changed.
  public var certificateInterval = Duration.seconds(60)

  /// How long after a change of the network its listeners are called again, once for all changes until then.
  public var networkSettling = Duration.milliseconds(500)

  /// The number of bytes of a file that are sent before other connections have their turn.
  public var fileBytesPerTurn = 2 << 20

  /// The number of sessions of TLS that a client keeps to resume, over all hosts.
  public var keptSessions = 1_024

  /// How long a body may stall.
  public var bodyTimeout = Duration.seconds(60)

  /// How long a connection may be idle between two requests.
  public var idleTimeout = Duration.seconds(75)

  /// How long a peer may take nothing of what is written to it.
  public var writeTimeout = Duration.seconds(60)

  /// How often time-outs are looked at.
  public var sweepInterval = Duration.milliseconds(500)

  /// How long no connection is accepted after the process had no file descriptor left.
  public var acceptPause = Duration.milliseconds(100)

  /// How long a connection that is closed by this side may take to send what it was sending, so that the peer reads the
  /// response and no reset.
  public var lingerTimeout = Duration.seconds(2)

  /// How long a client waits for a response unless the request says otherwise.
  public var responseTimeout = Duration.seconds(60)

  /// How long a client tries to open a connection.
  public var connectTimeout = Duration.seconds(10)

  /// How long an address may not answer before the next one of its host is tried as well.
  public var attemptDelay = Duration.milliseconds(250)

  /// How long a client keeps a connection that it does not use.
  public var clientIdleTimeout = Duration.seconds(30)

  /// The number of connections to a host that a client keeps on a loop while it does not use them.
  public var idleConnectionsPerHost = 16

  /// The number of streams of HTTP/2 that a peer may have open on a connection at a time.
  public var http2Streams = 100

  /// The number of bytes of a stream of HTTP/2 that the peer may send before they are taken.
  public var http2StreamWindow = 262_144

  /// The number of bytes of all streams of a connection that the peer may send before they are taken; at least 65,535.
  public var http2ConnectionWindow = 1 << 20

  /// The number of bytes of bodies that a connection of HTTP/2 gathers for handlers, of all its streams.
  public var http2CollectedBytes = 16 << 20

  /// The number of frames that carry nothing (pings, settings, priorities, window updates, empty data) which a peer may
  /// send at once beyond what the data that is sent to it explains; the connection ends when there are more.
  public var http2ControlFrames = 1_000

  /// The number of such frames in a second, in the long run.
  public var http2ControlFramesPerSecond = 200

  /// The number of streams that a client may reset at once, or make the server reset.
  public var http2Resets = 1_000

  /// The number of such streams in a second, in the long run.
  public var http2ResetsPerSecond = 100

  /// How long after the answer to a body that is too large the server says that it does not want the rest: clients that
  /// receive this at once may not read the answer.
  public var http2ResetDelay = Duration.milliseconds(100)

  /// The number of answers to pings and settings that may wait to be sent.
  public var http2QueuedFrames = 1_000

  /// The time without bytes of a peer with open streams before a sign of life is requested.
  public var http2PingInterval = Duration.seconds(60)

  /// The time without bytes while a client waits for responses before a sign of life is requested.
  public var clientPingInterval = Duration.seconds(30)

  /// How long a peer may take to answer a ping.
  public var http2PingTimeout = Duration.seconds(20)

  /// How often a request is sent that servers have certainly not served, the first time included.
  public var requestAttempts = 5

  /// How long a client waits after a server has refused a stream; twice as long after each further time.
  public var http2RefusalPause = Duration.milliseconds(20)

  /// The number of compressed bytes of a stream that are made before they are read.
  public var gzipBacklogBytes = 65_536

  /// The number of bytes that are made room for at a time when bytes are compressed to more than was foreseen.
  public var gzipRoomBytes = 16_384

  /// The number of bytes that are compressed or decompressed at once.
  public var gzipPieceBytes = 65_536

  /// The largest message of a WebSocket that a client accepts, in bytes.
  public var clientMessageBytes = 64 << 20

  /// The production figures.
  public init() {}
}
