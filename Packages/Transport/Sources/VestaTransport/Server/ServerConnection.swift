import VestaConcurrency
import VestaTransportInterop

/// A connection of a server that speaks HTTP/1.1, until it becomes a WebSocket or ends, or HTTP/2 from its first byte.
///
/// One request at a time: pipelined requests are kept, up to the backlog, and beyond it stay in the socket.
// Sound as @unchecked Sendable: it is touched on the thread of its loop alone.
final class ServerConnection: SocketConnection, @unchecked Sendable {
  /// The current work of the connection.
  enum Phase {
    /// Waits for a request, or has a part of its head.
    case idle
    /// Gathers the body before the handler is called.
    case collecting(limit: Int)
    /// A task makes the response.
    case replying
    /// The body of the response is a stream.
    case sending(ByteStream)
    case webSocket(WebSocketSession)
    case http2(HTTP2ServerSession)
  }

  let listener: ServerListener
  var phase = Phase.idle
  var machine: RequestMachine
  var request: RequestMachine.Head?
  /// The body that is gathered.
  var body: [UInt8] = []
  /// The body of the request while a handler reads it.
  var incoming: ByteStream?
  var isIncomingFull = false
  var framing = MessageWriter.Framing.none
  var task: Task<Void, Never>?
  var peer: TransportPeer?
  var closesAfterReply = false
  /// Whether the listener shuts down.
  var isEnding = false
  var requestsInTurn = 0

  init(_ descriptor: Int32, _ listener: ServerListener, _ loop: EventLoop, security: TLSSession? = nil) {
    self.listener = listener
    machine = RequestMachine(loop.tuning)
    super.init(descriptor, loop, security: security)
    deadline = loop.now + loop.times.head
  }

  // MARK: Reading

  override var takesInput: Bool {
    switch phase {
    case .idle: requestsInTurn < tuning.requestsPerTurn && output.count < tuning.backlogBytes && !closesWhenWritten
    case .collecting: true
    case .replying, .sending: machine.isInBody && !isIncomingFull
    case .webSocket(let session): session.takesInput
    case .http2(let session): session.takesInput
    }
  }

  override func turnEnded() {
    if case .http2(let session) = phase { return session.turnEnded() }
    let hasMore = !kept.isEmpty && (requestsInTurn >= tuning.requestsPerTurn || hasEndedBody)
    (requestsInTurn, hasEndedBody) = (0, false)
    // Served as many as a turn allows, or became free while it wrote: it continues in the next one.
    if hasMore { return perform {} }
    // The peer sends no more of what is not whole, and has its answers.
    if hasPeerFinished, !isLingering, case .idle = phase { close(lingers: false) }
  }

  override func consume(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    if isUndecided {
      guard let isHTTP2 = beginsWithPreface(bytes) else { return 0 }
      choose(isHTTP2 ? .http2 : .http1)
    }
    var index = 0
    // The end after the last byte is said at once, however much the reader lags: no later event would report it.
    while takesInput || machine.isAtEndOfBody, !isClosed, !isLingering, !closesWhenWritten {
      switch phase {
      case .webSocket(let session):
        if index < bytes.count { session.receive(UnsafeBufferPointer(rebasing: bytes[index...])) }
        return bytes.count
      case .http2(let session):
        if index < bytes.count { session.receive(UnsafeBufferPointer(rebasing: bytes[index...])) }
        return bytes.count
      default: break
      }
      do {
        switch try machine.step(bytes, from: index) {
        case .head(let head, let used):
          index += used
          began(head)
        case .body(let range, let used):
          index += used
          received(UnsafeBufferPointer(rebasing: bytes[range]))
        case .end(let trailers, let used):
          index += used
          bodyEnded(trailers)
        case .used(let used): index += used
        case .needsMore:
          // The time for a head runs from its first byte on.
          if case .idle = phase, index < bytes.count, kept.isEmpty, !isHeadBegun {
            isHeadBegun = true
            deadline = loop.now + loop.times.head
          }
          return index
        }
      } catch {
        refuse(error)
        return bytes.count
      }
    }
    // After the last answer nothing more is served, also not the rest of a body that was refused.
    return closesWhenWritten ? bytes.count : index
  }

  var isHeadBegun = false
  /// Whether a body has ended in this turn, after the turn had looked at what was received.
  private var hasEndedBody = false
  /// Whether the first bytes, or TLS, have not said yet which protocol is spoken.
  var isUndecided = true

  override var keepsForReader: Bool { if case .webSocket(let session) = phase { !session.takesInput } else { false } }

  override func sweep(_ now: Int64) {
    super.sweep(now)
    if case .http2(let session) = phase, session.isDue(now) { turn { session.sweep(now) } }
  }

  override func peerFinished() {
    switch phase {
    // The turn that runs answers what was received, and ends the connection.
    case .idle: break
    case .collecting: end()
    // A lost peer and one that only listens look the same; waiting for a lost one would cost more.
    case .webSocket, .http2, .replying, .sending: abort()
    }
  }

  override func timedOut() {
    switch phase {
    case .idle where isHeadBegun: turn { refuse(ProtocolFailure(408, "the request is late")) }
    case .collecting: turn { refuse(ProtocolFailure(408, "the body is late")) }
    default: abort()
    }
  }

  // MARK: Writing

  override func pump() {
    switch phase {
    case .webSocket(let session): session.pump()
    case .http2(let session): session.pump()
    case .sending(let stream) where file == nil: pump(stream)
    default: break
    }
  }

  override func fileSent() { if case .sending = phase { afterBody() } }

  /// The body of a response was written, or waits to be: a request that was received in between is next.
  func afterBody() {
    hasEndedBody = true
    afterReply()
  }

  // MARK: The end

  /// Answers a client that speaks in clear where TLS is spoken.
  func refuseClear() { turn { refuse(ProtocolFailure(400, "this port speaks TLS: use https")) } }

  /// Ends the exchange that runs, and then the connection.
  func shutDown() {
    isEnding = true
    turn {
      switch phase {
      case .idle where !isHeadBegun: close(lingers: false)
      case .webSocket(let session): session.goAway()
      case .http2(let session): session.shutDown()
      default: break
      }
    }
  }

  override func ended() {
    let lost = TransportError(.connectionLost, "The connection ended.")
    switch phase {
    case .webSocket(let session): session.connectionEnded()
    case .http2(let session): session.connectionEnded()
    case .sending(let stream): stream.cancel()
    default: break
    }
    phase = .idle
    incoming?.fail(lost)
    incoming = nil
    body = []
    task?.cancel()
    task = nil
    listener.hasClosed()
  }
}
