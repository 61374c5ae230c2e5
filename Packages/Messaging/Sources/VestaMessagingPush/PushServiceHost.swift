import VestaTransportInterop

/// Decides which hosts the server may post to.
///
/// The endpoint of a subscription is the text of a client. A server that others reach must not be made to call the
/// machines of its network, so an endpoint names a host of the public internet: neither an address nor a name that
/// only private networks resolve. A public name may still lead to a private address: the client of HTTP looks at the
/// addresses that it connects to (`HTTPRequest.isForPublicHosts`).
enum PushServiceHost {
  /// Whether a host is a name of the public internet.
  ///
  /// The host is in lower case, as `HTTPURL` has it.
  static func isPublic(_ host: String) -> Bool {
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    guard labels.count >= 2, name.utf8.count <= 253, labels.allSatisfy(isLabel), let last = labels.last else {
      return false
    }
    return !isNumber(last) && !privateEnds.contains { name == $0 || name.hasSuffix("." + $0) }
  }

  private static func isLabel(_ label: Substring) -> Bool {
    (1...63).contains(label.utf8.count) && label.utf8.allSatisfy(labelBytes.contains)
  }

  /// Whether the host is an IPv4 address in one of its forms: its last part is a number (WHATWG URL, "ends in a
  /// number").
  private static func isNumber(_ label: Substring) -> Bool {
    label.utf8.allSatisfy { $0 &- 48 < 10 } || label.hasPrefix("0x")
  }

  private static let labelBytes = Set("abcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// Names for private use (RFC 6761, 6762, 8375, 9476), and names that private networks use without a registration.
  private static let privateEnds = [
    "localhost", "local", "internal", "home.arpa", "localdomain", "intranet", "private", "corp", "home", "lan", "alt",
    "onion", "test", "invalid",
  ]
}
