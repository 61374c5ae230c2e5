import VestaBytes

/// The challenge that an authenticator has signed, with the page or app that asked for it.
struct PasskeyClientData {
  /// What was asked of the authenticator.
  enum Ceremony: String {
    case create = "webauthn.create"
    case get = "webauthn.get"
  }

  let ceremony: Ceremony
  /// The challenge as Base64url.
  let challenge: String
  let origin: String

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
  }
}

extension PasskeyRelyingParty {
  /// Whether a page or app may use the passkeys: the pages of the domain and of its subdomains, and the apps named.
  ///
  /// Pages of this machine need no TLS, as browsers have it.
  func accepts(_ origin: String) -> Bool {
    if origins.contains(origin) { return true }
    let parts = origin.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return false }
    let host = parts[1].prefix { $0 != ":" && $0 != "/" }
    guard parts[0] == "https" || parts[0] == "http" && host == "localhost" else { return false }
    return host == id || host.hasSuffix(".\(id)")
  }
}
