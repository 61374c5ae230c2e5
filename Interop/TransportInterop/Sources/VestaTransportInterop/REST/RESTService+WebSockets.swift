public import VestaServiceInterop

// The WebSockets of services whose protocol is more than calls: the same identity, and the same care for tokens.
extension RESTService {
  /// Opens a WebSocket.
  ///
  /// - Parameters:
  ///   - target: The path and the query, percent-encoded.
  ///   - context: Who opens it; its tokens travel in fields.
  ///   - timeout: How long opening may take.
  /// - Throws: `ServiceStatus` for tokens that would be sent in clear text to another machine; ``TransportError``;
  ///   `CancellationError`.
  public func openWebSocket(_ target: String, context: CallContext, timeout: Duration) async throws -> WebSocket {
    let fields = try await RESTIdentity(self).fields(for: context, timeout: nil, hasToken: false)
    let request = HTTPRequest(
      .get, target, scheme: origin.isSecure ? "https" : "http", authority: origin.authority, fields: fields)
    return try await client.openWebSocket(request, subprotocols: [], timeout: timeout)
  }

  /// The token by which the server knows a caller; `nil` for a caller who is not signed in.
  ///
  /// - Throws: `ServiceStatus` for a caller that cannot be named to a server.
  public func token(of caller: CallContext.Caller) async throws -> String? {
    try await RESTIdentity(self).bearer(caller)
  }

  /// Whether a token may be sent: the connection is encrypted, or ends on this machine, or the options allow it.
  public var keepsTokensSecret: Bool { RESTIdentity(self).keepsTokensSecret }

  /// The same service at another host that the server itself has named, over the same scheme.
  ///
  /// - Parameter authority: The host, and a port unless it is that of the scheme.
  /// - Returns: `nil` for what is no host.
  public func moved(to authority: String) -> RESTService? {
    guard HTTPURL.split(authority: authority) != nil, let url = HTTPURL("\(origin.scheme)://\(authority)"),
      url.target == "/"
    else { return nil }
    var moved = self
    moved.origin = url
    return moved
  }
}
