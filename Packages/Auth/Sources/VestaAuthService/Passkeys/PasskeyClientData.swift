import VestaBytes

/// The challenge that an authenticator has signed, with the page or app that asked for it.
struct PasskeyClientData {
  /// The task that the authenticator was given.
  enum Ceremony: String {
    case create = "webauthn.create"
    case get = "webauthn.get"
  }

  let ceremony: Ceremony
  /// The challenge as Base64url.
  let challenge: String
  let origin: String
  /// Whether the page is within a page of another origin.
  let isCrossOrigin: Bool

  /// The texts that the service may have sent as the challenge.
  ///
  /// Pages decode the Base64url that they are sent, and it is the same text again; the SDK of Apple's systems has the
  /// letters of the text signed.
  var sent: [String] {
    let letters = (try? Base64.url.decode(challenge)).flatMap { String(validating: $0, as: UTF8.self) }
    return [challenge] + (letters.map { [$0] } ?? [])
  }

  init(_ json: [UInt8]) throws(BytesError) {
    let object = try JSONObject(json: json)
    guard let type = object["type"]?.string, let ceremony = Ceremony(rawValue: type),
      let challenge = object["challenge"]?.string, let origin = object["origin"]?.string
    else { throw BytesError(.malformed, "a member of the client's data is missing or of another kind") }
    self.ceremony = ceremony
    self.challenge = challenge
    self.origin = origin
    isCrossOrigin = object["crossOrigin"].map { $0.bool != false } ?? false
  }
}

extension PasskeyRelyingParty {
  /// Whether a page or app may use the passkeys: the pages of the domain and of its subdomains, and the apps named.
  ///
  /// Pages of this machine need no TLS, as browsers have it. An origin is a scheme, a host and perhaps a port, in
  /// ASCII: nothing else that an address may have is read as a part of the host.
  func accepts(_ origin: String) -> Bool {
    if origins.contains(where: { $0.utf8.elementsEqual(origin.utf8) }) { return true }
    let isSecure = origin.utf8.starts(with: "https://".utf8)
    guard isSecure || origin.utf8.starts(with: "http://".utf8) else { return false }
    let parts = origin.utf8.dropFirst(isSecure ? 8 : 7).split(
      separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard let host = parts.first, Self.isHost(host), parts.count == 1 || parts.count == 2 && Self.isPort(parts[1]),
      isSecure || host.elementsEqual("localhost".utf8)
    else { return false }
    return host.elementsEqual(id.utf8) || host.suffix(id.utf8.count + 1).elementsEqual(".\(id)".utf8)
  }

  private static func isHost(_ host: Substring.UTF8View) -> Bool {
    host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
      !label.isEmpty
        && label.allSatisfy {
          isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || [0x2D, 0x5F].contains($0)
        }
    }
  }

  private static func isPort(_ port: Substring.UTF8View) -> Bool {
    (1...5).contains(port.count) && port.allSatisfy(isDigit)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
