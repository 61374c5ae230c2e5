import VestaBytes
import VestaTransportInterop

extension ServerConnection {
  func serve(_ body: HTTPBody) {
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

  func makePeer(_ head: RequestMachine.Head) -> TransportPeer {
    let unknown = TransportAddress.internet(host: "unknown", port: 0)
    let made = TransportPeer(
      address: PlatformSocket.peerAddress(descriptor) ?? unknown, localAddress: listener.address,
      version: head.minorVersion == 0 ? .http1_0 : .http1_1, isSecure: security != nil, executor: loop)
    peer = made
    return made
  }

  func run(_ work: @escaping @Sendable () async throws -> HTTPResponse) {
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
      if loop.isCurrent { return completed(response) }
      // The task has outlived its loop, which writes nothing now.
      if !loop.perform({ self.completed(response) }) { response.discard() }
    }
  }

  private func completed(_ response: HTTPResponse) {
    task = nil
    guard !isClosed, case .replying = phase else {
      return response.discard()
    }
    turn { respond(response) }
  }

  func respond(_ made: HTTPResponse) {
    // An interim response would leave the peer waiting for the final one.
    if made.status.isInterim { made.discard() }
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
    // Chunks, which trailers need, have bytes between the file's; TLS encrypts them.
    if let section = stream.section, section.count > 0, security == nil, framing != .chunked { return send(section) }
    stream.pipe.setReadable { [weak self] in self?.writeSoon() }
  }

  func sendsBody(_ response: HTTPResponse) -> Bool {
    request?.method != .head && !response.status.forbidsBody
  }

  /// Writes the head of a response, and its body if that is there.
  func write(_ response: HTTPResponse, keepsAlive: Bool) {
    let isOld = request?.minorVersion == 0
    framing = bodyFraming(of: response, isOld: isOld)
    let keeps = keepsAlive && framing != .untilEnd
    closesAfterReply = !keeps
    let connection: MessageWriter.Connection = keeps ? (isOld ? .keepAlive : .usual) : .close
    MessageWriter.head(response, framing, connection, date: loop.dateLine, into: &output.tail)
    guard let bytes = response.body.bytes, sendsBody(response) else { return }
    guard framing == .chunked else { return output.append(bytes) }
    if !bytes.isEmpty {
      MessageWriter.chunk(bytes.count, into: &output.tail)
      output.append(bytes)
      MessageWriter.chunkEnd(into: &output.tail)
    }
    MessageWriter.end(trailers: response.trailers, into: &output.tail)
  }

  private func bodyFraming(of response: HTTPResponse, isOld: Bool) -> MessageWriter.Framing {
    if response.status.forbidsBody { return .none }
    // Trailers need chunks, which a peer of HTTP/1.0 cannot read.
    if let length = response.body.length, isOld || response.trailers.isEmpty { return .length(length) }
    return isOld ? .untilEnd : .chunked
  }

  /// The connection is free for the next request, or ends.
  func afterReply() {
    phase = .idle
    request = nil
    if machine.isInBody {
      // The body that the handler has not read would have to be skipped; the connection ends instead.
      closesAfterReply = true
      incoming?.fail(TransportError(.closed, "The response was sent before the end of the request."))
      incoming = nil
    }
    if closesAfterReply || isEnding { return close(lingers: true) }
    deadline = loop.now + loop.times.idle
  }

  /// Moves what the stream of the response has to the socket's queue.
  func pump(_ stream: ByteStream) {
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
        return afterBody()
      case .ended:
        // Earlier bytes are sent first, so far as the socket takes them.
        _ = write()
        return abort()
      }
    }
  }
}

extension HTTPResponse {
  /// Ends a response that is not sent: what writes its body would wait for a reader for ever.
  func discard() { if case .stream(let body, _) = body { body.cancel() } }
}
