import VestaBytes
import VestaTransportInterop

/// How exceptions of proxies are read, and credentials are written.
enum ProxyRules {
  /// Whether an entry of `NO_PROXY` is for a host.
  static func matches(_ entry: String, host: String, port: Int) -> Bool {
    if entry == "*" { return true }
    let host = host.lowercased()
    let address = SocketAddress(host: host, port: 0)?.bytes
    if let slash = entry.firstIndex(of: "/") {
      let base = SocketAddress(host: String(entry[..<slash]), port: 0)?.bytes
      guard let address, let base, let length = Int(entry[entry.index(after: slash)...]) else { return false }
      return shares(length, address, base)
    }
    // An IPv6 address stands alone or in brackets; anything else may have a port.
    var (name, wantedPort): (String, Int?) = (entry.lowercased(), nil)
    if SocketAddress(host: name, port: 0) == nil, let (found, port) = HTTPURL.split(authority: name) {
      (name, wantedPort) = (found, port)
    }
    if let wantedPort, wantedPort != port { return false }
    if let address { return SocketAddress(host: name, port: 0)?.bytes == address }
    return isDomain(name, of: host)
  }

  /// Whether a name, which may begin with `*.` or a dot, is a host's or that of a domain that the host is in.
  private static func isDomain(_ name: String, of host: String) -> Bool {
    let name = name.hasPrefix("*.") ? String(name.dropFirst()) : name
    if name.hasPrefix(".") { return host.hasSuffix(name) || host == name.dropFirst() }
    return host == name || host.hasSuffix("." + name)
  }

  private static func shares(_ count: Int, _ first: [UInt8], _ second: [UInt8]) -> Bool {
    guard first.count == second.count, count >= 0, count <= first.count * 8 else { return false }
    for bit in stride(from: 0, to: count, by: 8) {
      let mask = count - bit >= 8 ? 0xFF : ~UInt8(truncatingIfNeeded: 0xFF >> (count - bit))
      if (first[bit / 8] ^ second[bit / 8]) & mask != 0 { return false }
    }
    return true
  }

  /// The value of `authorization` for a user and a password with a colon between them.
  static func basic(_ pair: [UInt8]) -> String { "Basic " + Base64.standard.encode(pair) }

  /// A part of a URL without its percent-encoding; a wrong encoding stays as it is.
  static func decoded(_ text: Substring) -> [UInt8] { (try? PercentEncoding.decodedBytes(text)) ?? Array(text.utf8) }
}
