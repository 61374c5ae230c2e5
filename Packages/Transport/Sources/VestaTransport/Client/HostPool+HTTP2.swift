import VestaTransportInterop

extension HostPool {
  /// Sends an exchange on the connection to its host that speaks HTTP/2, or on a new one.
  func multiplex(_ exchange: ClientExchange, host: String, port: Int) {
    let key = "\(host):\(port)"
    if let connection = multiplexed[key], !connection.isClosed, !connection.isLeaving {
      exchange.isOnKeptConnection = true
      return connection.begin(exchange)
    }
    exchange.isOnKeptConnection = false
    multiplexing[key, default: []].append(exchange)
    // The connection that is being opened is for all of them.
    guard multiplexing[key]?.count == 1 else { return }
    let connector = Connector(loop, host: host, port: port) { [self] outcome in
      let exchanges = multiplexing.removeValue(forKey: key) ?? []
      switch outcome {
      case .failure(let error): for exchange in exchanges { exchange.fail(error) }
      case .success(let descriptor):
        guard !isClosed, exchanges.contains(where: { !$0.isOver }) else { return PlatformSocket.close(descriptor) }
        connected(descriptor, exchanges, host, port)
      }
    }
    connector.start()
  }

  private func connected(_ descriptor: Int32, _ exchanges: [ClientExchange], _ host: String, _ port: Int) {
    PlatformSocket.sendAtOnce(descriptor)
    let connection = HTTP2ClientConnection(descriptor, loop, self, host: host, port: port)
    guard loop.add(connection, [.readable, .finished]) else {
      PlatformSocket.close(descriptor)
      let error = TransportError(.exhausted, "The system watches no more sockets.", mayHaveBeenProcessed: false)
      for exchange in exchanges { exchange.fail(error) }
      return
    }
    openMultiplexed[ObjectIdentifier(connection)] = connection
    multiplexed[connection.key] = connection
    for exchange in exchanges where !exchange.isOver { connection.begin(exchange) }
  }

  /// The connection takes no further exchanges.
  func leave(_ connection: HTTP2ClientConnection) {
    if multiplexed[connection.key] === connection { multiplexed[connection.key] = nil }
    if connection.isClosed { openMultiplexed[ObjectIdentifier(connection)] = nil }
  }

  /// Sends an exchange again whose connection has ended or whose stream was refused, if that is safe.
  ///
  /// - Parameter isRefused: Whether the server has certainly not looked at it.
  func forget(_ connection: HTTP2ClientConnection, _ exchange: ClientExchange, isRefused: Bool) {
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
    // Not at once: the connection is in the middle of its own end.
    loop.perform { self.send(exchange, host: connection.host, port: connection.port) }
  }
}
