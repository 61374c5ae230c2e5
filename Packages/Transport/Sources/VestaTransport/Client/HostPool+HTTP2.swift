import VestaConcurrency
import VestaTransportInterop

extension HostPool {
  /// Sends an exchange on the connection to its host that speaks HTTP/2, or on a new one.
  func multiplex(_ exchange: ClientExchange, _ route: Route) {
    if let connection = multiplexed[route], !connection.isClosed, !connection.isLeaving {
      exchange.isOnKeptConnection = true
      return connection.begin(exchange)
    }
    exchange.isOnKeptConnection = false
    multiplexing[route, default: []].append(exchange)
    // The connection that is being opened is for all of them.
    guard multiplexing[route]?.count == 1 else { return }
    opening(route).start { [self] outcome in
      let exchanges = multiplexing.removeValue(forKey: route) ?? []
      switch outcome {
      case .failure(let error): for exchange in exchanges { exchange.fail(error) }
      case .success(let opened):
        guard !isClosed, exchanges.contains(where: { !$0.isOver }) else {
          return PlatformSocket.close(opened.descriptor)
        }
        connected(opened, exchanges, route)
      }
    }
  }

  private func connected(_ opened: OpenedSocket, _ exchanges: [ClientExchange], _ route: Route) {
    opened.security?.onResumption = { [weak self] in self?.keep($0, for: route) }
    let connection = HTTP2ClientConnection(opened, loop, self, route)
    guard loop.add(connection, [.readable, .finished]) else {
      PlatformSocket.close(opened.descriptor)
      let error = TransportError(.exhausted, "The system watches no more sockets.", mayHaveBeenProcessed: false)
      for exchange in exchanges { exchange.fail(error) }
      return
    }
    openMultiplexed[ObjectIdentifier(connection)] = connection
    multiplexed[connection.route] = connection
    for exchange in exchanges where !exchange.isOver { connection.begin(exchange) }
    if opened.security != nil { connection.readOn() }
  }

  /// The connection takes no further exchanges.
  func leave(_ connection: HTTP2ClientConnection) {
    if multiplexed[connection.route] === connection { multiplexed[connection.route] = nil }
    if connection.isClosed { openMultiplexed[ObjectIdentifier(connection)] = nil }
  }

  /// Sends an exchange again whose connection has ended or whose stream was refused, if that is safe.
  ///
  /// - Parameters:
  ///   - isRefused: Whether the server has certainly not looked at it.
  ///   - isBusy: Whether the server continues with other streams, and may take this one later.
  func forget(
    _ connection: HTTP2ClientConnection, _ exchange: ClientExchange, isRefused: Bool, isBusy: Bool = false
  ) {
    guard !exchange.isOver else { return }
    exchange.connection = nil
    let isSafe =
      isRefused
      ? exchange.canBeRepeatedAfterRefusal(attempts: loop.tuning.requestAttempts)
      : exchange.canBeRepeated && exchange.attempts < loop.tuning.requestAttempts
    guard !isClosed else { return exchange.fail(TransportError(.closed, "The client was closed.")) }
    guard isSafe else {
      return exchange.fail(
        TransportError(
          .connectionLost, "The connection ended before the response.", mayHaveBeenProcessed: !isRefused))
    }
    exchange.isSent = false
    // Not at once: the connection is being ended.
    if isBusy { pause(exchange, connection.route) } else { loop.perform { self.send(exchange, connection.route) } }
  }

  /// Sends an exchange after a while, longer each time: servers count a stream for a moment after they have ended it.
  private func pause(_ exchange: ClientExchange, _ route: Route) {
    wait(exchange)
    let first = loop.tuning.http2RefusalPause
    let retry = Retry(initial: first, factor: 2, cap: first * 1_024)
    loop.schedule(after: retry.pauseWithoutJitter(after: exchange.attempts)) { [self] in
      guard stopWaiting(exchange), !exchange.isOver else { return }
      send(exchange, route)
    }
  }
}
