import VestaConcurrency

/// One end of an open WebSocket.
///
/// Messages of either direction keep their order. ``send(_:)`` waits while the peer lags; ``offer(_:)`` never waits,
/// and says how much is waiting, so that one slow peer of many can be closed. Received and unread messages make
/// the transport stop reading from the connection.
///
/// ```swift
/// for try await message in socket.messages {
///   try await socket.send(message)
/// }
/// ```
///
/// `messages` ends without an error when the peer has closed; ``end`` then says how. A connection that is lost ends it
/// without an error too, with the code 1006.
public final class WebSocket: Sendable {
  /// A message or the end, on its way to the peer.
  public enum Output: Sendable {
    /// A message.
    case message(WebSocketMessage)
    /// A ping; the transport answers the peer's by itself.
    case ping
    /// The end: a close frame.
    case close(WebSocketClose)
  }

  /// The messages of the peer.
  public let messages: DemandPipe<WebSocketMessage>

  /// The messages and the end that are to be sent; the transport reads them.
  public let output: DemandPipe<Output>

  /// The protocol that both ends have agreed on.
  public let subprotocol: String?

  private struct State: Sendable {
    var end: WebSocketClose?
    var waiting = Waiters()
  }

  private let state = Locked(State())

  /// A socket, made by a transport, which reads `output`, writes `messages`, and calls ``hasEnded(_:)``.
  ///
  /// - Parameters:
  ///   - subprotocol: The protocol that both ends have agreed on.
  ///   - limit: The number of bytes that wait in each direction at which the writer pauses.
  public init(subprotocol: String? = nil, limit: Int = 65_536) {
    self.subprotocol = subprotocol
    messages = DemandPipe(limit: limit) { $0.byteCount + 16 }
    output = DemandPipe(limit: limit) { if case .message(let message) = $0 { message.byteCount + 16 } else { 16 } }
  }

  /// How the socket ended; `nil` while it is open.
  public var end: WebSocketClose? { state.withLock { $0.end } }

  /// The number of bytes that wait to be sent.
  public var backlog: Int { output.backlog }

  /// Sends a message, and waits while the peer lags.
  ///
  /// - Throws: ``TransportError`` with `.closed` after the end; `CancellationError`, and then the message is sent
  ///   nevertheless.
  public func send(_ message: WebSocketMessage) async throws { try await output.write(.message(message)) }

  /// Sends a message without waiting; after the end it is dropped.
  ///
  /// - Returns: Whether the peer keeps up.
  @discardableResult
  public func offer(_ message: WebSocketMessage) -> Bool { output.offer(.message(message)) }

  /// Sends a ping, for peers and proxies that drop a silent connection.
  public func ping() { output.offer(.ping) }

  /// Closes the socket after what was sent; a later call is ignored.
  ///
  /// - Parameter end: The code and the reason; one that must not be sent becomes 1000.
  public func close(_ end: WebSocketClose = WebSocketClose(.normal)) {
    output.offer(.close(end.code.isSendable ? end : WebSocketClose(.normal, end.reason)))
    output.finish()
  }

  /// Waits until the connection has ended.
  public func closed() async -> WebSocketClose {
    await state.wait(in: \.waiting) { $0.end != nil }
    return end ?? WebSocketClose(.abnormal)
  }

  /// Notes the end of the connection; the transport calls this once.
  public func hasEnded(_ end: WebSocketClose) {
    let waiting = state.withLock { state -> Waiters in
      if state.end == nil { state.end = end }
      return state.waiting.takeAll()
    }
    messages.finish()
    output.cancel()
    waiting.resume()
  }
}
