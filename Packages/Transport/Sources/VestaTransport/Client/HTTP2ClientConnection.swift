import VestaConcurrency
import VestaTransportInterop

/// A connection of a client that speaks HTTP/2: many exchanges at a time, as many as the server accepts.
// Sound as @unchecked Sendable: it is touched on the thread of its loop alone.
final class HTTP2ClientConnection: SocketConnection, ExchangeCarrier, @unchecked Sendable {
  let route: Route
  let pool: HostPool
  let session: HTTP2Session
  /// Exchanges for which the server has no stream yet.
  private var waiting = Fifo<ClientExchange>()
  private var receivedAt: Int64
  private var pingedAt = Int64.max
  /// Whether nothing has been received since a stream began: a server is silent also where callers do not wait for it.
  private var isSilent = false
  private var emptySince: Int64
  private var closing: TransportError?
  /// Whether new exchanges are refused here.
  private(set) var isLeaving = false

  init(_ opened: OpenedSocket, _ loop: EventLoop, _ pool: HostPool, _ route: Route) {
    self.pool = pool
    self.route = route
    session = HTTP2Session(.client, loop.tuning, now: loop.now)
    receivedAt = loop.now
    emptySince = loop.now
    super.init(opened.descriptor, loop, security: opened.security)
  }

  // MARK: Sending

  func begin(_ exchange: ClientExchange) {
    // Of several that wait for a connection the first may find that the peer has ended it.
    guard !isClosed else { return pool.forget(self, exchange, isRefused: true) }
    waiting.append(exchange)
    turn {}
  }

  /// Begins as many exchanges as the server accepts.
  private func beginWaiting() {
    while !isLeaving, session.streams.count < max(1, session.peerStreamLimit), let exchange = waiting.popFirst() {
      guard !exchange.isOver else { continue }
      guard session.canRequest, let id = session.request(exchange.request) else {
        isLeaving = true
        pool.leave(self)
        pool.forget(self, exchange, isRefused: true)
        break
      }
      let stream = HTTP2ClientStream(id, exchange)
      exchange.connection = self
      exchange.isSent = true
      if session.streams.isEmpty, !isSilent { pingedAt = .max; receivedAt = loop.now }
      isSilent = true
      session.streams[id] = stream
      guard exchange.request.body.length != 0 else { continue }
      stream.progressedAt = loop.now
      stream.send(exchange.request.body, trailers: [:])
      guard case .stream(let body, _) = exchange.request.body else { continue }
      body.pipe.setReadable { [weak self, weak stream] in
        guard let self, let stream else { return }
        resumeSoon(stream)
      }
    }
    if isLeaving { moveWaiting() }
  }

  private func resumeSoon(_ stream: HTTP2ClientStream) {
    guard loop.isCurrent else { return perform { self.session.resume(stream) } }
    session.resumeLater(stream)
    writeSoon()
  }

  /// Hands what has not begun to another connection.
  private func moveWaiting() {
    while let exchange = waiting.popFirst() { pool.forget(self, exchange, isRefused: true) }
  }

  override func pump() {
    session.now = loop.now
    beginWaiting()
    if !session.produce(into: &output.tail, limit: tuning.backlogBytes) { return abort() }
    if !session.events.isEmpty { takeEvents() }
  }

  override func turnEnded() {
    if output.isEmpty, session.isOver { close(lingers: false) }
  }

  // MARK: Receiving

  override func consume(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    session.now = loop.now
    receivedAt = loop.now
    pingedAt = .max
    if !session.receive(bytes) {
      fail(TransportError(.protocolViolation, "The server does not speak HTTP/2."))
    } else {
      takeEvents()
    }
    isSilent = !session.streams.isEmpty
    return bytes.count
  }

  private func takeEvents() {
    var batch: [HTTP2Session.Event] = []
    swap(&batch, &session.events)
    for event in batch where !isClosed { take(event) }
    batch.removeAll(keepingCapacity: batch.count <= 256)
    if session.events.isEmpty { swap(&batch, &session.events) }
  }

  private func stream(_ id: Int32) -> HTTP2ClientStream? {
    // Every stream of a client's session is one of these.
    session.streams[id].map { unsafeDowncast($0, to: HTTP2ClientStream.self) }
  }

  private func take(_ event: HTTP2Session.Event) {
    switch event {
    case .head(let id, let head, let isLast): if let stream = stream(id) { received(head, on: stream, isLast: isLast) }
    case .body(let id, let bytes):
      // The window of the connection is given back at once: a reader who lags holds up its stream and no other.
      session.consumeConnection(bytes.count)
      if let stream = stream(id) { received(bytes, on: stream) }
    case .trailers(let id, let fields):
      stream(id)?.incoming?.finish(trailers: fields)
      stream(id)?.incoming = nil
    case .end(let id):
      stream(id)?.incoming?.finish()
      stream(id)?.incoming = nil
    case .closed(let id, let code): if let stream = stream(id) { closed(stream, code) }
    case .goAway(_, let code):
      // Streams that the server has not seen are closed by the session as refused.
      if code != .noError { closing = TransportError(.connectionLost, "The server has ended the connection: \(code).") }
      isLeaving = true
      pool.leave(self)
      moveWaiting()
    case .pong: break
    }
  }

