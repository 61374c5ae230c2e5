import VestaConcurrency
public import VestaTransportInterop

/// A client of HTTP/1.1, HTTP/2 and WebSockets on dedicated event loops.
///
/// Requests whose version is HTTP/2 share one connection for each host. Nothing else is spoken for them: with a host
/// that does not agree on HTTP/2 by ALPN they end with `TransportError` and the problem `.noAgreement`, and were not
/// sent. Other connections are kept by host and used
/// again. A request whose connection had been kept and turns out to be closed is sent once more when that is safe:
/// nothing of a response was received, its method is idempotent, and its body is no stream.
///
/// ```swift
/// let client = try VestaTransportClient()
/// let response = try await client.send(HTTPRequest(.get, "/", authority: "localhost:8080"), timeout: .seconds(5))
/// ```
public final class VestaTransportClient: HTTPClient, Sendable {
  private struct State: Sendable {
    var nextLoop = 0
    var isClosed = false
  }

  private let hosts: [HostPool]
  private let state = Locked(State())
  private let tuning: TransportTuning
  private let proxies: ProxySettings

  /// A client whose loops run.
  ///
  /// - Parameters:
  ///   - loops: The number of event loops.
  ///   - security: Whom to trust when a request is for `https`.
  ///   - proxies: The proxies to use; by default from the process's environment.
  ///   - tuning: The limits and time-outs.
  /// - Throws: `TransportError` with `.exhausted` when the process has no descriptors or threads left, with
  ///   `.invalidArgument` when the roots to trust are none.
  public convenience init(
    loops: Int = 1, security: TLSClientSettings = TLSClientSettings(), proxies: ProxySettings? = nil,
    tuning: TransportTuning = TransportTuning()
  ) throws {
    try self.init(loops: loops, security: security, proxies: proxies, tuning: tuning, lookUp: SocketAddress.lookUp)
  }

  /// - Parameter lookUp: Returns the addresses of a name; it may block.
  init(
    loops: Int = 1, security: TLSClientSettings = TLSClientSettings(), proxies: ProxySettings? = nil,
    tuning: TransportTuning = TransportTuning(), lookUp: @escaping NameLookUp
  ) throws {
    self.tuning = tuning
    self.proxies = proxies ?? ProxySettings(environment: PlatformProcess.proxyVariables)
    var security = security
    // A connection for requests of any version speaks HTTP/1.1.
    security.protocols.removeAll { $0 == ALPN.http2 }
    let context = try TLSClientContext(security)
    hosts = try EventLoop.make(loops, tuning).map { HostPool($0, context, lookUp) }
  }

  /// Sends a request, and waits for the head of the response.
  public func send(_ request: HTTPRequest, timeout: Duration?) async throws -> HTTPResponse {
    do {
      return try await exchange(request, timeout: timeout) { .init(request, webSocket: nil, $0) }.response()
    } catch { throw error }
  }

  /// Opens a WebSocket.
  public func openWebSocket(
    _ request: HTTPRequest, subprotocols: [String], timeout: Duration?
  ) async throws -> WebSocket {
    var request = request
    var random = SystemRandomNumberGenerator()
    let key = WebSocketHandshake.newKey(using: &random)
    for (name, value) in WebSocketHandshake.fields(asking: key, subprotocols) { request.fields.set(name, value) }
    let opening = request
    let outcome = try await exchange(request, timeout: timeout) {
      .init(opening, webSocket: ClientExchange.Opening(key: key, subprotocols: subprotocols), $0)
    }
    switch outcome {
    case .webSocket(let socket): return socket
    case .response(let response):
      response.body.stream.cancel()
      throw TransportError(.refused, "The server has answered \(response.status).", status: response.status)
    }
  }

  /// Ends the connections that are kept and not used, so that later requests open new ones.
  ///
  /// For a change of the network, after which they may lead nowhere.
  public func closeIdleConnections() { for host in hosts { host.loop.perform { host.closeIdle() } } }

  /// Closes all connections.
  public func close() async {
    let isFirst = state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    guard isFirst else { return }
    for host in hosts {
      await withCheckedContinuation { continuation in
        let isRunning = host.loop.perform {
          host.close()
          continuation.resume()
        }
        if !isRunning { continuation.resume() }
      }
      await host.loop.stop()
    }
  }

  /// The loop of the connection of HTTP/2 to a host.
  public func executor(for authority: String) -> (any TaskExecutor)? { multiplexing(authority).loop }

  /// One connection of HTTP/2 serves a host, so its requests are on one loop.
  private func multiplexing(_ authority: String) -> HostPool {
    hosts[Int(UInt(bitPattern: authority.hashValue) % UInt(hosts.count))]
  }

  private func exchange(
    _ request: HTTPRequest, timeout: Duration?,
    _ make: @escaping @Sendable (Turn<ClientExchange.Outcome>) -> ClientExchange
  ) async throws -> ClientExchange.Outcome {
    let turn = Turn<ClientExchange.Outcome>()
    let exchange = make(turn)
    let route = try route(of: request, isWebSocket: exchange.webSocket != nil)
    let pool = try pool(for: request)
    let limit = timeout ?? tuning.responseTimeout
    return try await turn.wait { turn in
      let isRunning = pool.loop.perform { pool.begin(exchange, route, within: limit) }
      if !isRunning { turn.begin()?.resume(throwing: Self.closed) }
    } onCancel: { _ in
      pool.loop.perform { exchange.fail(CancellationError()) }
    }
  }

  private static var closed: TransportError {
    TransportError(.closed, "The client was closed.", mayHaveBeenProcessed: false)
  }

  private func route(of request: HTTPRequest, isWebSocket: Bool) throws -> Route {
    guard MessageWriter.isWritable(request), let (host, port) = HTTPURL.split(authority: request.authority) else {
      throw TransportError(
        .invalidArgument, "The request cannot be sent: \(request.method) \(request.target)", mayHaveBeenProcessed: false
      )
    }
    guard request.scheme == "http" || request.scheme == "https" else {
      throw TransportError(.invalidArgument, "There is no \(request.scheme).", mayHaveBeenProcessed: false)
    }
    let isSecure = request.scheme == "https"
    return Route(
      isSecure: isSecure, host: host, port: port ?? (isSecure ? 443 : 80),
      speaksHTTP2: request.version == .http2 && !isWebSocket, isWebSocket: isWebSocket,
      isForPublicHosts: request.isForPublicHosts, proxies)
  }

  private func pool(for request: HTTPRequest) throws -> HostPool {
    try state.withLock { state in
      guard !state.isClosed else { throw Self.closed }
      if request.version == .http2 { return multiplexing(request.authority) }
      state.nextLoop = (state.nextLoop + 1) % hosts.count
      return hosts[state.nextLoop]
    }
  }
}
