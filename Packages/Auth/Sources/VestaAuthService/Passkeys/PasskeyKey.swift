import VestaBytes
import VestaCryptoInterop

/// The public key of a passkey, which COSE writes as a map (RFC 9052, RFC 9053, RFC 8812).
struct PasskeyKey {
  /// The algorithms by their numbers in COSE, the preferred one first.
  static let algorithms: [(number: Int64, algorithm: SignatureAlgorithm)] = [(-7, .es256), (-257, .rs256)]

  private static let p256: CBOR = .integer(1)

  /// The longest key, in bytes: one of RSA with 4,096 bits has about 530, and accounts keep no more of a caller's.
  static let longest = 1_024

  /// The longest modulus, in bytes.
  ///
  /// The time for a look at a key grows with the cube of its length.
  private static let longestModulus = 512

  let key: JSONWebKey

  /// - Throws: `BytesError` or `CryptoError` for bytes that are no key of a known kind.
  init(_ cose: [UInt8]) throws {
    guard cose.count <= Self.longest else { throw BytesError(.limitExceeded, "the key is too long") }
    var reader = CBORReader(cose[...])
    let map = try reader.value()
    guard reader.rest.isEmpty else { throw BytesError(.malformed, "bytes follow the key") }
    switch (map[.integer(1)], map[.integer(3)]) {
    case (.integer(2), .integer(-7)):
      guard map[.integer(-1)] == Self.p256 else { throw BytesError(.invalidValue, "the curve is not P-256") }
      let (x, y) = (try Self.number(map, -2), try Self.number(map, -3))
      key = try JSONWebKey(keyType: .p256, algorithm: .es256, parameters: [.x: x, .y: y])
    case (.integer(3), .integer(-257)):
      let (n, e) = (try Self.number(map, -1), try Self.exponent(map))
      guard n.count <= Self.longestModulus else { throw BytesError(.limitExceeded, "the modulus is too long") }
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

  /// The exponent of a key of RSA.
  ///
  /// With an even one nothing can be signed, and with one everyone can. Authenticators have 65,537.
  private static func exponent(_ map: CBOR) throws(BytesError) -> [UInt8] {
    let exponent = try number(map, -2)
    guard let last = exponent.last, last & 1 == 1, exponent.first != 0, exponent != [1], exponent.count <= 4 else {
      throw BytesError(.invalidValue, "the exponent is not an odd number of 32 bits above one")
    }
    return exponent
  }

  /// A signature of an authenticator in the form of RFC 7518; empty for one that has another form.
  func signature(_ bytes: [UInt8]) -> [UInt8] {
    guard key.keyType == .p256 else { return bytes }
    return (try? Self.joined(bytes)) ?? []
  }

  /// The two numbers of an ECDSA signature, which authenticators write as ASN.1 by its strict rules, as 64 bytes.
  private static func joined(_ sequence: [UInt8]) throws(BytesError) -> [UInt8] {
    var reader = ByteReader(sequence)
    guard try reader.byte() == 0x30, try reader.byte() == reader.rest.count else {
      throw BytesError(.malformed, "no sequence")
    }
    var joined: [UInt8] = []
    for _ in 0..<2 {
      guard try reader.byte() == 0x02 else { throw BytesError(.malformed, "no number") }
      let written = try reader.raw(Int(try reader.byte()))
      let number = written.drop { $0 == 0 }
      // A zero is written only before a number whose first bit would make it a negative one.
      guard let first = number.first, written.count - number.count == (first >= 0x80 ? 1 : 0) else {
        throw BytesError(.malformed, "the number is negative, zero, or longer than it has to be")
      }
      guard number.count <= 32 else { throw BytesError(.malformed, "the number is too long") }
      joined += [UInt8](repeating: 0, count: 32 - number.count) + number
    }
    guard reader.isAtEnd else { throw BytesError(.malformed, "bytes follow the signature") }
    return joined
  }
}
