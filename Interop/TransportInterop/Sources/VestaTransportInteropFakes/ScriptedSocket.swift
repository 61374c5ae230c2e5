import VestaConcurrency
import VestaTransportInterop

/// A WebSocket over a scripted pipe, with both of its ends.
///
/// The head of the request travels first, then the head of the response, then messages in both directions. No sender
/// is held back.
final class ScriptedSocket: Sendable {
  private struct State: Sendable {
    var client: WebSocket?
    var server: WebSocket?
    var limit = Int.max
  }

  private let carrier: ScriptedCarrier
  private let handler: any HTTPHandler
  private let turn = Turn<WebSocket>()
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

  func open(_ request: HTTPRequest) async throws -> WebSocket {
    try await turn.wait { _ in
      carrier.pipe.server.setReceiver { self.serverReceived($0) }
      carrier.pipe.client.setReceiver { self.clientReceived($0) }
      send(.head(ScriptedFrames.head(of: request)), from: carrier.pipe.client)
    } onCancel: { _ in
      self.cut()
    }
  }

  private func clientReceived(_ event: ScriptedPipe.Event) {
    switch event {
    case .finished: break
    case .lost: ended(WebSocketClose(.abnormal), \.client)
    case .bytes(let bytes):
      for frame in carrier.framesFromServer(bytes) {
        if case .head(let text) = frame { answered(text) } else { take(frame, \.client, .max) }
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
    state.withLock { $0.client = socket }
    carry(socket, from: carrier.pipe.client)
    turn.begin()?.resume(returning: socket)
  }

  // MARK: The server

  private func serverReceived(_ event: ScriptedPipe.Event) {
    switch event {
    case .finished: break
    case .lost: ended(WebSocketClose(.abnormal), \.server)
    case .bytes(let bytes):
      for frame in carrier.framesFromClient(bytes) {
        if case .head(let text) = frame {
          serve(ScriptedFrames.request(text))
        } else {
          take(frame, \.server, state.withLock { $0.limit })
        }
      }
    }
  }

  private func serve(_ request: HTTPRequest?) {
    guard let request else { return cut() }
    guard case .webSocket(let service) = handler.reply(to: request) else {
      return send(.head(ScriptedFrames.head(of: HTTPResponse(426))), from: carrier.pipe.server)
    }
    let socket = WebSocket()
    state.withLock { state in
      state.server = socket
      state.limit = service.messageLimit
    }
    send(.head(ScriptedFrames.head(of: HTTPResponse(101))), from: carrier.pipe.server)
    carry(socket, from: carrier.pipe.server)
    carrier.run {
      do {
        try await service.serve(socket)
        socket.close()
      } catch {
        socket.close(WebSocketClose(.internalError))
      }
    }
  }

  // MARK: Both

  private func take(_ frame: ScriptedFrames.Frame, _ side: KeyPath<State, WebSocket?>, _ limit: Int) {
    guard let socket = state.withLock({ $0[keyPath: side] }) else { return }
    switch frame {
    case .message(let message):
      if message.byteCount > limit { return cut() }
      socket.messages.offer(message)
    case .close(let end):
      // The answer to a close frame is one.
      socket.close(end)
      ended(end, side)
    case .head, .piece, .end: break
    }
  }

  /// Sends what an end wants to send, until its close frame.
  private func carry(_ socket: WebSocket, from end: ScriptedPipe.End) {
    carrier.run { [self] in
      do {
        for try await output in socket.output {
          switch output {
          case .message(let message): send(.message(message), from: end)
          case .ping: break
          case .close(let close): return send(.close(close), from: end)
          }
        }
      } catch {
        // The socket has ended.
      }
    }
  }

  private func ended(_ end: WebSocketClose, _ side: KeyPath<State, WebSocket?>) {
    let socket = state.withLock { $0[keyPath: side] }
    turn.begin()?.resume(throwing: TransportError(.connectionLost, "The connection was cut."))
    socket?.hasEnded(end)
    carrier.end()
  }

  private func send(_ frame: ScriptedFrames.Frame, from end: ScriptedPipe.End) { carrier.send(frame, from: end) }
}
