public import VestaServiceInterop

/// Opens listeners; a transport provides one.
public protocol HTTPServer: Sendable {
  /// Listens at an address and serves its connections.
  ///
  /// - Parameters:
  ///   - address: The address; with port 0 the system chooses a free one.
  ///   - handler: Replies to the requests.
  /// - Returns: The listener, which serves until it is shut down.
  /// - Throws: ``TransportError`` with `.cannotListen`.
  nonisolated(nonsending) func listen(
    at address: TransportAddress, handler: any HTTPHandler
  ) async throws -> any HTTPListener
}

/// An open listener.
public protocol HTTPListener: Sendable {
  /// The address, with the port that was chosen.
  var address: TransportAddress { get }

  /// Refuses new connections, lets running exchanges end, and closes the connections.
  ///
  /// WebSockets are closed with 1001. Exchanges still running after the grace period are cut off. A second call waits
  /// for the same end.
  ///
  /// - Parameter grace: How long exchanges may take to end.
  nonisolated(nonsending) func shutDown(within grace: Duration) async
}

/// Sends requests; a transport provides one.
///
/// Connections are kept and used again, by host; nothing of one request is visible to another one.
public protocol HTTPClient: Sendable {
  /// Sends a request, and waits for the head of the response.
  ///
  /// A body that is a stream is sent while the response is received. Cancelling the task before the head is there ends
  /// the exchange; afterwards the body of the response is what to cancel. A request that is for public hosts alone is
  /// sent to no other one.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - timeout: How long the head of the response may take; `nil` for the client's own limit.
  /// - Returns: The response; its body is a stream, or bytes that were received with the head.
  /// - Throws: ``TransportError``; `CancellationError`.
  nonisolated(nonsending) func send(_ request: HTTPRequest, timeout: Duration?) async throws -> HTTPResponse

  /// Opens a WebSocket.
  ///
  /// - Parameters:
  ///   - request: The request: GET with its target, authority and further fields.
  ///   - subprotocols: The protocols to offer, best first.
  ///   - timeout: How long opening may take; `nil` for the client's own limit.
  /// - Returns: The open socket.
  /// - Throws: ``TransportError`` with `.refused` and the status when the server does not open one;
  ///   `CancellationError`.
  nonisolated(nonsending) func openWebSocket(
    _ request: HTTPRequest, subprotocols: [String], timeout: Duration?
  ) async throws -> WebSocket

  /// The executor on which the responses of a host arrive over HTTP/2; `nil` for a client without one.
  ///
  /// A task that prefers it takes a response without a change of threads. It shares the thread with the connections of
  /// the client, so it must not work for long or block.
  ///
  /// - Parameter authority: The host and the port, as in requests.
  func executor(for authority: String) -> (any TaskExecutor)?

  /// Closes all connections: exchanges that are running fail with ``TransportError/Code/closed``.
  nonisolated(nonsending) func close() async
}

extension HTTPClient {
  /// No executor.
  public func executor(for authority: String) -> (any TaskExecutor)? { nil }
}

/// Notices changes of the network; it is among the services, so that clients that know no HTTP may use it.
public typealias NetworkMonitor = VestaServiceInterop.NetworkMonitor
