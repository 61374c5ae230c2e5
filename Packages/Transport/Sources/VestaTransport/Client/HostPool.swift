import VestaConcurrency
import VestaTransportInterop

/// The connections of a client on one loop, by host.
// Sound as @unchecked Sendable: everything but the loop is touched on the thread of the loop alone.
final class HostPool: @unchecked Sendable {
  let loop: EventLoop
  private let security: TLSClientContext
  private var idle: [Route: [ClientConnection]] = [:]
  private var open: [ObjectIdentifier: ClientConnection] = [:]
  /// Exchanges that wait for a connection.
  private var connecting: [ObjectIdentifier: ClientExchange] = [:]
  /// The connections that speak HTTP/2 and take further exchanges: one for each route.
  var multiplexed: [Route: HTTP2ClientConnection] = [:]
  /// All that speak HTTP/2 and are open.
  var openMultiplexed: [ObjectIdentifier: HTTP2ClientConnection] = [:]
  /// Exchanges that wait for such a connection.
  var multiplexing: [Route: [ClientExchange]] = [:]
  private(set) var isClosed = false
  /// The values that resume a session of TLS, by route; each is used once, so that it does not link connections.
  private var resumptions: [Route: TLSResumption] = [:]

  private let lookUp: NameLookUp

  init(_ loop: EventLoop, _ security: TLSClientContext, _ lookUp: @escaping NameLookUp) {
    self.loop = loop
    self.security = security
    self.lookUp = lookUp
  }

  /// Sends an exchange on a connection that is kept, or on a new one.
  func begin(_ exchange: ClientExchange, _ route: Route, within limit: Duration) {
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
    send(exchange, route)
  }

  func send(_ exchange: ClientExchange, _ route: Route) {
    // It may have waited for a later turn, to be sent again.
    guard !isClosed else { return exchange.fail(TransportError(.closed, "The client was closed.")) }
    exchange.attempts += 1
    if route.speaksHTTP2 { return multiplex(exchange, route) }
    if let connection = idleConnection(to: route) {
      exchange.isOnKeptConnection = true
      return connection.begin(exchange)
    }
    exchange.isOnKeptConnection = false
    connecting[ObjectIdentifier(exchange)] = exchange
    opening(route).start { [self] outcome in
      connecting[ObjectIdentifier(exchange)] = nil
      switch outcome {
      case .failure(let error): exchange.fail(error)
      case .success(let opened):
        guard !exchange.isOver, !isClosed else { return PlatformSocket.close(opened.descriptor) }
        connected(opened, exchange, route)
      }
    }
  }

  /// Takes a kept connection: the one used last is the least likely to have been closed by the server.
  private func idleConnection(to route: Route) -> ClientConnection? {
    while let connection = idle[route]?.popLast() {
      guard !connection.isClosed, !connection.isLingering else { continue }
      if idle[route]?.isEmpty ?? false { idle[route] = nil }
      return connection
    }
    return nil
  }

  /// Keeps an exchange that is on no connection, so that it ends with the client.
  func wait(_ exchange: ClientExchange) { connecting[ObjectIdentifier(exchange)] = exchange }

  /// - Returns: Whether it was waiting.
  func stopWaiting(_ exchange: ClientExchange) -> Bool {
    connecting.removeValue(forKey: ObjectIdentifier(exchange)) != nil
  }

  func opening(_ route: Route) -> ConnectionOpening {
    ConnectionOpening(loop, route, security, lookUp, resuming: resumptions.removeValue(forKey: route))
  }

  private func connected(_ opened: OpenedSocket, _ exchange: ClientExchange, _ route: Route) {
    opened.security?.onResumption = { [weak self] in self?.keep($0, for: route) }
    let connection = ClientConnection(opened, loop, self, route)
    guard loop.add(connection, [.readable, .finished]) else {
      PlatformSocket.close(opened.descriptor)
      return exchange.fail(
        TransportError(.exhausted, "The system watches no more sockets.", mayHaveBeenProcessed: false))
    }
    open[ObjectIdentifier(connection)] = connection
    connection.begin(exchange)
    if opened.security != nil { connection.readOn() }
  }

  func keep(_ resumption: TLSResumption, for route: Route) {
    if resumptions.count >= loop.tuning.keptSessions { resumptions = [:] }
    resumptions[route] = resumption
  }

  /// Ends unused connections: after a change of the network they may lead nowhere.
  func closeIdle() {
    let unused = idle.values.joined()
    idle = [:]
    for connection in unused { connection.end() }
    for connection in openMultiplexed.values { connection.retire() }
  }

  /// Takes back a connection that is free.
  func keep(_ connection: ClientConnection) {
    let route = connection.route
    guard !isClosed, (idle[route]?.count ?? 0) < loop.tuning.idleConnectionsPerHost else { return connection.end() }
    idle[route, default: []].append(connection)
  }

  /// Forgets a connection that has ended, and sends its exchange again if that is safe.
  func forget(_ connection: ClientConnection, _ exchange: ClientExchange?) {
    open[ObjectIdentifier(connection)] = nil
    idle[connection.route]?.removeAll { $0 === connection }
    if idle[connection.route]?.isEmpty ?? false { idle[connection.route] = nil }
    guard let exchange, !exchange.isOver else { return }
    if exchange.canBeRepeated, !isClosed {
      send(exchange, connection.route)
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
