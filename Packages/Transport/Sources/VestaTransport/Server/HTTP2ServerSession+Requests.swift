import VestaConcurrency
import VestaTransportInterop

extension HTTP2ServerSession {
  // MARK: Requests

  func began(_ id: Int32, _ head: HTTP2Head, isLast: Bool) {
    // Trailers that break a rule.
    guard session.streams[id] == nil else { return session.reset(id, .protocolError) }
    if head.problem == .malformed { return session.reset(id, .protocolError) }
    // A peer that opens streams and leaves them may not have more handlers at work than one that keeps them.
    guard runningTasks < 2 * max(1, tuning.http2Streams) else { return session.reset(id, .refusedStream) }
    let stream = HTTP2ServerStream(id, head)
    stream.isRemoteEnded = isLast
    session.streams[id] = stream
    if head.problem == .tooLarge { return refuse(stream, HTTPResponse(.fieldsTooLarge)) }
    if head.target.utf8.count > tuning.targetBytes { return refuse(stream, HTTPResponse(414)) }
    if head.method == .connect { return refuse(stream, HTTPResponse(501)) }
    if isLast { return serve(stream, .empty) }
    let wanted = HTTPRequestHead(method: head.method, target: head.target, fields: head.fields)
    switch listener.handler.bodyDelivery(for: wanted) {
    case .collected(let limit):
      stream.limit = limit
      if let length = head.length, length > limit { return refuseBody(stream) }
      stream.deadline = loop.now + loop.times.body
      if head.expectsContinue { session.respondInterim(100, to: id) }
    case .streamed:
      if head.expectsContinue { session.respondInterim(100, to: id) }
      let incoming = ByteStream(limit: max(1, tuning.http2StreamWindow / 4))
      let goesOn: @Sendable () -> Void = { [weak self, weak stream] in
        guard let self, let stream else { return }
        perform { self.readerGoesOn(stream) }
      }
      incoming.pipe.setDemand(goesOn, onCancel: goesOn)
      stream.incoming = incoming
      serve(stream, .stream(incoming, length: head.length))
    }
  }

  func received(_ bytes: [UInt8], on stream: HTTP2ServerStream) {
    if let incoming = stream.incoming {
      let goesOn = incoming.offer(bytes) || incoming.pipe.isCancelled
      stream.unconsumed += bytes.count
      if goesOn { readerGoesOn(stream) }
      return
    }
    // No handler waits for it: a peer that has its answer may still send.
    guard let limit = stream.limit, !stream.isAnswered else { return session.consumeConnection(bytes.count) }
    consume(bytes.count, of: stream)
    guard bytes.count <= limit - stream.body.count else { return refuseBody(stream) }
    stream.deadline = loop.now + loop.times.body
    collectedBytes += bytes.count
    guard collectedBytes <= max(tuning.http2CollectedBytes, limit) else {
      return session.reset(stream.id, .enhanceYourCalm)
    }
    if stream.body.isEmpty { stream.body = bytes } else { stream.body += bytes }
  }

  private func consume(_ count: Int, of stream: HTTP2ServerStream) {
    session.consumeConnection(count)
    if !stream.isRemoteEnded { session.consume(count, of: stream.id) }
  }

  /// The reader has taken what there was: the peer may send as much again.
  private func readerGoesOn(_ stream: HTTP2ServerStream) {
    guard stream.unconsumed > 0, !stream.isClosed else { return }
    if stream.incoming?.pipe.isCancelled ?? false {
      // An unwanted body takes nothing from other streams, and is not asked for.
      session.consumeConnection(stream.unconsumed)
    } else {
      consume(stream.unconsumed, of: stream)
    }
    stream.unconsumed = 0
  }

  func bodyEnded(_ stream: HTTP2ServerStream) {
    stream.isRemoteEnded = true
    stream.deadline = .max
    if let incoming = stream.incoming {
      incoming.finish()
      stream.incoming = nil
      return
    }
    guard stream.limit != nil, !stream.isAnswered else { return }
    let whole = stream.body
    letGo(of: stream)
    serve(stream, .bytes(whole))
  }

  private func refuseBody(_ stream: HTTP2ServerStream) {
    let head = HTTPRequestHead(
      method: stream.head.method, target: stream.head.target, fields: stream.head.fields)
    stream.isLingering = true
    refuse(stream, listener.handler.refusal(of: head, limit: stream.limit ?? 0))
    // Clients that are asked at once not to send, and are in the middle of it, may look at nothing else.
    loop.schedule(after: tuning.http2ResetDelay) { [weak self, weak stream] in
      guard let self, let stream, !stream.isClosed, let owner else { return }
      stream.resetsWhenAnswered = true
      owner.turn { if stream.isLocalEnded, !stream.isRemoteEnded { self.session.reset(stream.id, .noError) } }
    }
  }

  /// Answers a request that no handler sees, and wants no more of it.
  func refuse(_ stream: HTTP2ServerStream, _ response: HTTPResponse) {
    stream.deadline = .max
    letGo(of: stream)
    respond(stream, response)
  }

  // MARK: Replies

  private func serve(_ stream: HTTP2ServerStream, _ body: HTTPBody) {
    switch listener.handler.reply(to: request(stream, body)) {
    case .response(let response): respond(stream, response)
    case .task(let work): run(stream, work)
    // A stream becomes a WebSocket by RFC 8441 only, which this server does not announce.
    case .webSocket: respond(stream, HTTPResponse(501))
    }
  }

  private func run(_ stream: HTTP2ServerStream, _ work: @escaping @Sendable () async throws -> HTTPResponse) {
    runningTasks += 1
    stream.task = Task(executorPreference: loop) { [self] in
      let response: HTTPResponse
      do {
        response = try await work()
      } catch {
        response = HTTPResponse(.internalServerError)
      }
      // The preference has brought the task back to the loop.
      if loop.isCurrent { return completed(stream, response) }
      // The task has outlived its loop, which writes nothing now.
      if !loop.perform({ self.completed(stream, response) }) { response.discard() }
    }
  }

  private func completed(_ stream: HTTP2ServerStream, _ response: HTTPResponse) {
    runningTasks -= 1
    stream.task = nil
    guard !stream.isClosed else { return response.discard() }
    session.now = loop.now
    respond(stream, response)
    // All responses that tasks finish in this turn of the loop are sent by one write.
    owner?.writeSoon()
  }

  func respond(_ stream: HTTP2ServerStream, _ response: HTTPResponse) {
    // An interim response would leave the peer waiting for the final one.
    if response.status.isInterim {
      response.discard()
      return respond(stream, HTTPResponse(.internalServerError))
    }
    guard !stream.isAnswered, !stream.isClosed else { return response.discard() }
    stream.isAnswered = true
    stream.resetsWhenAnswered = !stream.isLingering
    let sendsBody = stream.head.method != .head && !response.status.forbidsBody
    if !sendsBody, case .stream(let body, _) = response.body {
      body.cancel()
      if response.status.forbidsBody {
        var bodiless = response
        bodiless.body = .empty
        return session.respond(stream, bodiless, hasBody: false, date: loop.dateLine)
      }
    }
    let hasBody = sendsBody && (response.body.length != 0 || !response.trailers.isEmpty)
    session.respond(stream, response, hasBody: hasBody, date: loop.dateLine)
    guard hasBody, case .stream(let body, _) = response.body else { return }
    body.pipe.setReadable { [weak self, weak stream] in
      guard let self, let stream else { return }
      resumeSoon(stream)
    }
  }
}
