import VestaTransportInterop

/// Opens a connection along a route: a socket to the host or to the proxy, the proxy's tunnel, TLS.
///
/// Confined to its loop.
struct ConnectionOpening {
  typealias Completion = (Result<OpenedSocket, TransportError>) -> Void

  private let loop: EventLoop
  private let route: Route
  private let security: TLSClientContext
  private let lookUp: NameLookUp
  private let resumption: TLSResumption?

  /// - Parameter resumption: The means to resume an earlier session with the host.
  init(
    _ loop: EventLoop, _ route: Route, _ security: TLSClientContext, _ lookUp: @escaping NameLookUp,
    resuming resumption: TLSResumption?
  ) {
    self.loop = loop
    self.lookUp = lookUp
    self.route = route
    self.security = security
    self.resumption = resumption
  }

  /// - Parameter completion: Called once, on the loop; also when the loop's owner no longer needs it.
  func start(_ completion: @escaping Completion) {
    let (host, port) = route.proxy.map { ($0.host, $0.port) } ?? (route.host, route.port)
    // The addresses of the proxy were chosen by its user.
    let isPublic = route.isForPublicHosts && route.proxy == nil
    let connector = Connector(loop, host: host, port: port, isPublic: isPublic, lookUp) { outcome in
      switch outcome {
      case .failure(let error): completion(.failure(error))
      case .success(let descriptor):
        PlatformSocket.sendAtOnce(descriptor)
        guard let proxy = route.proxy, route.isTunnel else { return secure(descriptor, completion) }
        ProxyTunnel(descriptor, loop, route.authority, proxy) { error in
          guard let error else { return secure(descriptor, completion) }
          PlatformSocket.close(descriptor)
          completion(.failure(error))
        }.start()
      }
    }
    connector.start()
  }

  /// A server that knows no ALPN agrees on nothing, and speaks HTTP/1.1.
  private static let noHTTP2 = TransportError(
    .insecure, "The server does not agree on HTTP/2 by ALPN: send the request by HTTP/1.1, or turn HTTP/2 on there.",
    mayHaveBeenProcessed: false, problem: .noAgreement)

  private func secure(_ descriptor: Int32, _ completion: @escaping Completion) {
    guard route.isSecure else { return completion(.success(OpenedSocket(descriptor: descriptor, security: nil))) }
    do throws(TransportError) {
      let session = try security.session(
        descriptor, host: route.host, protocols: route.speaksHTTP2 ? [ALPN.http2] : nil, resuming: resumption)
      TLSHandshake(descriptor, session, loop, looksForClear: false) { outcome in
        switch outcome {
        case .secured(let session) where route.speaksHTTP2 && session.negotiatedProtocol != ALPN.http2:
          fail(Self.noHTTP2, descriptor, completion)
        case .secured(let session): completion(.success(OpenedSocket(descriptor: descriptor, security: session)))
        case .failed(let error): fail(error, descriptor, completion)
        case .clear: break
        }
      }.start()
    } catch {
      fail(error, descriptor, completion)
    }
  }

  private func fail(_ error: TransportError, _ descriptor: Int32, _ completion: Completion) {
    PlatformSocket.close(descriptor)
    completion(.failure(error))
  }
}
