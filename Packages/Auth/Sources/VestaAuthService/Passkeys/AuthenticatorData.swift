import VestaBytes

/// The circumstances of an answer of an authenticator (WebAuthn, section 6.1).
struct AuthenticatorData {
  /// A new passkey.
  struct Credential {
    let id: [UInt8]
    /// The public key, as COSE writes it.
    let publicKey: [UInt8]
  }

  private enum Flag {
    static let userPresent: UInt8 = 0x01
    static let backupEligible: UInt8 = 0x08
    static let backedUp: UInt8 = 0x10
    static let hasCredential: UInt8 = 0x40
    static let hasExtensions: UInt8 = 0x80
  }

  /// The SHA-256 of the relying party's id.
  let relyingPartyHash: [UInt8]
  /// Whether a person has touched the authenticator, or looked at it.
  let isUserPresent: Bool
  /// How often the passkey has signed; zero from authenticators that do not count.
  let signCount: Int64
  let credential: Credential?

  init(_ bytes: [UInt8]) throws(BytesError) {
    var reader = ByteReader(bytes)
    relyingPartyHash = Array(try reader.raw(32))
    let flags = try reader.byte()
    isUserPresent = flags & Flag.userPresent != 0
    guard flags & (Flag.backupEligible | Flag.backedUp) != Flag.backedUp else {
      throw BytesError(.invalidValue, "a passkey that cannot be backed up is backed up")
    }
    signCount = Int64(try Self.number(&reader, 4))
    var rest = reader.rest
    if flags & Flag.hasCredential != 0 {
      // The model of the authenticator: it tells users apart, and nothing depends on it.
      _ = try reader.raw(16)
      let id = Array(try reader.raw(try Self.number(&reader, 2)))
      var keys = CBORReader(reader.rest)
      _ = try keys.value()
      credential = Credential(id: id, publicKey: Array(reader.rest.dropLast(keys.rest.count)))
      rest = keys.rest
    } else {
      credential = nil
    }
    if flags & Flag.hasExtensions != 0 {
      var extensions = CBORReader(rest)
      _ = try extensions.value()
      rest = extensions.rest
    }
    guard rest.isEmpty else { throw BytesError(.malformed, "\(rest.count) bytes follow the data of the authenticator") }
  }

  private static func number(_ reader: inout ByteReader, _ count: Int) throws(BytesError) -> Int {
    try reader.raw(count).reduce(0) { $0 << 8 | Int($1) }
  }
}
