import VestaConcurrency
import VestaTransportInterop

/// A connection of a server that speaks HTTP/1.1, until it becomes a WebSocket or ends.
///
/// One request at a time: what is pipelined behind it waits in `kept`, up to the backlog, and beyond it in the socket.
/// Each entry from outside (bytes, the end of a task, room in a stream) is one `turn`, at whose end everything that was
/// written leaves in one call.
// Sound as @unchecked Sendable: it is touched on the thread of its loop alone; tasks and hooks come back to it first.
final class ServerConnection: Channel, @unchecked Sendable {
  /// What the connection is busy with.
  enum Phase {
    /// Waits for a request, or has a part of its head.
    case idle
    /// Gathers the body before the handler is called.
    case collecting(limit: Int)
    /// A task makes the response.
    case replying
    /// The body of the response comes from a stream.
    case sending
    case webSocket(WebSocketSession)
    /// Everything was sent, and what still arrives is read over, so that the peer can read it.
    case lingering
    case closed
  }

  let listener: ServerListener
  let loop: EventLoop
  var phase = Phase.idle
  var request: RequestMachine.Head?
  var output = OutputQueue()
  /// The time on the loop's clock after which the phase is over; `.max` for none.
  var deadline: Int64

  private var machine: RequestMachine
  /// Received and not used yet.
  private var kept: [UInt8] = []
  private var body: [UInt8] = []
  /// The body of the request while a handler reads it.
  private var incoming: ByteStream?
  private var isIncomingFull = false
  var outgoing: ByteStream?
  var framing = MessageWriter.Framing.none
  var task: Task<Void, Never>?
  private var peer: TransportPeer?
  private var interest: PlatformPoll.Interest = [.readable, .finished]
  private var isInTurn = false
  private var hasPeerFinished = false
  private var closesAfterReply = false
  private var closesWhenWritten = false
  private var requestsInTurn = 0

  init(_ descriptor: Int32, _ listener: ServerListener, _ loop: EventLoop) {
    self.listener = listener
    self.loop = loop
    machine = RequestMachine(listener.tuning)
    deadline = loop.now + listener.tuning.headTimeout.nanoseconds
    super.init(descriptor)
  }

  var tuning: TransportTuning { listener.tuning }

  private var isClosed: Bool { if case .closed = phase { true } else { false } }

  // MARK: Entries

  override func ready(_ events: PlatformPoll.Interest) {
    if events.contains(.broken), !events.contains(.readable) { return abort() }
    turn {
      if events.contains(.readable) || events.contains(.finished) { receive() }
    }
  }

  override func sweep(_ now: Int64) {
    guard now >= deadline else { return }
    switch phase {
    case .idle where machine.isInHead || machine.isInBody: turn { refuse(ProtocolFailure(408, "the request is late")) }
    case .collecting: turn { refuse(ProtocolFailure(408, "the body is late")) }
    case .closed: break
    default: abort()
    }
  }

  /// Runs a closure that may write, then goes on with what was received, and writes everything at once.
  func turn(_ body: () -> Void) {
    guard !isInTurn else { return body() }
    guard !isClosed else { return }
    isInTurn = true
    requestsInTurn = 0
    let isLent = output.isEmpty
    if isLent { swap(&output.tail, &loop.spareOutput) }
    body()
    if !kept.isEmpty { consumeKept() }
    flush()
    if isLent, output.isEmpty { swap(&output.tail, &loop.spareOutput) }
    isInTurn = false
    updateInterest()
  }

  /// Goes on in a turn of the loop.
  func perform(_ work: @escaping @Sendable (ServerConnection) -> Void) {
    loop.perform { [self] in turn { work(self) } }
  }

  // MARK: Reading

  private func receive() {
    switch PlatformSocket.read(descriptor, loop.readBuffer) {
    case .moved(0): peerFinished()
    case .moved(let count):
      if case .lingering = phase { return }
      let bytes = UnsafeBufferPointer(
        start: loop.readBuffer.baseAddress?.assumingMemoryBound(to: UInt8.self), count: count)
      if kept.isEmpty {
        let used = consume(bytes)
        if used < count, !isClosed { kept.append(contentsOf: bytes[used...]) }
      } else {
        kept.append(contentsOf: bytes)
      }
    case .wouldBlock: break
    case .broken: abort()
    }
  }

  private func consumeKept() {
    // Moved out: a handler may come back to this connection while its bytes are read.
    var bytes: [UInt8] = []
    swap(&bytes, &kept)
    let used = bytes.withUnsafeBufferPointer { consume($0) }
    guard used < bytes.count, !isClosed else { return }
    if used > 0 { bytes.removeFirst(used) }
    kept = bytes
  }

  /// Whether bytes can be used now.
  private var takesInput: Bool {
    switch phase {
    case .idle: requestsInTurn < tuning.requestsPerTurn && output.count < tuning.backlogBytes && !closesWhenWritten
    case .collecting: true
    case .replying, .sending: machine.isInBody && !isIncomingFull
    case .webSocket(let session): session.takesInput
    case .lingering, .closed: false
    }
  }

