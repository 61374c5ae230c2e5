/// An absolute URL of HTTP, cut into what a request needs: scheme, authority and target.
///
/// Nothing is decoded or changed but the case of scheme and host, and a missing path becomes `/`. A fragment is left
/// out.
///
/// ```swift
/// let url = HTTPURL("https://[::1]:8443/a?b#c")
/// url?.host     // "::1"
/// url?.target   // "/a?b"
/// ```
public struct HTTPURL: Sendable, Hashable {
  /// `http` or `https`, or `ws` or `wss`.
  public let scheme: String

  /// The host: a name in lower case, an IPv4 address, or an IPv6 address without its brackets.
  public let host: String

  /// The port that was given, or that of the scheme.
  public let port: Int

  /// The path and the query.
  public let target: String

  /// Reads a URL.
  ///
  /// - Parameter text: The URL; `nil` for one with another scheme, without a host, with a user, or with characters that
  ///   no URL has.
  public init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, text.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
    let scheme = String(Substring(parts[0])).lowercased()
    guard let usualPort = Self.ports[scheme], parts[1].starts(with: "//".utf8) else { return nil }
    let rest = parts[1].dropFirst(2)
    let authorityEnd = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
    guard let (host, port) = Self.authority(rest[..<authorityEnd]) else { return nil }
    let target = String(Substring(rest[authorityEnd...].prefix { $0 != UInt8(ascii: "#") }))
    self.scheme = scheme
    self.host = host.lowercased()
    self.port = port ?? usualPort
    self.target = target.utf8.first == UInt8(ascii: "/") ? target : "/" + target
  }

  /// Whether a connection to it is encrypted.
  public var isSecure: Bool { scheme == "https" || scheme == "wss" }

  /// Whether the host is this machine, whatever its names say elsewhere: tokens may be sent to it in clear text.
  public var isLoopback: Bool {
    if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  /// The host, in brackets where it is an IPv6 address, and the port unless it is that of the scheme.
  public var authority: String {
    let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    return port == Self.ports[scheme] ? name : "\(name):\(port)"
  }

  /// The host and the port of an authority such as `[::1]:8080`.
  ///
  /// - Parameter authority: A host, and a port unless there is none.
  /// - Returns: `nil` for what is no authority, or has a user in it.
  public static func split(authority: String) -> (host: String, port: Int?)? { self.authority(authority.utf8[...]) }

  private static let ports = ["http": 80, "https": 443, "ws": 80, "wss": 443]

  private static func authority(_ bytes: Substring.UTF8View) -> (String, Int?)? {
    var rest = bytes
    let host: Substring.UTF8View
    if rest.first == UInt8(ascii: "[") {
      guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      host = rest[rest.index(after: rest.startIndex)..<end]
      guard host.allSatisfy({ isHexadecimal($0) || ":.".utf8.contains($0) }), host.contains(UInt8(ascii: ":")) else {
        return nil
      }
      rest = rest[rest.index(after: end)...]
    } else {
      host = rest.prefix { $0 != UInt8(ascii: ":") }
      guard host.allSatisfy({ $0 > 32 && $0 < 127 && !forbidden.contains($0) }) else { return nil }
      rest = rest[host.endIndex...]
    }
    guard !host.isEmpty else { return nil }
    guard let colon = rest.first else { return (String(Substring(host)), nil) }
    let digits = rest.dropFirst()
    guard colon == UInt8(ascii: ":"), digits.allSatisfy({ $0 &- 48 < 10 }) else { return nil }
    if digits.isEmpty { return (String(Substring(host)), nil) }
    guard digits.count <= 5, let port = Int(String(Substring(digits))), port <= 65_535 else { return nil }
    return (String(Substring(host)), port)
  }

  private static let forbidden = Set("\"#/<>?@[\\]^`{|}".utf8)

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    byte &- 48 < 10 || (byte | 32) &- 97 < 6
  }
}

extension HTTPRequest {
  /// A request for a URL.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - url: The URL; `ws` and `wss` become `http` and `https`.
  ///   - fields: The fields, without `host`.
  ///   - body: The body.
  public init(_ method: HTTPMethod, _ url: HTTPURL, fields: HTTPFields = [:], body: HTTPBody = .empty) {
    self.init(
      method, url.target, scheme: url.isSecure ? "https" : "http", authority: url.authority, fields: fields, body: body)
  }
}
