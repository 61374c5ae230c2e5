import VestaTransportInterop

/// How a host is reached; requests with one route share connections.
struct Route: Hashable, Sendable {
  let isSecure: Bool
  let host: String
  let port: Int
  /// Whether HTTP/2 is spoken, and nothing else.
  let speaksHTTP2: Bool
  let proxy: ProxySettings.Proxy?
  /// Whether bytes reach the host itself, and not a proxy that reads them.
  let isTunnel: Bool
  /// Whether the host has to be one of the public internet.
  let isForPublicHosts: Bool

  init(
    isSecure: Bool, host: String, port: Int, speaksHTTP2: Bool = false, isWebSocket: Bool,
    isForPublicHosts: Bool = false, _ proxies: ProxySettings
  ) {
    self.isForPublicHosts = isForPublicHosts
    self.isSecure = isSecure
    self.host = host
    self.port = port
    self.speaksHTTP2 = speaksHTTP2
    proxy = proxies.proxy(secure: isSecure, host: host, port: port)
    isTunnel = proxy == nil || isSecure || isWebSocket || speaksHTTP2
  }

  /// The host and the port as an authority.
  var authority: String { TransportAddress.internet(host: host, port: port).description }

  /// A request as a proxy wants it that reads it: with the whole URL.
  func forProxy(_ request: HTTPRequest) -> HTTPRequest {
    var request = request
    request.target = "http://\(request.authority)\(request.target == "*" ? "" : request.target)"
    if let authorization = proxy?.authorization { request.fields.set("proxy-authorization", authorization) }
    return request
  }
}

/// A socket that leads to a host.
struct OpenedSocket {
  let descriptor: Int32
  let security: TLSSession?
}
