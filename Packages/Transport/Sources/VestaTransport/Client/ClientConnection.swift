import VestaTransportInterop

/// A connection of a client: one exchange at a time, a WebSocket, or nothing while it is kept.
// Sound as @unchecked Sendable: it is touched on the thread of its loop alone.
final class ClientConnection: SocketConnection, ExchangeCarrier, @unchecked Sendable {
  let route: Route
  private let pool: HostPool
  private var machine: ResponseMachine
  private var exchange: ClientExchange?
  /// The body of the request that is still being sent.
  private var outgoing: ByteStream?
  private var isChunked = false
  /// The body of the response that is still being read.
  private var incoming: ByteStream?
  private var isIncomingFull = false
  private var session: WebSocketSession?
  private var keepsAlive = true
  private var closing: TransportError?

  init(_ opened: OpenedSocket, _ loop: EventLoop, _ pool: HostPool, _ route: Route) {
    self.pool = pool
    self.route = route
    machine = ResponseMachine(loop.tuning)
    super.init(opened.descriptor, loop, security: opened.security)
  }

  // MARK: Sending

  func begin(_ exchange: ClientExchange) {
    self.exchange = exchange
    exchange.connection = self
    keepsAlive = true
    deadline = .max
    machine.method = exchange.request.method
    turn {
      let request = exchange.request
      MessageWriter.head(
        route.isTunnel ? request : route.forProxy(request), framing(of: request),
        exchange.webSocket == nil ? .usual : .upgrade, into: &output.tail)
      beginBody(of: exchange)
    }
  }

  private func beginBody(of exchange: ClientExchange) {
    switch exchange.request.body {
    case .empty: exchange.isSent = true
    case .bytes(let bytes):
      output.append(bytes)
      exchange.isSent = true
    case .stream(let stream, let length):
      outgoing = stream
      isChunked = length == nil
      stream.pipe.setReadable { [weak self] in self?.writeSoon() }
    }
  }

  private func framing(of request: HTTPRequest) -> MessageWriter.Framing {
    switch request.body {
    case .empty:
      ["POST", "PUT", "PATCH"].contains(request.method.name) ? .length(0) : .none
    case .bytes(let bytes): .length(bytes.count)
    case .stream(_, let length?): .length(length)
    case .stream(_, nil): .chunked
    }
  }

  override func pump() {
    if let session { return session.pump() }
    guard let stream = outgoing else { return }
    while output.count < tuning.backlogBytes {
      switch stream.pipe.take() {
      case .element(let bytes):
        guard !bytes.isEmpty else { continue }
        if isChunked { MessageWriter.chunk(bytes.count, into: &output.tail) }
        output.append(bytes)
        if isChunked { MessageWriter.chunkEnd(into: &output.tail) }
      case .nothingYet: return
      case .ended(nil):
        if isChunked { MessageWriter.end(trailers: stream.trailers, into: &output.tail) }
        outgoing = nil
        exchange?.isSent = true
        return
      case .ended(let error?):
        outgoing = nil
        exchange?.fail(error)
        return abort()
      }
    }
  }

  // MARK: Receiving

  override var takesInput: Bool { session?.takesInput ?? !isIncomingFull }

  override func consume(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var index = 0
    // The end after the last byte is said at once, however much the reader lags: no later event would report it.
    while takesInput || machine.isAtEndOfBody, !isClosed, !isLingering {
      if let session {
        if index < bytes.count { session.receive(UnsafeBufferPointer(rebasing: bytes[index...])) }
        return bytes.count
      }
      guard exchange != nil else {
        // Bytes without a request: whatever they are, they answer none.
        if index < bytes.count { abort() }
        return bytes.count
      }
      do {
        switch try machine.step(bytes, from: index) {
        case .head(let head, let used):
          index += used
          received(head)
        case .body(let range, let used):
          index += used
          received(UnsafeBufferPointer(rebasing: bytes[range]))
        case .end(let trailers, let used):
          index += used
          finishResponse(trailers)
        case .used(let used): index += used
        case .needsMore: return index
        }
      } catch {
        fail(TransportError(.protocolViolation, "The server has sent \(error.reason)."))
        return bytes.count
      }
    }
    return index
  }

