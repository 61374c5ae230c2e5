public import VestaServiceInterop
public import VestaTransportInterop

/// The settings of the delivery to browsers.
public struct MessagingPushOptions: Sendable {
  /// The contact of the sender for push services, as a URL of `mailto` or `https`.
  ///
  /// Some services refuse a contact without a real domain. ``isSubject(_:)`` checks one.
  public var subject = "mailto:push@localhost"

  /// Accepts endpoints on this machine, in clear too, and on private networks.
  ///
  /// Never enable where clients are not trusted: a client could have the server call machines that the client itself
  /// cannot reach.
  public var allowsLocalEndpoints = false

  /// How long a push service may take to answer, the body of its response included.
  public var timeout: Duration = .seconds(30)

  /// The clock of tokens.
  public var clock = ServiceClock.system

  /// The client of HTTP; `nil` for that of the app.
  public var client: (@Sendable () throws -> (any HTTPClient)?)?

  /// Whether a text can be the contact: `mailto:` with an address, or a URL of `https` (RFC 8292, section 2.1).
  public static func isSubject(_ text: String) -> Bool {
    if let url = HTTPURL(text) { return url.scheme == "https" }
    guard text.hasPrefix("mailto:"), text.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return false }
    let parts = text.dropFirst("mailto:".count).split(separator: "@", omittingEmptySubsequences: false)
    return parts.count == 2 && !parts.contains("")
  }

  /// Settings that suit a program with a transport.
  public init() {}
}
