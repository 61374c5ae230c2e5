/// The address of one end of a connection.
public enum TransportAddress: Sendable, Hashable, CustomStringConvertible {
  /// An IP address or the name of a host, and a port; port 0 lets a listener choose a free one.
  case internet(host: String, port: Int)
  /// The path of a socket of the file system.
  case unix(path: String)

  /// The host and the port as an authority of a URL; an IPv6 address is in brackets.
  public var description: String {
    switch self {
    case .internet(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }

  /// The port of an internet address.
  public var port: Int? { if case .internet(_, let port) = self { port } else { nil } }
}

/// The connection of a request; all requests of a connection share it.
public final class TransportPeer: Sendable {
  /// The version of HTTP that is spoken on a connection.
  public enum Version: String, Sendable, Hashable {
    /// HTTP/1.0
    case http1_0 = "HTTP/1.0"
    /// HTTP/1.1
    case http1_1 = "HTTP/1.1"
    /// HTTP/2
    case http2 = "HTTP/2"
  }

  /// The address of the peer.
  public let address: TransportAddress

  /// The address that the peer connected to.
  public let localAddress: TransportAddress

  /// The version of HTTP.
  public let version: Version

  /// Whether the connection is encrypted.
  public let isSecure: Bool

  /// The executor of the event loop on which the connection is served, for tasks of handlers in addition to their
  /// replies.
  public let executor: (any TaskExecutor)?

  /// A connection.
  public init(
    address: TransportAddress, localAddress: TransportAddress, version: Version = .http1_1, isSecure: Bool = false,
    executor: (any TaskExecutor)? = nil
  ) {
    self.address = address
    self.localAddress = localAddress
    self.version = version
    self.isSecure = isSecure
    self.executor = executor
  }
}
