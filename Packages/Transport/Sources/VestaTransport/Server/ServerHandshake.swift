import VestaTransportInterop

/// A connection of a server until it is secured; then the protocol that was agreed on takes the socket.
final class ServerHandshake: TLSHandshake {
  let listener: ServerListener

  init(_ descriptor: Int32, _ session: TLSSession, _ listener: ServerListener, _ loop: EventLoop) {
    self.listener = listener
    super.init(descriptor, session, loop, looksForClear: true) { outcome in
      switch outcome {
      case .secured(let session): Self.open(descriptor, session, listener, loop)?.readOn()
      case .clear: Self.open(descriptor, nil, listener, loop)?.refuseClear()
      case .failed:
        PlatformSocket.close(descriptor)
        listener.hasClosed()
      }
    }
  }

  /// Hands the socket to a connection of the protocol that was agreed on.
  private static func open(
    _ descriptor: Int32, _ session: TLSSession?, _ listener: ServerListener, _ loop: EventLoop
  ) -> ServerConnection? {
    let connection = ServerConnection(descriptor, listener, loop, security: session)
    if loop.add(connection, [.readable, .finished]) {
      // Over TLS, HTTP/2 is never known before: without an agreement it is HTTP/1.1.
      connection.choose(session?.negotiatedProtocol == ALPN.http2 ? .http2 : .http1)
      return connection
    }
    PlatformSocket.close(descriptor)
    listener.hasClosed()
    return nil
  }

  override func cancelled() { listener.hasClosed() }
}
