/// A request: its head and its body.
///
/// ```swift
/// let request = HTTPRequest(.get, "/v1/projects/demo?alt=json", authority: "localhost:8080")
/// ```
public struct HTTPRequest: Sendable {
  /// The method.
  public var method: HTTPMethod

  /// The path and the query as they are sent, percent-encoded: `/a/b?c=d`; `*` for OPTIONS of a whole server.
  public var target: String

  /// `http` or `https`.
  public var scheme: String

  /// The host and, unless it is the scheme's own, the port that the request is for: `localhost:8080`.
  public var authority: String

  /// The fields in the order in which they are sent, without `host`, which is ``authority``.
  public var fields: HTTPFields

  /// The body.
  public var body: HTTPBody

  /// The connection of the request; `nil` for one that is to be sent.
  public var peer: TransportPeer?

  /// The version in which the request is to be sent: ``TransportPeer/Version/http2`` by prior knowledge, or with TLS
  /// where the server agrees on it, and otherwise not at all; `nil` for HTTP/1.1.
  public var version: TransportPeer.Version?

  /// Whether the request is for hosts of the public internet alone, such as one whose URL is the text of a client.
  ///
  /// A client looks at the addresses of the host before it connects, and connects to the public ones only
  /// (``InternetAddress``); without one the request fails with `.forbiddenAddress`, and nothing was sent. Where a proxy
  /// is used, the proxy finds the addresses, and has to have the rule.
  public var isForPublicHosts: Bool

  /// A request.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - target: The path and the query, percent-encoded.
  ///   - scheme: `http` or `https`.
  ///   - authority: The host, and the port unless it is the scheme's own.
  ///   - fields: The fields, without `host`.
  ///   - body: The body.
  ///   - peer: The connection of the request.
  @inlinable
  public init(
    _ method: HTTPMethod, _ target: String, scheme: String = "http", authority: String, fields: HTTPFields = [:],
    body: HTTPBody = .empty, peer: TransportPeer? = nil
  ) {
    self.method = method
    self.target = target
    self.scheme = scheme
    self.authority = authority
    self.fields = fields
    self.body = body
    self.peer = peer
    isForPublicHosts = false
  }

  /// The path of the target, still percent-encoded.
  public var path: Substring { target.prefix { $0 != "?" } }

  /// The query of the target without its question mark, still percent-encoded; `nil` for a target without one.
  public var query: Substring? {
    target.utf8.firstIndex(of: UInt8(ascii: "?")).map { target[target.index(after: $0)...] }
  }
}

extension HTTPRequest {
  /// The scheme and the host by which the client has reached the server, for addresses in answers.
  ///
  /// A proxy that ends TLS says so by `x-forwarded-proto`. Other senders get addresses for themselves alone.
  public var origin: String {
    switch fields["x-forwarded-proto"]?.lowercased() {
    case "https": "https://\(authority)"
    case "http": "http://\(authority)"
    default: "\(scheme)://\(authority)"
    }
  }
}

/// A response: its head and its body.
///
/// ```swift
/// let response = HTTPResponse(.ok, fields: [.contentType: "text/plain"], body: .text("hello"))
/// ```
public struct HTTPResponse: Sendable {
  /// The status.
  public var status: HTTPStatus

  /// The fields.
  ///
  /// A transport adds `date`, `content-length` or `transfer-encoding`, and `connection`; it ignores given fields
  /// with the last three names.
  public var fields: HTTPFields

  /// The body.
  public var body: HTTPBody

  /// The fields after a body that is no stream; a stream has separate trailers.
  ///
  /// In a response that was received they are always the stream's.
  public var trailers: HTTPFields

  /// A response.
  ///
  /// - Parameters:
  ///   - status: The status.
  ///   - fields: The fields.
  ///   - body: The body; a transport sends none where ``HTTPStatus/forbidsBody`` is true, or for HEAD.
  ///   - trailers: The fields after a body that is no stream.
  @inlinable
  public init(
    _ status: HTTPStatus = .ok, fields: HTTPFields = [:], body: HTTPBody = .empty, trailers: HTTPFields = [:]
  ) {
    self.status = status
    self.fields = fields
    self.body = body
    self.trailers = trailers
  }
}
