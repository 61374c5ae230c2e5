/// The name of a field of a head, such as `content-type`; names are compared without regard to case.
public struct HTTPFieldName: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The name in lower case, as HTTP/2 sends it.
  public let lowercased: String

  /// A name.
  ///
  /// - Parameter name: The name in any case; `nil` for one that is no token of HTTP.
  public init?(_ name: String) {
    guard Self.isToken(name) else { return nil }
    lowercased = name.lowercased()
  }

  /// A name written as a literal, in any case; it must be a token of HTTP.
  public init(stringLiteral name: String) {
    // Most are: then nothing is copied.
    lowercased = name.utf8.contains { $0 &- 65 < 26 } ? name.lowercased() : name
  }

  @usableFromInline
  init(known name: String) { lowercased = name }

  /// The name in lower case.
  public var description: String { lowercased }

  /// Whether a string is a token of HTTP (RFC 9110, section 5.6.2).
  public static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isTokenByte) }

  /// Whether a byte may be part of a token.
  @inlinable
  public static func isTokenByte(_ byte: UInt8) -> Bool {
    byte < 64
      ? (0x03FF_6CFA_0000_0000 as UInt64) >> UInt64(byte) & 1 == 1
      : byte < 128 && (0x57FF_FFFF_C7FF_FFFE as UInt64) >> UInt64(byte - 64) & 1 == 1
  }

  /// The field `accept`.
  @inlinable public static var accept: HTTPFieldName { HTTPFieldName(known: "accept") }
  /// The field `accept-encoding`.
  @inlinable public static var acceptEncoding: HTTPFieldName { HTTPFieldName(known: "accept-encoding") }
  /// The field `authorization`.
  @inlinable public static var authorization: HTTPFieldName { HTTPFieldName(known: "authorization") }
  /// The field `cache-control`.
  @inlinable public static var cacheControl: HTTPFieldName { HTTPFieldName(known: "cache-control") }
  /// The field `connection`.
  @inlinable public static var connection: HTTPFieldName { HTTPFieldName(known: "connection") }
  /// The field `content-encoding`.
  @inlinable public static var contentEncoding: HTTPFieldName { HTTPFieldName(known: "content-encoding") }
  /// The field `content-length`.
  @inlinable public static var contentLength: HTTPFieldName { HTTPFieldName(known: "content-length") }
  /// The field `content-type`.
  @inlinable public static var contentType: HTTPFieldName { HTTPFieldName(known: "content-type") }
  /// The field `date`.
  @inlinable public static var date: HTTPFieldName { HTTPFieldName(known: "date") }
  /// The field `expect`.
  @inlinable public static var expect: HTTPFieldName { HTTPFieldName(known: "expect") }
  /// The field `host`.
  @inlinable public static var host: HTTPFieldName { HTTPFieldName(known: "host") }
  /// The field `location`.
  @inlinable public static var location: HTTPFieldName { HTTPFieldName(known: "location") }
  /// The field `origin`.
  @inlinable public static var origin: HTTPFieldName { HTTPFieldName(known: "origin") }
  /// The field `transfer-encoding`.
  @inlinable public static var transferEncoding: HTTPFieldName { HTTPFieldName(known: "transfer-encoding") }
  /// The field `upgrade`.
  @inlinable public static var upgrade: HTTPFieldName { HTTPFieldName(known: "upgrade") }
  /// The field `user-agent`.
  @inlinable public static var userAgent: HTTPFieldName { HTTPFieldName(known: "user-agent") }
}
