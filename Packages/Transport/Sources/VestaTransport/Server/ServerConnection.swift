import VestaConcurrency
import VestaTransportInterop

/// A connection of a server that speaks HTTP/1.1, until it becomes a WebSocket or ends.
///
/// One request at a time: what is pipelined behind it is kept, up to the backlog, and beyond it stays in the socket.
// Sound as @unchecked Sendable: it is touched on the thread of its loop alone.
final class ServerConnection: SocketConnection, @unchecked Sendable {
  /// What the connection is busy with.
  private enum Phase {
    /// Waits for a request, or has a part of its head.
    case idle
    /// Gathers the body before the handler is called.
    case collecting(limit: Int)
    /// A task makes the response.
    case replying
    /// The body of the response comes from a stream.
    case sending(ByteStream)
    case webSocket(WebSocketSession)
  }

  let listener: ServerListener
  private var phase = Phase.idle
  private var machine: RequestMachine
  private var request: RequestMachine.Head?
  /// The body that is gathered.
  private var body: [UInt8] = []
  /// The body of the request while a handler reads it.
  private var incoming: ByteStream?
  private var isIncomingFull = false
  private var framing = MessageWriter.Framing.none
  private var task: Task<Void, Never>?
  private var peer: TransportPeer?
  private var closesAfterReply = false
  /// Whether the listener shuts down.
  private var isEnding = false
  private var requestsInTurn = 0

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
    }
  }

  override func turnEnded() {
    let hasMore = requestsInTurn >= tuning.requestsPerTurn && !kept.isEmpty
    requestsInTurn = 0
    // Served as many as a turn allows: it goes on in the next one.
    if hasMore { return perform {} }
    // The peer sends no more of what is not whole, and has its answers.
    if hasPeerFinished, !isLingering, case .idle = phase { close(lingers: false) }
  }

  override func consume(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var index = 0
    // The end after the last byte is said at once, however much the reader lags: nothing would come to say it later.
    while takesInput || machine.isAtEndOfBody, !isClosed, !isLingering, !closesWhenWritten {
      if case .webSocket(let session) = phase {
        if index < bytes.count { session.receive(UnsafeBufferPointer(rebasing: bytes[index...])) }
        return bytes.count
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

  private var isHeadBegun = false

  private func began(_ head: RequestMachine.Head) {
    requestsInTurn += 1
    isHeadBegun = false
    request = head
    guard let framing = head.body else { return serve(.empty) }
    deadline = loop.now + loop.times.body
    let wanted = HTTPRequestHead(method: head.method, target: head.target, fields: head.fields)
    switch listener.handler.bodyDelivery(for: wanted) {
    case .collected(let limit):
      if case .length(let length) = framing, length > limit { return refuseBody(limit) }
      phase = .collecting(limit: limit)
      if head.expectsContinue { MessageWriter.append("HTTP/1.1 100 Continue\r\n\r\n", &output.tail) }
    case .streamed:
      if head.expectsContinue { MessageWriter.append("HTTP/1.1 100 Continue\r\n\r\n", &output.tail) }
      let stream = ByteStream(limit: tuning.backlogBytes)
      let goesOn: @Sendable () -> Void = { [weak self, weak stream] in
        guard let self, let stream else { return }
        perform { self.readerGoesOn(stream) }
      }
      stream.pipe.setDemand(goesOn, onCancel: goesOn)
      incoming = stream
      let length: Int? = if case .length(let length) = framing { length } else { nil }
      serve(.stream(stream, length: length))
    }
  }

  private func received(_ bytes: UnsafeBufferPointer<UInt8>) {
    deadline = loop.now + loop.times.body
    if case .collecting(let limit) = phase {
      guard bytes.count <= limit - body.count else { return refuseBody(limit) }
      body.append(contentsOf: bytes)
    } else if let incoming, !incoming.offer(Array(bytes)), !incoming.pipe.isCancelled {
      isIncomingFull = true
      // The reader may take its time.
      deadline = .max
    }
  }

  private func readerGoesOn(_ stream: ByteStream) {
    guard incoming === stream else { return }
    isIncomingFull = false
    // It is the peer's turn again.
    deadline = loop.now + loop.times.body
  }

  private func bodyEnded(_ trailers: HTTPFields) {
    if case .collecting = phase {
      let whole = body
      body = []
      phase = .idle
      return serve(.bytes(whole))
    }
    incoming?.finish(trailers: trailers)
    incoming = nil
    isIncomingFull = false
    deadline = .max
  }

  private func refuseBody(_ limit: Int) { refuse(ProtocolFailure(413, "more than \(limit) bytes")) }

  /// Answers what cannot be served, and ends the connection: where its next request begins is not known.
  private func refuse(_ failure: ProtocolFailure) {
    body = []
    switch phase {
    case .idle, .collecting:
      let response = HTTPResponse(
        HTTPStatus(failure.status), fields: [.contentType: "text/plain"], body: .text("\(failure)\n"))
      write(response, keepsAlive: false)
      close(lingers: true)
    default:
      incoming?.fail(TransportError(.protocolViolation, failure.reason))
      incoming = nil
      abort()
    }
  }

  override var keepsForReader: Bool { if case .webSocket(let session) = phase { !session.takesInput } else { false } }

  override func peerFinished() {
    switch phase {
    // The turn that runs answers what was received, and ends the connection.
    case .idle: break
    case .collecting: end()
    // A peer that is gone and one that only listens look the same; waiting for nobody would cost more.
    case .webSocket, .replying, .sending: abort()
    }
  }

  override func timedOut() {
    switch phase {
    case .idle where isHeadBegun: turn { refuse(ProtocolFailure(408, "the request is late")) }
    case .collecting: turn { refuse(ProtocolFailure(408, "the body is late")) }
    default: abort()
    }
  }

  // MARK: Replying

  private func serve(_ body: HTTPBody) {
    guard let head = request else { return }
    let peer = self.peer ?? makePeer(head)
    let request = HTTPRequest(
      head.method, head.target, scheme: security == nil ? "http" : "https", authority: head.authority,
      fields: head.fields, body: body, peer: peer)
    switch listener.handler.reply(to: request) {
    case .response(let response): respond(response)
    case .task(let work): run(work)
    case .webSocket(let service): upgrade(request, service)
    }
  }

  private func makePeer(_ head: RequestMachine.Head) -> TransportPeer {
    let unknown = TransportAddress.internet(host: "unknown", port: 0)
    let made = TransportPeer(
      address: PlatformSocket.peerAddress(descriptor) ?? unknown, localAddress: listener.address,
      version: head.minorVersion == 0 ? .http1_0 : .http1_1, isSecure: security != nil)
    peer = made
    return made
  }

  private func run(_ work: @escaping @Sendable () async throws -> HTTPResponse) {
    phase = .replying
    if incoming == nil { deadline = .max }
    task = Task(executorPreference: loop) { [self] in
      let response: HTTPResponse
      do {
        response = try await work()
      } catch {
        response = HTTPResponse(.internalServerError)
      }
      // The preference has brought the task back to the loop.
      if loop.isCurrent { turn { completed(response) } } else { perform { self.completed(response) } }
    }
  }

  private func completed(_ response: HTTPResponse) {
    task = nil
    guard !isClosed, case .replying = phase else { return }
    respond(response)
  }

  private func respond(_ made: HTTPResponse) {
    // An interim response would leave the peer waiting for the final one.
    let response = made.status.isInterim ? HTTPResponse(.internalServerError) : made
    let keepsAlive = request?.keepsAlive ?? false
    write(response, keepsAlive: keepsAlive && !isEnding)
    guard case .stream(let stream, _) = response.body else { return afterReply() }
    guard sendsBody(response) else {
      stream.cancel()
      return afterReply()
    }
    phase = .sending(stream)
    if incoming == nil { deadline = .max }
    if let section = stream.section, section.count > 0, security == nil { return send(section) }
    stream.pipe.setReadable { [weak self] in self?.perform {} }
  }

  private func sendsBody(_ response: HTTPResponse) -> Bool {
    request?.method != .head && !response.status.forbidsBody
  }

  /// Writes the head of a response, and its body if that is there.
  private func write(_ response: HTTPResponse, keepsAlive: Bool) {
    let isOld = request?.minorVersion == 0
    framing = .none
    if !response.status.forbidsBody {
      if let length = response.body.length { framing = .length(length) } else { framing = isOld ? .untilEnd : .chunked }
    }
    let keeps = keepsAlive && framing != .untilEnd
    closesAfterReply = !keeps
    let connection: MessageWriter.Connection = keeps ? (isOld ? .keepAlive : .usual) : .close
    MessageWriter.head(response, framing, connection, date: loop.dateLine, into: &output.tail)
    if case .bytes(let bytes) = response.body, sendsBody(response) { output.append(bytes) }
  }

  /// Moves what the stream of the response, or the WebSocket, has to the socket's queue.
  override func pump() {
    if case .webSocket(let session) = phase { return session.pump() }
    guard case .sending(let stream) = phase, file == nil else { return }
    while output.count < tuning.backlogBytes {
      switch stream.pipe.take() {
      case .element(let bytes):
        guard !bytes.isEmpty else { continue }
        if framing == .chunked { MessageWriter.chunk(bytes.count, into: &output.tail) }
        output.append(bytes)
        if framing == .chunked { MessageWriter.chunkEnd(into: &output.tail) }
      case .nothingYet: return
      case .ended(nil):
        if framing == .chunked { MessageWriter.end(trailers: stream.trailers, into: &output.tail) }
        return afterReply()
      case .ended:
        // What was written before leaves first, so far as the socket takes it.
        _ = write()
        return abort()
      }
    }
  }

  override func fileSent() { if case .sending = phase { afterReply() } }

  /// The connection is free for the next request, or ends.
  private func afterReply() {
    phase = .idle
    request = nil
    if machine.isInBody {
      // What the handler has not read would have to be read over; the connection ends instead.
      closesAfterReply = true
      incoming?.fail(TransportError(.closed, "The response was sent before the end of the request."))
      incoming = nil
    }
    if closesAfterReply || isEnding { return close(lingers: true) }
    deadline = loop.now + loop.times.idle
  }

  private func upgrade(_ request: HTTPRequest, _ service: WebSocketService) {
    guard let key = WebSocketHandshake.key(of: request) else {
      return respond(HTTPResponse(426, fields: [.upgrade: "websocket", "sec-websocket-version": "13"]))
    }
    let offered = WebSocketHandshake.subprotocols(of: request)
    let agreed = service.subprotocol.flatMap { offered.contains($0) ? $0 : nil }
    let fields = WebSocketHandshake.fields(accepting: key, subprotocol: agreed, and: service.fields)
    MessageWriter.head(
      HTTPResponse(101, fields: fields), .none, .upgrade, date: loop.dateLine, into: &output.tail)
    let socket = WebSocket(subprotocol: agreed, limit: tuning.backlogBytes)
    let session = WebSocketSession(self, socket, .server, messageLimit: service.messageLimit)
    phase = .webSocket(session)
    deadline = .max
    session.start()
    task = Task(executorPreference: loop) {
      do {
        try await service.serve(socket)
        socket.close()
      } catch {
        socket.close(WebSocketClose(.internalError))
      }
    }
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
      default: break
      }
    }
  }

  override func ended() {
    let lost = TransportError(.connectionLost, "The connection ended.")
    switch phase {
    case .webSocket(let session): session.connectionEnded()
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
