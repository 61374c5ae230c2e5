public import VestaConcurrency
public import VestaTesting
public import VestaTransportInterop

/// A network in memory: a server, a client and a monitor that know each other, with faults on request.
///
/// Requests and responses travel as values, without bytes; bodies and WebSockets are relayed piece by piece with their
/// back-pressure. Time-outs, latency and grace periods follow a manual clock.
///
/// ```swift
/// let network = FakeNetwork()
/// let listener = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
/// let response = try await network.send(HTTPRequest(.get, "/", authority: "localhost"), timeout: nil)
/// network.cut()   // all that is under way is lost
/// ```
public final class FakeNetwork: HTTPServer, HTTPClient, NetworkMonitor, Sendable {
  struct State: Sendable {
    var listeners: [String: FakeListener] = [:]
    var nextPort = 49_152
    var nextExchange = 0
    var exchanges: [Int: FakeExchange] = [:]
    var latency = Duration.zero
    var isDown = false
    var isSilent = false
    var isClosed = false
  }

  let state = Locked(State())
  private let changes = ListenerRegistry<Void>()

  /// The clock of latency, time-outs and grace periods.
  public let clock: ManualClock

  /// A network without listeners.
  public init(clock: ManualClock = ManualClock()) { self.clock = clock }

  // MARK: Faults

  /// Sets how long the head of a request travels.
  public func setLatency(_ latency: Duration) { state.withLock { $0.latency = latency } }

  /// Refuses all new exchanges, or accepts them again.
  public func setDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

  /// Lets new requests vanish, so that they end by their time-outs only, or lets them through again.
  public func setSilent(_ isSilent: Bool) { state.withLock { $0.isSilent = isSilent } }

  /// Loses all exchanges and WebSockets that are under way.
  public func cut() {
    let error = TransportError(.connectionLost, "The network was cut.")
    for exchange in state.withLock({ Array($0.exchanges.values) }) { exchange.fail(error) }
  }

  /// Notifies all listeners of `NetworkMonitor` of a change.
  public func change() { changes.emit(()) }

  /// The number of exchanges and WebSockets that are under way.
  public var exchangeCount: Int { state.withLock { $0.exchanges.count } }

  // MARK: The seam

  /// Listens; nothing else may have the address.
  public func listen(
    at address: TransportAddress, handler: any HTTPHandler
  ) async throws -> any HTTPListener { try serve(handler, at: address) }

  /// Listens at once; nothing else may have the address.
  ///
  /// - Parameters:
  ///   - handler: Replies to the requests.
  ///   - address: The address.
  @discardableResult
  public func serve(_ handler: any HTTPHandler, at address: TransportAddress) throws -> any HTTPListener {
    try state.withLock { state in
      var address = address
      if case .internet(let host, 0) = address {
        address = .internet(host: host, port: state.nextPort)
        state.nextPort += 1
      }
      guard state.listeners[address.description] == nil else {
        throw TransportError(.cannotListen, "\(address) is in use.", mayHaveBeenProcessed: false)
      }
      let listener = FakeListener(address: address, handler: handler, network: self)
      state.listeners[address.description] = listener
      return listener
    }
  }

  /// Sends a request to the listener at its authority.
  public func send(_ request: HTTPRequest, timeout: Duration?) async throws -> HTTPResponse {
    let (reply, exchange) = try await replyTo(request, timeout: timeout, isUpgrade: false)
    switch reply {
    case .response(let response): return exchange.relayed(response)
    case .task, .webSocket:
      exchange.end()
      return HTTPResponse(426)
    }
  }

  /// Opens a WebSocket at the listener of the request's authority.
  public func openWebSocket(
    _ request: HTTPRequest, subprotocols: [String], timeout: Duration?
  ) async throws -> WebSocket {
    var request = request
    if !subprotocols.isEmpty { request.fields.set("sec-websocket-protocol", subprotocols.joined(separator: ", ")) }
    let (reply, exchange) = try await replyTo(request, timeout: timeout, isUpgrade: true)
    guard case .webSocket(let service) = reply else {
      exchange.end()
      guard case .response(let response) = reply else { throw TransportError(.refused, "There is no WebSocket.") }
      throw TransportError(.refused, "The server has answered \(response.status).", status: response.status)
    }
    return exchange.open(service)
  }

  /// Ends all exchanges; later ones fail.
  public func close() async {
    let exchanges = state.withLock { state in
      state.isClosed = true
      return Array(state.exchanges.values)
    }
    for exchange in exchanges { exchange.fail(TransportError(.closed, "The client was closed.")) }
  }

  /// Adds a listener, which ``change()`` calls.
  public func addChangeListener(_ onChange: @escaping @Sendable () -> Void) -> ListenerRegistration {
    changes.add { onChange() }
  }

  // MARK: Exchanges

  private func replyTo(
    _ request: HTTPRequest, timeout: Duration?, isUpgrade: Bool
  ) async throws -> (HTTPReply, FakeExchange) {
    let (exchange, latency, isSilent) = try begin(request)
    let timer = timeout.map { timeout in
      clock.schedule(after: timeout) { exchange.fail(TransportError(.timedOut, "No response within \(timeout).")) }
    }
    defer { timer?.cancel() }
    do {
      return (
        try await exchange.reply(isSilent: isSilent) { [clock] in
          if latency > .zero { try await clock.sleep(for: latency) }
        }, exchange
      )
    } catch {
      exchange.fail(error)
      throw error
    }
  }

  private func begin(_ request: HTTPRequest) throws -> (FakeExchange, Duration, isSilent: Bool) {
    try state.withLock { state in
      if state.isClosed { throw TransportError(.closed, "The client was closed.", mayHaveBeenProcessed: false) }
      if request.isForPublicHosts, Self.isPrivate(request.authority) {
        throw TransportError(.forbiddenAddress, "\(request.authority) is not public.", mayHaveBeenProcessed: false)
      }
      let defaultPort = request.scheme == "https" ? ":443" : ":80"
      let listener = state.listeners[request.authority] ?? state.listeners[request.authority + defaultPort]
      guard !state.isDown, let listener else {
        throw TransportError(
          .cannotConnect, "Nothing listens at \(request.authority).", mayHaveBeenProcessed: false)
      }
      state.nextExchange += 1
      let exchange = FakeExchange(number: state.nextExchange, request: request, listener: listener, network: self)
      state.exchanges[exchange.number] = exchange
      return (exchange, state.latency, state.isSilent)
    }
  }

  /// Whether an authority is of this machine, or an address of a private network; other names are public.
  private static func isPrivate(_ authority: String) -> Bool {
    guard let (host, _) = HTTPURL.split(authority: authority) else { return true }
    let numbers = host.split(separator: ".").map { UInt8($0) }
    let address = numbers.compactMap(\.self)
    return host == "localhost" || address.count == 4 && numbers.count == 4 && !InternetAddress.isPublic(address)
  }

  func remove(_ exchange: FakeExchange) {
    let listener = state.withLock { state in
      state.exchanges[exchange.number] = nil
      return exchange.listener
    }
    listener.hasEndedOne()
  }

  func exchanges(of listener: FakeListener) -> [FakeExchange] {
    state.withLock { $0.exchanges.values.filter { $0.listener === listener } }
  }

  func remove(_ listener: FakeListener) {
    state.withLock { $0.listeners[listener.address.description] = nil }
  }
}
