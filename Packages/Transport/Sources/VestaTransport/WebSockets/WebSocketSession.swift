import VestaTransportInterop

/// A WebSocket on a connection: frames become messages, messages become frames.
///
/// Confined to the loop of its connection.
// Sound as @unchecked Sendable: hooks of the socket, on any thread, only hand work to the connection's loop.
final class WebSocketSession: @unchecked Sendable {
  private weak var connection: SocketConnection?
  let socket: WebSocket
  private let role: FrameMachine.Role
  private var machine: FrameMachine
  private var isFull = false
  /// The end that this side has sent.
  private var sentEnd: WebSocketClose?
  private var isOver = false
  private var random = SystemRandomNumberGenerator()

  init(_ connection: SocketConnection, _ socket: WebSocket, _ role: FrameMachine.Role, messageLimit: Int) {
    self.connection = connection
    self.socket = socket
    self.role = role
    machine = FrameMachine(role, messageLimit: messageLimit)
  }

  /// Whether more can be read: the reader of the messages keeps up, and so does the peer with the pongs.
  var takesInput: Bool {
    guard let connection else { return false }
    return !isFull && connection.output.count < connection.tuning.backlogBytes
  }

  /// Begins to move messages.
  func start() {
    let goesOn: @Sendable () -> Void = { [weak self] in
      guard let self else { return }
      perform { self.isFull = false }
    }
    socket.messages.setDemand(goesOn, onCancel: goesOn)
    socket.output.setReadable { [weak self] in self?.connection?.writeSoon() }
  }

  private func perform(_ work: @escaping @Sendable () -> Void) { connection?.perform(work) }

  /// Every frame of a client has a separate mask.
  private var mask: UInt32? { role == .client ? UInt32.random(in: 0 ... .max, using: &random) : nil }

  /// Reads bytes of the peer.
  func receive(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard !isOver else { return }
    for event in machine.feed(bytes) { take(event) }
  }

  private func take(_ event: FrameMachine.Event) {
    guard !isOver, let connection else { return }
    switch event {
    case .message(let message):
      // After its close frame this side reads over what the peer had sent before.
      if sentEnd == nil, !socket.messages.offer(message), !socket.messages.isCancelled { isFull = true }
    case .ping(let payload): FrameWriter.pong(payload, mask: mask, into: &connection.output.tail)
    case .pong: break
    case .close(let end):
      if sentEnd == nil { FrameWriter.close(end, mask: mask, into: &connection.output.tail) }
      finish(sentEnd ?? end)
    case .failed(let failure): fail(WebSocketClose(failure.code, failure.reason))
    }
  }

  /// Moves what is to be sent to the connection.
  func pump() {
    guard let connection else { return }
    while !isOver, sentEnd == nil, connection.output.count < connection.tuning.backlogBytes {
      switch socket.output.take() {
      case .element(.message(let message)): send(message, on: connection)
      case .element(.ping): FrameWriter.ping(mask: mask, into: &connection.output.tail)
      case .element(.close(let end)): sendEnd(end, on: connection)
      case .nothingYet, .ended: return
      }
    }
  }

  private func send(_ message: WebSocketMessage, on connection: SocketConnection) {
    if role == .server, case .binary(let bytes) = message {
      // One large message to many receivers is one array.
      FrameWriter.head(ofBinary: bytes.count, into: &connection.output.tail)
      return connection.output.append(bytes)
    }
    FrameWriter.message(message, mask: mask, into: &connection.output.tail)
  }

  func goAway() { socket.close(WebSocketClose(.goingAway)) }

  /// Sends a close frame, and waits a while for that of the peer.
  private func sendEnd(_ end: WebSocketClose, on connection: SocketConnection) {
    sentEnd = end
    FrameWriter.close(end, mask: mask, into: &connection.output.tail)
    connection.deadline = connection.loop.now + connection.loop.times.linger
  }

  private func fail(_ end: WebSocketClose) {
    if let connection, sentEnd == nil { FrameWriter.close(end, mask: mask, into: &connection.output.tail) }
    finish(end)
  }

  private func finish(_ end: WebSocketClose) {
    isOver = true
    socket.hasEnded(end)
    connection?.close(lingers: true)
  }

  /// The connection has ended.
  func connectionEnded() {
    guard !isOver else { return }
    isOver = true
    socket.hasEnded(sentEnd ?? WebSocketClose(.abnormal))
  }
}
