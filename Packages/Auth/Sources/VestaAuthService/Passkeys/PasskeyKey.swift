import VestaBytes
import VestaCryptoInterop

/// The public key of a passkey, which COSE writes as a map (RFC 9052, RFC 9053, RFC 8812).
struct PasskeyKey {
  /// The algorithms by their numbers in COSE, the preferred one first.
  static let algorithms: [(number: Int64, algorithm: SignatureAlgorithm)] = [(-7, .es256), (-257, .rs256)]

  private static let p256: CBOR = .integer(1)

  let key: JSONWebKey

  /// - Throws: `BytesError` or `CryptoError` for bytes that are no key of a known kind.
  init(_ cose: [UInt8]) throws {
    var reader = CBORReader(cose[...])
    let map = try reader.value()
    guard reader.rest.isEmpty else { throw BytesError(.malformed, "bytes follow the key") }
    switch (map[.integer(1)], map[.integer(3)]) {
    case (.integer(2), .integer(-7)):
      guard map[.integer(-1)] == Self.p256 else { throw BytesError(.invalidValue, "the curve is not P-256") }
      let (x, y) = (try Self.number(map, -2), try Self.number(map, -3))
      key = try JSONWebKey(keyType: .p256, algorithm: .es256, parameters: [.x: x, .y: y])
    case (.integer(3), .integer(-257)):
      let (n, e) = (try Self.number(map, -1), try Self.number(map, -2))
      key = try JSONWebKey(keyType: .rsa, algorithm: .rs256, parameters: [.n: n, .e: e])
    default: throw BytesError(.invalidValue, "a key for another algorithm")
    }
  }

  private static func number(_ map: CBOR, _ name: Int64) throws(BytesError) -> [UInt8] {
    guard let bytes = map[.integer(name)]?.bytes else {
      throw BytesError(.malformed, "a number of the key is missing")
    }
    return bytes
  }

  /// A signature of an authenticator in the form of RFC 7518; as it is where it has that form, or none.
  func signature(_ bytes: [UInt8]) -> [UInt8] {
    guard key.keyType == .p256 else { return bytes }
    return (try? Self.joined(bytes)) ?? bytes
  }

  /// The two numbers of an ECDSA signature, which authenticators write as ASN.1, as 64 bytes.
  private static func joined(_ sequence: [UInt8]) throws(BytesError) -> [UInt8] {
    var reader = ByteReader(sequence)
    guard try reader.byte() == 0x30, try reader.byte() == reader.rest.count else {
      throw BytesError(.malformed, "no sequence")
    }
    var joined: [UInt8] = []
    for _ in 0..<2 {
      guard try reader.byte() == 0x02 else { throw BytesError(.malformed, "no number") }
      let number = try reader.raw(Int(try reader.byte())).drop { $0 == 0 }
      guard number.count <= 32 else { throw BytesError(.malformed, "the number is too long") }
      joined += [UInt8](repeating: 0, count: 32 - number.count) + number
    }
    guard reader.isAtEnd else { throw BytesError(.malformed, "bytes follow the signature") }
    return joined
  }
}
