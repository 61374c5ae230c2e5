/// The method of a request, such as GET.
///
/// Methods are compared with their case, as HTTP does.
public struct HTTPMethod: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The name as it is sent.
  public let name: String

  /// A method.
  ///
  /// - Parameter name: The name as it is sent; a transport refuses to send one that is no token of HTTP.
  @inlinable
  public init(_ name: String) { self.name = name }

  /// A method written as a literal.
  @inlinable
  public init(stringLiteral name: String) { self.name = name }

  /// The name.
  public var description: String { name }

  /// GET: reads.
  @inlinable public static var get: HTTPMethod { "GET" }
  /// HEAD: reads the head of the response to GET.
  @inlinable public static var head: HTTPMethod { "HEAD" }
  /// POST: lets the resource process the body.
  @inlinable public static var post: HTTPMethod { "POST" }
  /// PUT: replaces.
  @inlinable public static var put: HTTPMethod { "PUT" }
  /// PATCH: changes in part.
  @inlinable public static var patch: HTTPMethod { "PATCH" }
  /// DELETE: deletes.
  @inlinable public static var delete: HTTPMethod { "DELETE" }
  /// OPTIONS: asks what is allowed; browsers ask before requests to other origins.
  @inlinable public static var options: HTTPMethod { "OPTIONS" }
  /// CONNECT: opens a tunnel through a proxy.
  @inlinable public static var connect: HTTPMethod { "CONNECT" }

  /// Whether the same request can be sent again without further effect.
  public var isIdempotent: Bool {
    switch name {
    case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
    default: false
    }
  }
}
