import VestaConcurrency
public import VestaTransportInterop

/// A server of HTTP/1.1 and WebSockets on event loops, one for each core.
///
/// Each loop has a separate socket at the address of a listener, so that connections never change threads.
///
/// ```swift
/// let server = try VestaTransportServer()
/// let listener = try await server.listen(at: .internet(host: "127.0.0.1", port: 8080), handler: handler)
/// ```
public final class VestaTransportServer: HTTPServer, Sendable {
  private let loops: [EventLoop]
  private let tuning: TransportTuning

  /// A server whose loops run.
  ///
  /// - Parameters:
  ///   - loops: The number of event loops; that of the cores unless it is given.
  ///   - tuning: The limits and time-outs.
  /// - Throws: `TransportError` with `.exhausted` when the process has no descriptors or threads left.
  public init(loops: Int? = nil, tuning: TransportTuning = TransportTuning()) throws {
    self.tuning = tuning
    self.loops = try EventLoop.make(loops ?? PlatformThread.coreCount, tuning)
  }

  /// Listens at an address and serves its connections, in clear.
  public func listen(
    at address: TransportAddress, handler: any HTTPHandler
  ) async throws -> any HTTPListener {
    try await listen(at: address, security: nil, handler: handler)
  }

  /// Listens at an address and serves its connections.
  ///
  /// A client that speaks HTTP in clear to a listener with TLS is answered with 400 and a sentence.
  ///
  /// - Parameters:
  ///   - address: The address; with port 0 the system chooses a free one.
  ///   - security: How connections are encrypted; `nil` for none.
  ///   - handler: Replies to the requests.
  /// - Throws: `TransportError` with `.cannotListen`, or with `.invalidArgument` for a certificate that OpenSSL
  ///   refuses.
  public func listen(
    at address: TransportAddress, security: TLSServerSettings?, handler: any HTTPHandler
  ) async throws -> any HTTPListener {
    let security = try security.map { settings in try TLSServerSecurity(settings) }
    // A socket that shares its address would also share it with another listener.
    try Self.checkFree(address)
    let place = try Self.place(address)
    let first = try PlatformSocket.listen(at: place, shares: true, backlog: tuning.listenBacklog)
    let chosen = PlatformSocket.localAddress(first) ?? address
    let descriptors = try sockets(sharing: chosen, with: first)
    let listener = ServerListener(address: chosen, handler: handler, tuning: tuning, security: security, loops: loops)
    await listener.open(descriptors)
    return listener
  }

  /// Refuses an address at which nothing could listen now, without listening at it: no client meets a server that is
  /// not there yet.
  ///
  /// - Parameter address: The address; one with port 0, for which the system chooses a free one, is never refused.
  /// - Throws: `TransportError` with `.cannotListen`.
  public static func checkFree(_ address: TransportAddress) throws(TransportError) {
    let place = try place(address)
    guard case .internet(_, port: 1...) = address else { return }
    PlatformSocket.close(try PlatformSocket.listen(at: place, shares: false, backlog: 0))
  }

  private static func place(_ address: TransportAddress) throws(TransportError) -> SocketAddress {
    guard case .internet(let host, let port) = address,
      let place = SocketAddress(host: host == "localhost" ? "127.0.0.1" : host, port: port)
    else {
      throw TransportError(.cannotListen, "\(address) is no address of this machine.", mayHaveBeenProcessed: false)
    }
    return place
  }

  /// A socket for each loop, all at the address of the first; on failure all are closed.
  private func sockets(sharing address: TransportAddress, with first: Int32) throws -> [Int32] {
    var descriptors = [first]
    do {
      let place = try Self.place(address)
      for _ in loops.dropFirst() {
        descriptors.append(try PlatformSocket.listen(at: place, shares: true, backlog: tuning.listenBacklog))
      }
      return descriptors
    } catch {
      descriptors.forEach(PlatformSocket.close)
      throw error
    }
  }

  /// Ends the loops; shut all listeners down before.
  public func stop() async { for loop in loops { await loop.stop() } }
}
