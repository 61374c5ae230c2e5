/// As much of DER as it takes to write a key.
enum DER {
  static func sequence(_ parts: [[UInt8]]) -> [UInt8] { tagged(0x30, parts.flatMap { $0 }) }

  static func octets(_ bytes: [UInt8]) -> [UInt8] { tagged(0x04, bytes) }

  static func bits(_ bytes: [UInt8]) -> [UInt8] { tagged(0x03, [0] + bytes) }

  /// A number that is not negative, big-endian and without leading zeros.
  static func integer(_ bytes: [UInt8]) -> [UInt8] {
    tagged(0x02, bytes.first.map { $0 >= 0x80 } ?? true ? [0] + bytes : bytes)
  }

  static func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    [tag] + length(content.count) + content
  }

  private static func length(_ count: Int) -> [UInt8] {
    guard count >= 0x80 else { return [UInt8(count)] }
    var digits: [UInt8] = []
    var rest = count
    while rest > 0 {
      digits.insert(UInt8(truncatingIfNeeded: rest), at: 0)
      rest >>= 8
    }
    return [0x80 | UInt8(digits.count)] + digits
  }
}

// Keys in the forms of RFC 5280, RFC 8017 and RFC 5915.
extension DER {
  static let rsaEncryption: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1]
  static let ecPublicKey: [UInt8] = [0x06, 7, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1]
  static let p256: [UInt8] = [0x06, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7]
  static let null: [UInt8] = [0x05, 0]

  /// A SubjectPublicKeyInfo of an RSA key.
  static func rsaPublicKey(n: [UInt8], e: [UInt8]) -> [UInt8] {
    sequence([sequence([rsaEncryption, null]), bits(sequence([integer(n), integer(e)]))])
  }

  /// A PKCS #1 RSAPrivateKey; the numbers are n, e, d, p, q, dp, dq, qi.
  static func rsaPrivateKey(_ numbers: [[UInt8]]) -> [UInt8] { sequence([integer([0])] + numbers.map(integer)) }

  /// A SubjectPublicKeyInfo of a P-256 key; 4 marks a point that is not compressed.
  static func p256PublicKey(x: [UInt8], y: [UInt8]) -> [UInt8] {
    sequence([sequence([ecPublicKey, p256]), bits([4] + x + y)])
  }

  /// A SEC 1 ECPrivateKey.
  static func p256PrivateKey(d: [UInt8], x: [UInt8], y: [UInt8]) -> [UInt8] {
    sequence([integer([1]), octets(d), tagged(0xA0, p256), tagged(0xA1, bits([4] + x + y))])
  }

  /// A PKCS #8 PrivateKeyInfo of a P-256 key whose public point is to be computed.
  static func p256PrivateKey(d: [UInt8]) -> [UInt8] {
    sequence([integer([0]), sequence([ecPublicKey, p256]), octets(sequence([integer([1]), octets(d)]))])
  }
}