  /// - Returns: The number of bytes that were used.
  private func consume(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var index = 0
    while takesInput {
      if case .webSocket(let session) = phase {
        guard index < bytes.count else { break }
        session.receive(UnsafeBufferPointer(rebasing: bytes[index...]))
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
          if machine.isInHead, index == 0, case .idle = phase, bytes.count <= loop.readBuffer.count, kept.isEmpty {
            deadline = loop.now + tuning.headTimeout.nanoseconds
          }
          return index
        }
      } catch {
        refuse(error)
        return bytes.count
      }
    }
    return index
  }

  private func began(_ head: RequestMachine.Head) {
    requestsInTurn += 1
    request = head
    deadline = loop.now + tuning.bodyTimeout.nanoseconds
    guard let framing = head.body else { return serve(.empty) }
    let wanted = HTTPRequestHead(method: head.method, target: head.target, fields: head.fields)
    switch listener.handler.bodyDelivery(for: wanted) {
    case .collected(let limit):
      if case .length(let length) = framing, length > limit { return refuseBody(limit) }
      if head.expectsContinue { MessageWriter.append("HTTP/1.1 100 Continue\r\n\r\n", &output.tail) }
      phase = .collecting(limit: limit)
    case .streamed:
      if head.expectsContinue { MessageWriter.append("HTTP/1.1 100 Continue\r\n\r\n", &output.tail) }
      let stream = ByteStream(limit: tuning.backlogBytes)
      stream.pipe.setDemand(
        { [weak self] in self?.perform { $0.isIncomingFull = false } },
        onCancel: { [weak self] in self?.perform { $0.isIncomingFull = false } })
      incoming = stream
      let length: Int? = if case .length(let length) = framing { length } else { nil }
      serve(.stream(stream, length: length))
    }
  }

  private func received(_ bytes: UnsafeBufferPointer<UInt8>) {
    deadline = loop.now + tuning.bodyTimeout.nanoseconds
    if case .collecting(let limit) = phase {
      guard bytes.count <= limit - body.count else { return refuseBody(limit) }
      body.append(contentsOf: bytes)
    } else if let incoming, !incoming.offer(Array(bytes)), !incoming.pipe.isCancelled {
      isIncomingFull = true
    }
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
    if case .replying = phase { deadline = .max }
    // The response may have been sent before the end of the body.
    if case .idle = phase { afterReply() }
  }

  private func refuseBody(_ limit: Int) { refuse(ProtocolFailure(413, "more than \(limit) bytes")) }

  /// Answers what cannot be served, and ends the connection: where its next request begins is not known.
  private func refuse(_ failure: ProtocolFailure) {
    body = []
    closesAfterReply = true
    switch phase {
    case .idle, .collecting:
      let response = HTTPResponse(
        HTTPStatus(failure.status), fields: [.contentType: "text/plain"], body: .text("\(failure)\n"))
      write(response, keepsAlive: false)
      close(lingers: true)
    default:
      incoming?.fail(TransportError(.protocolViolation, failure.reason))
      abort()
    }
  }

  private func peerFinished() {
    hasPeerFinished = true
    interest.remove([.readable, .finished])
    loop.change(self, interest)
    switch phase {
    case .idle where !output.isEmpty: closesWhenWritten = true
    case .webSocket, .replying, .sending: abort()
    default: end()
    }
  }

  // MARK: Replying

  private func serve(_ body: HTTPBody) {
    guard let head = request else { return }
    let peer = self.peer ?? makePeer()
    let request = HTTPRequest(
      head.method, head.target, authority: head.authority, fields: head.fields, body: body, peer: peer)
    switch listener.handler.reply(to: request) {
    case .response(let response): respond(response)
    case .task(let work):
      phase = .replying
      if incoming == nil { deadline = .max }
      task = Task(executorPreference: loop) { [self] in
        let response: HTTPResponse
        do {
          response = try await work()
        } catch {
          response = HTTPResponse(.internalServerError)
        }
        // The preference brought the task back to the loop.
        if loop.isCurrent { turn { completed(response) } } else { perform { $0.completed(response) } }
      }
    case .webSocket(let service): upgrade(request, service)
    }
  }

  private func makePeer() -> TransportPeer {
    let unknown = TransportAddress.internet(host: "unknown", port: 0)
    let made = TransportPeer(
      address: PlatformSocket.peerAddress(descriptor) ?? unknown, localAddress: listener.address,
      version: request?.minorVersion == 0 ? .http1_0 : .http1_1)
    peer = made
    return made
  }

  private func completed(_ response: HTTPResponse) {
    task = nil
    guard case .replying = phase else { return }
    respond(response)
  }

  private func respond(_ response: HTTPResponse) {
    // A body that the handler has not read would have to be read over: the connection ends instead.
    let isBodyOpen = machine.isInBody
    let keepsAlive = request?.keepsAlive ?? false
    write(response, keepsAlive: keepsAlive && !listenerEnds && !hasPeerFinished && !closesAfterReply)
    if case .stream(let stream, _) = response.body, sendsBody(response) {
      phase = .sending
      outgoing = stream
      deadline = .max
      stream.pipe.setReadable { [weak self] in self?.perform { $0.pump() } }
      return pump()
    }
    phase = .idle
    if isBodyOpen {
      closesAfterReply = true
      incoming?.cancel()
      incoming = nil
    }
    if !machine.isInBody || isBodyOpen { afterReply() }
  }

  private var listenerEnds: Bool { isEnding }
  /// Whether the listener shuts down.
  private var isEnding = false

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
    if sendsBody(response), case .bytes(let bytes) = response.body { output.append(bytes) }
  }

  /// Moves what the stream of the response has to the socket's queue.
  private func pump() {
    guard case .sending = phase, let stream = outgoing else { return }
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
        outgoing = nil
        phase = .idle
        if machine.isInBody { closesAfterReply = true }
        return afterReply()
      case .ended:
        outgoing = nil
        flush()
        return abort()
      }
    }
  }

  /// The connection is free for the next request, or ends.
  private func afterReply() {
    request = nil
    if closesAfterReply || isEnding { return close(lingers: !hasPeerFinished) }
    deadline = loop.now + tuning.idleTimeout.nanoseconds
  }

  // MARK: WebSockets

  private func upgrade(_ request: HTTPRequest, _ service: WebSocketService) {
    guard let key = WebSocketHandshake.key(of: request) else {
      return respond(HTTPResponse(426, fields: [.upgrade: "websocket", "sec-websocket-version": "13"]))
    }
    let offered = WebSocketHandshake.subprotocols(of: request)
    let agreed = service.subprotocol.flatMap { offered.contains($0) ? $0 : nil }
    let fields = WebSocketHandshake.fields(accepting: key, subprotocol: agreed, and: service.fields)
    MessageWriter.head(
      HTTPResponse(101, fields: fields), .none, .upgrade, date: loop.dateLine, into: &output.tail)
    let session = WebSocketSession(
      self, WebSocket(subprotocol: agreed, limit: tuning.backlogBytes), messageLimit: service.messageLimit)
    phase = .webSocket(session)
    deadline = .max
    session.start(service.serve)
  }

  // MARK: Writing and the end

  private func flush() {
    while !isClosed {
      guard !output.isEmpty else { break }
      switch output.write(to: descriptor) {
      case .moved:
        // A stream, or a WebSocket, may have more.
        if case .sending = phase { pump() }
        if case .webSocket(let session) = phase { session.pump() }
      case .wouldBlock:
        if !isWaitingToWrite { writeBegan = loop.now }
        deadline = loop.now + tuning.writeTimeout.nanoseconds
        return
      case .broken: return abort()
      }
    }
    if closesWhenWritten { end() }
  }

  private var isWaitingToWrite: Bool { interest.contains(.writable) }
  private var writeBegan: Int64 = 0

  private func updateInterest() {
    guard !isClosed else { return }
    var wanted: PlatformPoll.Interest = []
    if !hasPeerFinished {
      wanted.insert(.finished)
      let hasRoom = kept.count < tuning.backlogBytes
      if case .lingering = phase {
        wanted.insert(.readable)
      } else if hasRoom, takesInput || kept.isEmpty {
        wanted.insert(.readable)
      }
    }
    if !output.isEmpty { wanted.insert(.writable) }
    if wanted != interest {
      interest = wanted
      loop.change(self, wanted)
    }
    // Served as many as its turn allows: it goes on in the next one.
    if !kept.isEmpty, case .idle = phase, requestsInTurn >= tuning.requestsPerTurn { perform { _ in } }
  }

  /// Ends the connection after what is to be written.
  ///
  /// - Parameter lingers: Whether the peer may still be sending: closing at once would reset the connection, and the
  ///   peer
  ///   might not read the response.
  func close(lingers: Bool) {
    kept = []
    flush()
    guard !isClosed else { return }
    guard lingers, output.isEmpty else {
      closesWhenWritten = true
      if output.isEmpty { end() }
      return
    }
    PlatformSocket.finish(descriptor)
    phase = .lingering
    deadline = loop.now + tuning.lingerTimeout.nanoseconds
  }

  /// Ends the exchange that runs, and then the connection.
  func shutDown() {
    isEnding = true
    turn {
      switch phase {
      case .idle where !machine.isInBody && !machine.isInHead: close(lingers: false)
      case .webSocket(let session): session.goAway()
      default: break
      }
    }
  }

  /// Ends the connection at once: the peer sees a reset where something is missing.
  func abort() {
    guard !isClosed else { return }
    PlatformSocket.resetOnClose(descriptor)
    end()
  }

  private func end() {
    guard !isClosed else { return }
    let last = phase
    phase = .closed
    if case .webSocket(let session) = last { session.connectionEnded() }
    loop.remove(self)
    PlatformSocket.close(descriptor)
    let lost = TransportError(.connectionLost, "The connection ended.")
    incoming?.fail(lost)
    incoming = nil
    outgoing?.cancel()
    outgoing = nil
    task?.cancel()
    kept = []
    body = []
    output = OutputQueue()
    listener.hasClosed()
  }
}