  private func received(_ head: ResponseMachine.Head) {
    guard let exchange else { return }
    exchange.hasResponse = true
    if head.status == 101 { return changeProtocol(head, exchange) }
    if head.status.isInterim { return }
    keepsAlive = head.keepsAlive
    guard let framing = head.body else {
      exchange.succeed(.response(HTTPResponse(head.status, fields: head.fields)))
      return finishExchange()
    }
    let stream = incomingStream()
    incoming = stream
    let length: Int? = if case .length(let length) = framing { length } else { nil }
    exchange.succeed(
      .response(HTTPResponse(head.status, fields: head.fields, body: .stream(stream, length: length))))
  }

  /// A stream for the body of a response, whose reader makes the connection read on when there is room again.
  private func incomingStream() -> ByteStream {
    let stream = ByteStream(limit: tuning.backlogBytes)
    stream.pipe.setDemand(
      { [weak self, weak stream] in
        guard let self, let stream else { return }
        perform { if self.incoming === stream { self.isIncomingFull = false } }
      },
      onCancel: { [weak self] in
        guard let self else { return }
        perform { self.readerLeft(stream) }
      })
    return stream
  }

  private func received(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let incoming else { return }
    if !incoming.offer(Array(bytes)), !incoming.pipe.isCancelled { isIncomingFull = true }
  }

  private func readerLeft(_ stream: ByteStream) { if incoming === stream { abort() } }

  private func finishResponse(_ trailers: HTTPFields) {
    let stream = incoming
    incoming = nil
    isIncomingFull = false
    stream?.finish(trailers: trailers)
    finishExchange()
  }

  /// The exchange is over: the connection is kept, if both sides are through with it.
  private func finishExchange() {
    guard let exchange else { return }
    self.exchange = nil
    if !exchange.isSent {
      // The server has answered before the end of the request, and does not want the rest.
      outgoing?.cancel()
      outgoing = nil
      return abort()
    }
    guard keepsAlive else { return close(lingers: false) }
    deadline = loop.now + loop.times.clientIdle
    pool.keep(self)
  }

  private func changeProtocol(_ head: ResponseMachine.Head, _ exchange: ClientExchange) {
    guard let opening = exchange.webSocket,
      let subprotocol = WebSocketHandshake.agreed(head.fields, key: opening.key, offered: opening.subprotocols)
    else { return fail(TransportError(.protocolViolation, "The server has not opened the WebSocket as it must.")) }
    let socket = WebSocket(subprotocol: subprotocol.name, limit: tuning.backlogBytes)
    let session = WebSocketSession(self, socket, .client, messageLimit: tuning.clientMessageBytes)
    self.session = session
    self.exchange = nil
    session.start()
    exchange.succeed(.webSocket(socket))
  }

  // MARK: The end

  override var keepsForReader: Bool { !takesInput }

  override func peerFinished() {
    // Without TLS's word that nothing is missing, an attacker may have cut the body off.
    if incoming != nil, !isCutOff, machine.connectionEnded() {
      keepsAlive = false
      return finishResponse([:])
    }
    end()
  }

  override func timedOut() { end() }

  func abandon(_ exchange: ClientExchange) { abort() }

  /// Ends the exchange that runs with an error.
  func close(_ error: TransportError) {
    closing = error
    if let session { session.goAway() }
    exchange?.fail(error)
    abort()
  }

  private func fail(_ error: TransportError) {
    closing = error
    exchange?.fail(error)
    abort()
  }

  override func ended() {
    let lost = closing ?? TransportError(.connectionLost, "The connection ended in the middle of a response.")
    incoming?.fail(lost)
    incoming = nil
    outgoing?.cancel()
    outgoing = nil
    session?.connectionEnded()
    session = nil
    let exchange = self.exchange
    self.exchange = nil
    pool.forget(self, exchange)
  }
}
