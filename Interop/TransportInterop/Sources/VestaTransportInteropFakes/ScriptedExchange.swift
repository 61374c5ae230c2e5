import VestaConcurrency
import VestaTransportInterop

/// One request and its response over a scripted pipe, with both of its ends.
final class ScriptedExchange: Sendable {
  private struct State: Sendable {
    var head: HTTPRequest?
    var collected: [UInt8] = []
    /// The body of a request whose handler reads it on arrival.
    var incoming: ByteStream?
    var sent: ByteStream?
  }

  private let carrier: ScriptedCarrier
  private let handler: any HTTPHandler
  private let turn = Turn<HTTPResponse>()
  private let received = ByteStream()
  private let state = Locked(State())

  init(
    _ pipe: ScriptedPipe, _ handler: any HTTPHandler, drive: @escaping @Sendable () -> Void,
    onEnd: @escaping @Sendable () -> Void
  ) {
    carrier = ScriptedCarrier(pipe, drive: drive, onEnd: onEnd)
    self.handler = handler
  }

  func cut() { carrier.cut() }

  // MARK: The client

  func response(to request: HTTPRequest) async throws -> HTTPResponse {
    received.pipe.setDemand(nil, onCancel: { self.cut() })
    return try await turn.wait { _ in
      carrier.pipe.server.setReceiver { self.serverReceived($0) }
      carrier.pipe.client.setReceiver { self.clientReceived($0) }
      send(.head(ScriptedFrames.head(of: request)), from: carrier.pipe.client)
      send(request.body, trailers: [:], from: carrier.pipe.client)
    } onCancel: { _ in
      self.cut()
    }
  }

  private func clientReceived(_ event: ScriptedPipe.Event) {
    switch event {
    case .finished: break
    case .lost: lost()
    case .bytes(let bytes):
      for frame in carrier.framesFromServer(bytes) {
        switch frame {
        case .head(let text):
          let (status, fields) = ScriptedFrames.response(text)
          turn.begin()?.resume(returning: HTTPResponse(status, fields: fields, body: .stream(received)))
        case .piece(let bytes): received.offer(bytes)
        case .end(let text):
          received.finish(trailers: ScriptedFrames.trailers(text))
          carrier.end()
        case .message, .close: break
        }
      }
    }
  }

  private func lost() {
    let error = TransportError(.connectionLost, "The connection was cut.")
    turn.begin()?.resume(throwing: error)
    received.fail(error)
    carrier.end()
  }

  // MARK: The server

  private func serverReceived(_ event: ScriptedPipe.Event) {
    switch event {
    case .finished: break
    case .lost:
      let (sent, incoming) = state.withLock { ($0.sent, $0.incoming) }
      carrier.cancelTasks()
      sent?.cancel()
      incoming?.fail(TransportError(.connectionLost, "The connection was cut."))
    case .bytes(let bytes):
      for frame in carrier.framesFromClient(bytes) {
        switch frame {
        case .head(let text): begin(ScriptedFrames.request(text))
        case .piece(let bytes): take(bytes)
        case .end: end()
        case .message, .close: break
        }
      }
    }
  }

  private func begin(_ request: HTTPRequest?) {
    guard var request else { return cut() }
    let head = HTTPRequestHead(method: request.method, target: request.target, fields: request.fields)
    guard case .streamed = handler.bodyDelivery(for: head) else { return state.withLock { $0.head = request } }
    let body = ByteStream()
    state.withLock { $0.incoming = body }
    request.body = .stream(body)
    serve(request)
  }

  private func take(_ bytes: [UInt8]) {
    let incoming = state.withLock { state in
      if state.incoming == nil { state.collected += bytes }
      return state.incoming
    }
    incoming?.offer(bytes)
  }

  private func end() {
    let (request, body, incoming) = state.withLock { ($0.head, $0.collected, $0.incoming) }
    if let incoming { return incoming.finish() }
    guard var request else { return cut() }
    let head = HTTPRequestHead(method: request.method, target: request.target, fields: request.fields)
    if !body.isEmpty, case .collected(let limit) = handler.bodyDelivery(for: head), body.count > limit {
      return write(handler.refusal(of: head, limit: limit))
    }
    request.body = body.isEmpty ? .empty : .bytes(body)
    serve(request)
  }

  private func serve(_ request: HTTPRequest) {
    switch handler.reply(to: request) {
    case .response(let response): write(response)
    case .webSocket: write(HTTPResponse(426))
    case .task(let work):
      run { exchange in
        do {
          exchange.write(try await work())
        } catch {
          exchange.write(HTTPResponse(.internalServerError))
        }
      }
    }
  }

  private func write(_ response: HTTPResponse) {
    send(.head(ScriptedFrames.head(of: response)), from: carrier.pipe.server)
    if case .stream(let stream, _) = response.body {
      state.withLock { $0.sent = stream }
      if carrier.pipe.isCut { stream.cancel() }
    }
    send(response.body, trailers: response.trailers, from: carrier.pipe.server)
  }

  // MARK: Both

  /// Sends a body to its end; one that fails cuts the connection.
  private func send(_ body: HTTPBody, trailers: HTTPFields, from end: ScriptedPipe.End) {
    guard case .stream(let stream, _) = body else {
      if let bytes = body.bytes, !bytes.isEmpty { send(.piece(bytes), from: end) }
      return send(.end(ScriptedFrames.text(of: trailers)), from: end)
    }
    run { exchange in
      do {
        while let bytes = try await stream.next() { exchange.send(.piece(bytes), from: end) }
        exchange.send(.end(ScriptedFrames.text(of: stream.trailers)), from: end)
      } catch {
        stream.cancel()
        exchange.cut()
      }
    }
  }

  private func send(_ frame: ScriptedFrames.Frame, from end: ScriptedPipe.End) { carrier.send(frame, from: end) }

  private func run(_ work: @escaping @Sendable (ScriptedExchange) async -> Void) {
    let task = carrier.run { await work(self) }
    if carrier.pipe.isCut { task.cancel() }
  }
}
