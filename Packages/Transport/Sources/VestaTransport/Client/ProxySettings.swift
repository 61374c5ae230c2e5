import VestaTransportInterop

/// The proxies through which a client reaches hosts.
///
/// `https` and WebSockets go through a tunnel that the proxy opens by CONNECT, so that it sees nothing of them but the
/// name of the host; `http` is handed to the proxy in clear.
public struct ProxySettings: Sendable, Hashable {
  /// One proxy, which is spoken to in clear.
  public struct Proxy: Sendable, Hashable {
    /// The host of the proxy.
    public var host: String
    /// Its port.
    public var port: Int
    /// The value of `proxy-authorization`; `nil` for none.
    public var authorization: String?

    /// A proxy.
    ///
    /// - Parameters:
    ///   - host: Its host.
    ///   - port: Its port.
    ///   - authorization: The value of `proxy-authorization`.
    public init(host: String, port: Int, authorization: String? = nil) {
      self.host = host
      self.port = port
      self.authorization = authorization
    }

    /// A proxy by its URL, with a user and a password where it asks for them.
    ///
    /// - Parameter text: `http://user:password@host:port`, or `host:port`; `nil` for what is none, and for proxies that
    ///   are spoken to with TLS or by SOCKS.
    public init?(_ text: String) {
      var rest = text[...]
      if rest.lowercased().hasPrefix("http://") { rest = rest.dropFirst(7) }
      guard !rest.contains("://") else { return nil }
      rest = rest.prefix { $0 != "/" }
      var credentials: Substring?
      if let at = rest.lastIndex(of: "@") {
        credentials = rest[..<at]
        rest = rest[rest.index(after: at)...]
      }
      guard let (host, port) = HTTPURL.split(authority: String(rest)) else { return nil }
      self.init(host: host, port: port ?? 80)
      guard let credentials else { return }
      let parts = credentials.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let pair = ProxyRules.decoded(parts[0]) + [58] + (parts.count > 1 ? ProxyRules.decoded(parts[1]) : [])
      authorization = ProxyRules.basic(pair)
    }
  }

  /// The proxy for `http` and for WebSockets in clear; `nil` for none.
  public var http: Proxy?

  /// The proxy for `https` and for WebSockets with TLS; `nil` for none.
  public var https: Proxy?

  /// The hosts that are reached without one, each as in `NO_PROXY`: a name with all below it (`example.com`,
  /// `.example.com`), an address, a range of addresses (`10.0.0.0/8`), any of these with a port, or `*`.
  public var exceptions: [String]

  /// No proxies, or the given ones.
  public init(http: Proxy? = nil, https: Proxy? = nil, exceptions: [String] = []) {
    self.http = http
    self.https = https
    self.exceptions = exceptions
  }

  /// Settings from the variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in lower or upper case.
  ///
  /// This machine itself is always reached without a proxy. In a process that serves CGI `HTTP_PROXY` is ignored, as a
  /// client could set it there by a field.
  public init(environment: [String: String]) {
    func value(_ name: String) -> String? {
      [name.lowercased(), name].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    }
    let isCGI = environment["REQUEST_METHOD"] != nil
    let clear = isCGI ? environment["http_proxy"] : value("HTTP_PROXY")
    http = clear.flatMap { Proxy($0) }
    https = value("HTTPS_PROXY").flatMap { Proxy($0) }
    let names = (value("NO_PROXY") ?? "").split { $0 == "," || $0 == " " }.map(String.init)
    exceptions = names + ["localhost", "127.0.0.0/8", "::1"]
  }

  /// The proxy for a host; `nil` when it is reached without one.
  public func proxy(secure isSecure: Bool, host: String, port: Int) -> Proxy? {
    guard let proxy = isSecure ? https : http else { return nil }
    let isException = exceptions.contains { ProxyRules.matches($0, host: host, port: port) }
    return isException ? nil : proxy
  }
}
