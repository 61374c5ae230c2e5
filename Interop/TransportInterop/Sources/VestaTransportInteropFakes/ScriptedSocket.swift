import VestaConcurrency
import VestaTransportInterop

/// A WebSocket over a scripted pipe, with both of its ends.
///
/// The head of the request travels first, then the head of the response, then messages in both directions. Nobody is
/// held back.
final class ScriptedSocket: Sendable {
  private enum Side: Sendable {
    case client
    case server
  }

  private struct Half: Sendable {
    /// The frames that arrive.
    var frames = ScriptedFrames()
    var socket: WebSocket?
    var limit = Int.max
    var hasSentClose = false
  }

  private struct State: Sendable {
    var client = Half()
    var server = Half()
    var tasks: [Task<Void, Never>] = []
    var isOver = false

    subscript(side: Side) -> Half {
      get { side == .client ? client : server }
      set { if side == .client { client = newValue } else { server = newValue } }
    }
  }

  private let pipe: ScriptedPipe
  private let handler: any HTTPHandler
  private let drive: @Sendable () -> Void
  private let onEnd: @Sendable () -> Void
  private let turn = Turn<WebSocket>()
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

  func open(_ request: HTTPRequest) async throws -> WebSocket {
    try await turn.wait { _ in
      pipe.server.setReceiver { self.serverReceived($0) }
      pipe.client.setReceiver { self.clientReceived($0) }
      send(.head(ScriptedFrames.head(of: request)), from: pipe.client)
    } onCancel: { _ in
      self.cut()
    }
  }

  private func clientReceived(_ event: ScriptedPipe.Event) {
    switch event {
    case .finished: break
    case .lost: ended(WebSocketClose(.abnormal), .client)
    case .bytes(let bytes):
      for frame in state.withLock({ $0.client.frames.feed(bytes) }) {
        if case .head(let text) = frame { answered(text) } else { take(frame, .client) }
      }
    }
  }

  private func answered(_ head: String) {
    let (status, _) = ScriptedFrames.response(head)
    guard status.code == 101 else {
      turn.begin()?.resume(
        throwing: TransportError(.refused, "The server has answered \(status).", status: status))
      return cut()
    }
    let socket = WebSocket()
    state.withLock { $0.client.socket = socket }
    carry(socket, .client)
    turn.begin()?.resume(returning: socket)
  }

  // MARK: The server

  private func serverReceived(_ event: ScriptedPipe.Event) {
    switch event {
    case .finished: break
    case .lost: ended(WebSocketClose(.abnormal), .server)
    case .bytes(let bytes):
      for frame in state.withLock({ $0.server.frames.feed(bytes) }) {
        if case .head(let text) = frame {
          serve(ScriptedFrames.request(text))
        } else {
          take(frame, .server)
        }
      }
    }
  }

  private func serve(_ request: HTTPRequest?) {
    guard let request else { return cut() }
    guard case .webSocket(let service) = handler.reply(to: request) else {
      return send(.head(ScriptedFrames.head(of: HTTPResponse(426))), from: pipe.server)
    }
    let socket = WebSocket()
    state.withLock { state in
      state.server.socket = socket
      state.server.limit = service.messageLimit
    }
    send(.head(ScriptedFrames.head(of: HTTPResponse(101))), from: pipe.server)
    carry(socket, .server)
    run { _ in
      do {
        try await service.serve(socket)
        socket.close()
      } catch {
        socket.close(WebSocketClose(.internalError))
      }
    }
  }

  // MARK: Both

  private func end(of side: Side) -> ScriptedPipe.End { side == .client ? pipe.client : pipe.server }

  private func take(_ frame: ScriptedFrames.Frame, _ side: Side) {
    let half = state.withLock { $0[side] }
    guard let socket = half.socket else { return }
    switch frame {
    case .message(let message):
      if message.byteCount > half.limit { return cut() }
      socket.messages.offer(message)
    case .close(let close):
      // The answer to a close frame is one.
      sendClose(close, side)
      ended(close, side)
    case .head, .piece, .end: break
    }
  }

  /// Sends what an end wants to send, until its close frame.
  private func carry(_ socket: WebSocket, _ side: Side) {
    run { exchange in
      do {
        for try await output in socket.output {
          switch output {
          case .message(let message): exchange.send(.message(message), from: exchange.end(of: side))
          case .ping: break
          case .close(let close): return exchange.sendClose(close, side)
          }
        }
      } catch {
        // The socket has ended.
      }
    }
  }

  private func sendClose(_ close: WebSocketClose, _ side: Side) {
    let isFirst = state.withLock { state in
      defer { state[side].hasSentClose = true }
      return !state[side].hasSentClose
    }
    if isFirst { send(.close(close), from: end(of: side)) }
  }

  private func ended(_ end: WebSocketClose, _ side: Side) {
    let (socket, isFirst) = state.withLock { state in
      defer { state.isOver = true }
      return (state[side].socket, !state.isOver)
    }
    turn.begin()?.resume(throwing: TransportError(.connectionLost, "The connection was cut."))
    socket?.hasEnded(end)
    if isFirst { onEnd() }
  }

  private func send(_ frame: ScriptedFrames.Frame, from end: ScriptedPipe.End) {
    end.send(ScriptedFrames.bytes(of: frame))
    drive()
  }

  private func run(_ work: @escaping @Sendable (ScriptedSocket) async -> Void) {
    let task = Task { await work(self) }
    state.withLock { $0.tasks.append(task) }
  }
}