  private func received(_ head: HTTP2Head, on stream: HTTP2ClientStream, isLast: Bool) {
    let exchange = stream.exchange
    if head.problem != nil || stream.incoming != nil {
      exchange.fail(TransportError(.protocolViolation, "The server has sent a head that is not valid or too large."))
      stream.incoming?.fail(TransportError(.protocolViolation, "The server has sent trailers that are not valid."))
      stream.incoming = nil
      return session.reset(stream.id, .protocolError)
    }
    exchange.hasResponse = true
    guard !HTTPStatus(head.status).isInterim else { return }
    if isLast { return exchange.succeed(.response(HTTPResponse(HTTPStatus(head.status), fields: head.fields))) }
    let incoming = ByteStream(limit: max(1, tuning.http2StreamWindow / 4))
    stream.incoming = incoming
    incoming.pipe.setDemand(
      { [weak self, weak stream] in
        guard let self, let stream else { return }
        perform { self.readerGoesOn(stream) }
      },
      onCancel: { [weak self, weak stream] in
        guard let self, let stream else { return }
        perform { self.leave(stream) }
      })
    exchange.succeed(
      .response(
        HTTPResponse(HTTPStatus(head.status), fields: head.fields, body: .stream(incoming, length: head.length))))
  }

  private func received(_ bytes: [UInt8], on stream: HTTP2ClientStream) {
    guard let incoming = stream.incoming else { return }
    let goesOn = incoming.offer(bytes)
    stream.unconsumed += bytes.count
    if goesOn { readerGoesOn(stream) }
  }

  private func readerGoesOn(_ stream: HTTP2ClientStream) {
    guard stream.unconsumed > 0, !stream.isClosed else { return }
    if !stream.isRemoteEnded { session.consume(stream.unconsumed, of: stream.id) }
    stream.unconsumed = 0
  }

  // MARK: The end of a stream

  /// The caller, or the reader of the response, has left.
  private func leave(_ stream: HTTP2ClientStream) {
    guard !stream.isClosed else { return }
    session.reset(stream.id, .cancel)
  }

  func abandon(_ exchange: ClientExchange) {
    for case let stream as HTTP2ClientStream in session.streams.values where stream.exchange === exchange {
      return turn { leave(stream) }
    }
  }

  private func closed(_ stream: HTTP2ClientStream, _ code: HTTP2Code) {
    session.streams[stream.id] = nil
    stream.isClosed = true
    if session.streams.isEmpty { emptySince = loop.now }
    if !stream.exchange.isOver, !stream.isHeadSent { return forgetUnsent(stream) }
    if !stream.isLocalEnded { stream.stopSending() }
    let lost = TransportError(.connectionLost, "The server has ended the stream: \(code).")
    stream.incoming?.fail(lost)
    stream.incoming = nil
    guard !stream.exchange.isOver else { return }
    let isRefused = code == .refusedStream && !stream.exchange.hasResponse
    if isRefused {
      pool.forget(self, stream.exchange, isRefused: true, isBusy: !isLeaving)
    } else {
      stream.exchange.fail(lost)
    }
  }

  /// Sends an exchange elsewhere of which nothing has left: the connection ended while earlier ones were being written.
  private func forgetUnsent(_ stream: HTTP2ClientStream) {
    stream.exchange.isSent = false
    pool.forget(self, stream.exchange, isRefused: true)
  }

  // MARK: Time

  override func sweep(_ now: Int64) {
    super.sweep(now)
    guard !isClosed else { return }
    dropEnded()
    if session.streams.isEmpty, waiting.isEmpty {
      if now - emptySince >= loop.times.clientIdle, !isLeaving { return turn { leave() } }
      guard isSilent else { return }
    }
    if pingedAt != .max {
      guard now - pingedAt >= tuning.http2PingTimeout.nanoseconds else { return }
      return fail(TransportError(.connectionLost, "The server has not answered a ping."))
    }
    guard now - receivedAt >= tuning.clientPingInterval.nanoseconds else { return }
    pingedAt = now
    turn { session.ping() }
  }

  /// Lets go of exchanges that have ended while they waited: the server may have no stream for them for long.
  private func dropEnded() {
    guard !waiting.isEmpty else { return }
    for exchange in waiting.takeAll() where !exchange.isOver { waiting.append(exchange) }
  }

  // MARK: The end

  private func leave() {
    isLeaving = true
    pool.leave(self)
    session.goAway()
  }

  /// Takes no further exchanges, and ends after the running ones: the way to the server may be another one now.
  func retire() {
    guard !isClosed, !isLeaving else { return }
    turn {
      leave()
      moveWaiting()
    }
  }

  override func peerFinished() { end() }

  /// Ends all exchanges with an error.
  func close(_ error: TransportError) { fail(error) }

  private func fail(_ error: TransportError) {
    closing = error
    abort()
  }

  override func ended() {
    isLeaving = true
    pool.leave(self)
    moveWaiting()
    let lost = closing ?? TransportError(.connectionLost, "The connection ended in the middle of a response.")
    let streams = session.streams.values
    session.streams = HTTP2StreamTable()
    for case let stream as HTTP2ClientStream in streams {
      stream.isClosed = true
      if !stream.exchange.isOver, !stream.isHeadSent {
        forgetUnsent(stream)
        continue
      }
      stream.stopSending()
      stream.incoming?.fail(lost)
      stream.incoming = nil
      if closing != nil { stream.exchange.fail(lost) } else { pool.forget(self, stream.exchange, isRefused: false) }
    }
  }
}
