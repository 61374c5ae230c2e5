import VestaConcurrency
import VestaTransportInterop

/// A WebSocket on a connection of a server: frames become messages, messages become frames.
///
/// Confined to the loop of its connection.
// Sound as @unchecked Sendable: tasks and hooks reach it through the connection's loop only.
final class WebSocketSession: @unchecked Sendable {
  private unowned let connection: ServerConnection
  let socket: WebSocket
  private var machine: FrameMachine
  private var isFull = false
  /// The end that this side has sent.
  private var sentEnd: WebSocketClose?
  private var isOver = false

  init(_ connection: ServerConnection, _ socket: WebSocket, messageLimit: Int) {
    self.connection = connection
    self.socket = socket
    machine = FrameMachine(.server, messageLimit: messageLimit)
  }

  /// Whether more can be read: the reader of the messages keeps up, and so does the peer with the pongs.
  var takesInput: Bool { !isFull && connection.output.count < connection.tuning.backlogBytes }

  /// Begins to serve.
  func start(_ serve: @escaping @Sendable (WebSocket) async throws -> Void) {
    socket.messages.setDemand({ [weak connection] in connection?.perform { $0.session?.isFull = false } })
    socket.output.setReadable { [weak connection] in connection?.perform { $0.session?.pump() } }
    connection.task = Task(executorPreference: connection.loop) { [socket] in
      do {
        try await serve(socket)
        socket.close()
      } catch {
        socket.close(WebSocketClose(.internalError))
      }
    }
  }

  /// Reads bytes of the peer.
  func receive(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard !isOver else { return }
    do {
      for event in try machine.feed(bytes) { take(event) }
    } catch {
      fail(WebSocketClose(error.code, error.reason))
    }
  }

  private func take(_ event: FrameMachine.Event) {
    guard !isOver else { return }
    switch event {
    case .message(let message):
      // After its close frame this side reads over what the peer had sent before.
      if sentEnd == nil, !socket.messages.offer(message) { isFull = true }
    case .ping(let payload): FrameWriter.pong(payload, mask: nil, into: &connection.output.tail)
    case .pong: break
    case .close(let end):
      if sentEnd == nil { FrameWriter.close(end, mask: nil, into: &connection.output.tail) }
      finish(sentEnd ?? end)
    }
  }

  /// Moves what is to be sent to the connection.
  func pump() {
    guard !isOver, sentEnd == nil else { return }
    while connection.output.count < connection.tuning.backlogBytes {
      switch socket.output.take() {
      case .element(.message(let message)): FrameWriter.message(message, mask: nil, into: &connection.output.tail)
      case .element(.ping): FrameWriter.ping(mask: nil, into: &connection.output.tail)
      case .element(.close(let end)): return sendEnd(end)
      case .nothingYet, .ended: return
      }
    }
  }

  func goAway() { socket.close(WebSocketClose(.goingAway)) }

  /// Sends a close frame, and waits a while for that of the peer.
  private func sendEnd(_ end: WebSocketClose) {
    sentEnd = end
    FrameWriter.close(end, mask: nil, into: &connection.output.tail)
    connection.deadline = connection.loop.now + connection.tuning.lingerTimeout.nanoseconds
  }

  private func fail(_ end: WebSocketClose) {
    if sentEnd == nil { FrameWriter.close(end, mask: nil, into: &connection.output.tail) }
    finish(end)
  }

  private func finish(_ end: WebSocketClose) {
    isOver = true
    socket.hasEnded(end)
    connection.close(lingers: true)
  }

  /// The connection is gone.
  func connectionEnded() {
    guard !isOver else { return }
    isOver = true
    socket.hasEnded(sentEnd ?? WebSocketClose(.abnormal))
  }
}

extension ServerConnection {
  var session: WebSocketSession? { if case .webSocket(let session) = phase { session } else { nil } }
}
