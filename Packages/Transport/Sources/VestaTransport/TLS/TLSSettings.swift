/// The names of protocols in ALPN.
enum ALPN {
  static let http2 = "h2"

  /// Names as they are on the wire.
  static func offer(_ protocols: [String]) -> [UInt8] {
    protocols.flatMap { name -> [UInt8] in
      let bytes = Array(name.utf8)
      return (1...255).contains(bytes.count) ? [UInt8(bytes.count)] + bytes : []
    }
  }
}

/// The versions of TLS that are spoken; older ones are not, as they are broken.
public enum TLSVersion: Sendable, Hashable {
  /// TLS 1.2
  case tls1_2
  /// TLS 1.3
  case tls1_3
}

/// How a listener encrypts its connections.
///
/// ```swift
/// let certificates = try TLSCertificates([.files(chain: "/etc/tls/site.pem", key: "/etc/tls/site.key")])
/// let listener = try await server.listen(at: address, security: TLSServerSettings(certificates), handler: handler)
/// ```
public struct TLSServerSettings: Sendable {
  /// The certificates, which can be replaced while the listener is open.
  public var certificates: TLSCertificates

  /// The protocols to agree on by ALPN, best first; a client that offers others alone is refused.
  public var protocols: [String]

  /// The oldest version that is accepted.
  public var oldestVersion: TLSVersion

  /// Settings.
  ///
  /// - Parameters:
  ///   - certificates: The certificates.
  ///   - protocols: The protocols to agree on by ALPN, best first.
  ///   - oldestVersion: The oldest version that is accepted.
  public init(
    _ certificates: TLSCertificates, protocols: [String] = ["h2", "http/1.1"], oldestVersion: TLSVersion = .tls1_2
  ) {
    self.certificates = certificates
    self.protocols = protocols
    self.oldestVersion = oldestVersion
  }
}

/// The trust of a client, and its offers to servers.
///
/// The certificate of a server must be issued by a trusted root, be valid today, and name the host; nothing turns
/// this off.
public struct TLSClientSettings: Sendable {
  /// The authorities whose certificates are trusted.
  public enum Roots: Sendable, Hashable {
    /// The roots of the system.
    case system
    /// The roots in a text of PEM, and no others.
    case pem([UInt8])
    /// The roots of the system, and those in a text of PEM.
    case systemAnd(pem: [UInt8])
  }

  /// The authorities to trust.
  public var roots: Roots

  /// The protocols to offer by ALPN, best first, for requests that are not sent by HTTP/2, which is offered alone.
  public var protocols: [String]

  /// The oldest version that is accepted.
  public var oldestVersion: TLSVersion

  /// Settings.
  ///
  /// - Parameters:
  ///   - roots: Whom to trust.
  ///   - protocols: The protocols to offer by ALPN, best first.
  ///   - oldestVersion: The oldest version that is accepted.
  public init(
    roots: Roots = .system, protocols: [String] = ["http/1.1"], oldestVersion: TLSVersion = .tls1_2
  ) {
    self.roots = roots
    self.protocols = protocols
    self.oldestVersion = oldestVersion
  }
}
