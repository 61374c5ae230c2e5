import VestaConcurrency
import VestaTransportInterop

/// One request and its response over a scripted pipe, with both of its ends.
final class ScriptedExchange: Sendable {
  private struct State: Sendable {
    var fromServer = ScriptedFrames()
    var fromClient = ScriptedFrames()
    var head: HTTPRequest?
    var collected: [UInt8] = []
    /// The body of a request whose handler reads it on arrival.
    var incoming: ByteStream?
    var tasks: [Task<Void, Never>] = []
    var sent: ByteStream?
    var isOver = false
  }

  private let pipe: ScriptedPipe
  private let handler: any HTTPHandler
  private let drive: @Sendable () -> Void
  private let onEnd: @Sendable () -> Void
  private let turn = Turn<HTTPResponse>()
  private let received = ByteStream()
  private let state = Locked(State())

  init(
    _ pipe: ScriptedPipe, _ handler: any HTTPHandler, drive: @escaping @Sendable () -> Void,
    onEnd: @escaping @Sendable () -> Void
  ) {
    self.pipe = pipe
    self.handler = handler
    self.drive = drive
    self.onEnd = onEnd
  }

  func cut() {
    pipe.client.cut()
    drive()
  }

  // MARK: The client

  func response(to request: HTTPRequest) async throws -> HTTPResponse {
    received.pipe.setDemand(nil, onCancel: { self.cut() })
    return try await turn.wait { _ in
      pipe.server.setReceiver { self.serverReceived($0) }
      pipe.client.setReceiver { self.clientReceived($0) }
      send(.head(ScriptedFrames.head(of: request)), from: pipe.client)
      send(request.body, trailers: [:], from: pipe.client)
    } onCancel: { _ in
      self.cut()
    }
  }

  private func clientReceived(_ event: ScriptedPipe.Event) {
    switch event {
    case .finished: break
    case .lost: lost()
    case .bytes(let bytes):
      for frame in state.withLock({ $0.fromServer.feed(bytes) }) {
        switch frame {
        case .head(let text):
          let (status, fields) = ScriptedFrames.response(text)
          turn.begin()?.resume(returning: HTTPResponse(status, fields: fields, body: .stream(received)))
        case .piece(let bytes): received.offer(bytes)
        case .end(let text):
          received.finish(trailers: ScriptedFrames.trailers(text))
          finish()
        case .message, .close: break
        }
      }
    }
  }

  private func lost() {
    let error = TransportError(.connectionLost, "The connection was cut.")
    turn.begin()?.resume(throwing: error)
    received.fail(error)
    finish()
  }

  private func finish() {
    let isFirst = state.withLock { state in
      defer { state.isOver = true }
      return !state.isOver
    }
    if isFirst { onEnd() }
  }

  // MARK: The server

  private func serverReceived(_ event: ScriptedPipe.Event) {
    switch event {
    case .finished: break
    case .lost:
      let (tasks, sent, incoming) = state.withLock { ($0.tasks, $0.sent, $0.incoming) }
      for task in tasks { task.cancel() }
      sent?.cancel()
      incoming?.fail(TransportError(.connectionLost, "The connection was cut."))
    case .bytes(let bytes):
      for frame in state.withLock({ $0.fromClient.feed(bytes) }) {
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
    send(.head(ScriptedFrames.head(of: response)), from: pipe.server)
    if case .stream(let stream, _) = response.body {
      state.withLock { $0.sent = stream }
      if pipe.isCut { stream.cancel() }
    }
    send(response.body, trailers: response.trailers, from: pipe.server)
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

  private func send(_ frame: ScriptedFrames.Frame, from end: ScriptedPipe.End) {
    end.send(ScriptedFrames.bytes(of: frame))
    drive()
  }

  private func run(_ work: @escaping @Sendable (ScriptedExchange) async -> Void) {
    let task = Task { await work(self) }
    state.withLock { $0.tasks.append(task) }
    if pipe.isCut { task.cancel() }
  }
}
