/// Where the link of a message leads to after its code was used.
///
/// Read byte by byte, and stricter than browsers read it: an ambiguous URL is refused, as
/// one reader checks the domain and another one opens the page.
enum ContinueURL: Equatable {
  /// A page, by the host in lower case.
  case web(host: String)

  /// An app, by its own scheme.
  case app

  /// The rule in a sentence.
  static let rule = """
    The continue URL must begin with http:// or https:// and a host, or with a scheme of \
    AuthServiceOptions.continueURLSchemes.
    """

  private static let longest = 8192

  /// Reads a URL; `nil` when it is not one to continue to.
  ///
  /// - Parameters:
  ///   - text: The URL.
  ///   - appSchemes: The schemes of the project's own apps, in lower case.
  init?(_ text: String, appSchemes: Set<String>) {
    let bytes = Array(text.utf8)
    let isPlain = bytes.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }
    guard bytes.count <= Self.longest, isPlain, let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
    let rest = bytes[(colon + 1)...]
    guard rest.starts(with: Array("//".utf8)) else { return nil }
    if appSchemes.contains(scheme) {
      self = .app
      return
    }
    guard ["http", "https"].contains(scheme) else { return nil }
    let authority = rest.dropFirst(2).prefix { !Array("/?#".utf8).contains($0) }
    guard let host = Self.host(of: Array(authority)) else { return nil }
    self = .web(host: host)
  }

  /// The host of an authority without user, in lower case; a port is passed over.
  private static func host(of authority: [UInt8]) -> String? {
    let isBracketed = authority.first == UInt8(ascii: "[")
    let end =
      isBracketed
      ? authority.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } : authority.firstIndex(of: UInt8(ascii: ":"))
    let host = authority[..<(end ?? authority.count)]
    let port = authority[host.endIndex...]
    guard port.isEmpty || (port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy(\.isDigit)) else {
      return nil
    }
    let allowed = Array(isBracketed ? "[]:.".utf8 : "-.".utf8)
    guard !host.isEmpty, host.contains(where: \.isLetterOrDigit),
      host.allSatisfy({ $0.isLetterOrDigit || allowed.contains($0) }), !isBracketed || host.last == UInt8(ascii: "]")
    else { return nil }
    return String(decoding: host, as: UTF8.self).lowercased()
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  fileprivate var isLetterOrDigit: Bool {
    isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) && self < 0x80
  }
}
