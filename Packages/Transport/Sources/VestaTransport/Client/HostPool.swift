import VestaConcurrency
import VestaTransportInterop

/// The connections of a client on one loop, by host.
// Sound as @unchecked Sendable: everything but the loop is touched on the thread of the loop alone.
final class HostPool: @unchecked Sendable {
  let loop: EventLoop
  private var idle: [String: [ClientConnection]] = [:]
  private var open: [ObjectIdentifier: ClientConnection] = [:]
  /// Exchanges that wait for a connection.
  private var connecting: [ObjectIdentifier: ClientExchange] = [:]
  /// The connections that speak HTTP/2 and take further exchanges: one for each host.
  var multiplexed: [String: HTTP2ClientConnection] = [:]
  /// All that speak HTTP/2 and are open.
  var openMultiplexed: [ObjectIdentifier: HTTP2ClientConnection] = [:]
  /// Exchanges that wait for such a connection.
  var multiplexing: [String: [ClientExchange]] = [:]
  private(set) var isClosed = false

  init(_ loop: EventLoop) { self.loop = loop }

  /// Sends an exchange on a connection that is kept, or on a new one.
  func begin(_ exchange: ClientExchange, host: String, port: Int, within limit: Duration) {
    guard !isClosed else {
      return exchange.fail(TransportError(.closed, "The client was closed.", mayHaveBeenProcessed: false))
    }
    guard !exchange.isOver else { return }
    exchange.timer = loop.schedule(after: limit) { [weak exchange] in
      guard let exchange else { return }
      exchange.fail(
        TransportError(
          .timedOut, "No response within \(limit).",
          mayHaveBeenProcessed: exchange.connection != nil))
    }
    exchange.cancelTimer = { [loop] in loop.cancel($0) }
    send(exchange, host: host, port: port)
  }

  func send(_ exchange: ClientExchange, host: String, port: Int) {
    exchange.attempts += 1
    if exchange.request.version == .http2 { return multiplex(exchange, host: host, port: port) }
    let key = "\(host):\(port)"
    // The one used last is the least likely to have been closed by the server.
    while let connection = idle[key]?.popLast() {
      guard !connection.isClosed, !connection.isLingering else { continue }
      if idle[key]?.isEmpty ?? false { idle[key] = nil }
      exchange.isOnKeptConnection = true
      return connection.begin(exchange)
    }
    exchange.isOnKeptConnection = false
    connecting[ObjectIdentifier(exchange)] = exchange
    let connector = Connector(loop, host: host, port: port) { [self] outcome in
      connecting[ObjectIdentifier(exchange)] = nil
      switch outcome {
      case .failure(let error): exchange.fail(error)
      case .success(let descriptor):
        guard !exchange.isOver, !isClosed else { return PlatformSocket.close(descriptor) }
        connected(descriptor, exchange, host, port)
      }
    }
    connector.start()
  }

  private func connected(_ descriptor: Int32, _ exchange: ClientExchange, _ host: String, _ port: Int) {
    PlatformSocket.sendAtOnce(descriptor)
    let connection = ClientConnection(descriptor, loop, self, host: host, port: port)
    guard loop.add(connection, [.readable, .finished]) else {
      PlatformSocket.close(descriptor)
      return exchange.fail(
        TransportError(.exhausted, "The system watches no more sockets.", mayHaveBeenProcessed: false))
    }
    open[ObjectIdentifier(connection)] = connection
    connection.begin(exchange)
  }

  /// Takes back a connection that is free.
  func keep(_ connection: ClientConnection) {
    let key = connection.key
    guard !isClosed, (idle[key]?.count ?? 0) < loop.tuning.idleConnectionsPerHost else { return connection.end() }
    idle[key, default: []].append(connection)
  }

  /// Forgets a connection that has ended, and sends its exchange again if that is safe.
  func forget(_ connection: ClientConnection, _ exchange: ClientExchange?) {
    open[ObjectIdentifier(connection)] = nil
    idle[connection.key]?.removeAll { $0 === connection }
    if idle[connection.key]?.isEmpty ?? false { idle[connection.key] = nil }
    guard let exchange, !exchange.isOver else { return }
    if exchange.canBeRepeated, !isClosed {
      send(exchange, host: connection.host, port: connection.port)
    } else {
      exchange.fail(
        TransportError(.connectionLost, "The connection ended before the response."))
    }
  }

  func close() {
    isClosed = true
    let error = TransportError(.closed, "The client was closed.")
    for exchange in connecting.values { exchange.fail(error) }
    for connection in open.values { connection.close(error) }
    for exchange in multiplexing.values.joined() { exchange.fail(error) }
    for connection in openMultiplexed.values { connection.close(error) }
    idle = [:]
  }
}
