import VestaTransportInterop

/// Requests and their bodies, as they arrive.
extension ServerConnection {
  func began(_ head: RequestMachine.Head) {
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
      let stream = incomingStream()
      incoming = stream
      let length: Int? = if case .length(let length) = framing { length } else { nil }
      serve(.stream(stream, length: length))
    }
  }

  /// A stream for the body of a request, whose reader makes the connection read on when there is room again.
  private func incomingStream() -> ByteStream {
    let stream = ByteStream(limit: tuning.backlogBytes)
    let readsOn: @Sendable () -> Void = { [weak self, weak stream] in
      guard let self, let stream else { return }
      perform { self.readerGoesOn(stream) }
    }
    stream.pipe.setDemand(readsOn, onCancel: readsOn)
    return stream
  }

  func received(_ bytes: UnsafeBufferPointer<UInt8>) {
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

  func bodyEnded(_ trailers: HTTPFields) {
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

  /// Answers a request whose body is too large, and ends the connection.
  private func refuseBody(_ limit: Int) {
    body = []
    guard let head = request else { return }
    let refused = HTTPRequestHead(method: head.method, target: head.target, fields: head.fields)
    write(listener.handler.refusal(of: refused, limit: limit), keepsAlive: false)
    close(lingers: true)
  }

  /// Answers what cannot be served, and ends the connection: where its next request begins is not known.
  func refuse(_ failure: ProtocolFailure) {
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
}
