import VestaBytes
public import VestaCryptoInterop
public import VestaTesting

extension CryptoContracts {
  /// Key agreement, key derivation, and the cipher with a given nonce.
  public static let agreements: [Contract<any CryptoProvider>] = [
    Contract("key agreement matches the vectors of RFC 8291") { crypto in
      let sender = try crypto.agreementKey(privateBytes: SecretBytes(decoded(AgreementVectors.senderPrivate)))
      let receiver = try crypto.agreementKey(privateBytes: SecretBytes(decoded(AgreementVectors.receiverPrivate)))
      try expect(Base64.url.encode(sender.publicPoint), equals: AgreementVectors.senderPublic, "sender")
      try expect(Base64.url.encode(receiver.publicPoint), equals: AgreementVectors.receiverPublic, "receiver")
      for (key, other) in [(sender, receiver), (receiver, sender)] {
        let secret = try key.sharedSecret(with: other.publicPoint)
        try expect(Base64.url.encode(secret.bytes), equals: AgreementVectors.sharedSecret, "secret")
      }
    },
    Contract("new agreement keys differ, and two of them agree") { crypto in
      let (one, two) = (try crypto.agreementKey(), try crypto.agreementKey())
      try expect(one.publicPoint != two.publicPoint, "two keys are equal")
      try expect(one.publicPoint.count == 65 && one.publicPoint[0] == 4, "the point has another form")
      let shared = try one.sharedSecret(with: two.publicPoint).bytes
      try expect(try two.sharedSecret(with: one.publicPoint).bytes == shared, "the secrets differ")
      try expect(shared.count, equals: 32, "bytes of a secret")
      let third = try crypto.agreementKey()
      try expect(try third.sharedSecret(with: one.publicPoint).bytes != shared, "a third key has the secret")
    },
    Contract("a point that is not on the curve is refused") { crypto in
      let key = try crypto.agreementKey()
      let point = key.publicPoint
      var beside = point
      beside[64] ^= 1
      let compressed = [2 | point[64] & 1] + point[1..<33]
      let lengths = [[], [0], Array(point.dropLast()), point + [0]]
      for wrong in [beside, compressed, repeated(0, 65), repeated(4, 65)] + lengths {
        let error = try await expectThrows(CryptoError.self, "agreement") { try key.sharedSecret(with: wrong) }
        try expect(error.code, equals: .invalidKey, "code for \(wrong.count) bytes")
      }
    },
    Contract("a private number is from 1 to the order of the curve") { crypto in
      let order = try Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
      let last = Array(order.dropLast()) + [0x50]
      _ = try crypto.agreementKey(privateBytes: SecretBytes(last))
      _ = try crypto.agreementKey(privateBytes: SecretBytes(repeated(0, 31) + [1]))
      for wrong in [[], repeated(1, 31), repeated(1, 33), repeated(0, 32), order, repeated(0xFF, 32)] {
        let error = try await expectThrows(CryptoError.self, "key") {
          try crypto.agreementKey(privateBytes: SecretBytes(wrong))
        }
        try expect(error.code, equals: .invalidKey, "code for \(wrong.count) bytes")
      }
    },
    Contract("derived keys match the vectors of RFC 5869 and RFC 8291") { crypto in
      let salt = (0...12).map { UInt8($0) }
      let info = (0xF0...0xF9).map { UInt8($0) }
      let key = try crypto.deriveKey(from: SecretBytes(repeated(0x0B, 22)), salt: salt, info: info, count: 42)
      try expect(
        Hex.encode(key.bytes),
        equals: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865", "case 1")
      let bare = try crypto.deriveKey(from: SecretBytes(repeated(0x0B, 22)), salt: [], info: [], count: 42)
      try expect(
        Hex.encode(bare.bytes),
        equals: "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8", "case 3")
      let purpose =
        bytes("WebPush: info\0") + (try decoded(AgreementVectors.receiverPublic))
        + (try decoded(AgreementVectors.senderPublic))
      let input = try crypto.deriveKey(
        from: SecretBytes(decoded(AgreementVectors.sharedSecret)), salt: try decoded(AgreementVectors.authentication),
        info: purpose, count: 32)
      try expect(Base64.url.encode(input.bytes), equals: AgreementVectors.inputKey, "input key")
      for count in [-1, 0, 8_161] {
        let error = try await expectThrows(CryptoError.self, "derive") {
          try crypto.deriveKey(from: SecretBytes([1]), salt: [], info: [], count: count)
        }
        try expect(error.code, equals: .invalidParameter, "code for \(count) bytes")
      }
      let longest = try crypto.deriveKey(from: SecretBytes([1]), salt: [], info: [], count: 8_160)
      try expect(longest.bytes.count, equals: 8_160, "bytes of the longest key")
    },
    Contract("sealing with a nonce matches the vectors of the GCM specification") { crypto in
      for vector in AgreementVectors.sealed {
        let sealed = try crypto.seal(
          try Hex.decode(vector.plaintext), key: SecretBytes(Hex.decode(vector.key)),
          nonce: try Hex.decode(vector.nonce), context: try Hex.decode(vector.context))
        try expect(Hex.encode(sealed), equals: vector.sealed, "sealed bytes")
      }
    },
    Contract("sealing with a nonce refuses keys and nonces of other lengths") { crypto in
      for (key, nonce, code) in [
        (0, 12, CryptoError.Code.invalidKey), (15, 12, .invalidKey), (24, 12, .invalidKey), (32, 12, .invalidKey),
        (16, 0, .invalidParameter), (16, 11, .invalidParameter), (16, 13, .invalidParameter),
      ] {
        let error = try await expectThrows(CryptoError.self, "seal") {
          try crypto.seal([1], key: SecretBytes(repeated(1, key)), nonce: repeated(2, nonce), context: [])
        }
        try expect(error.code, equals: code, "code for \(key) and \(nonce) bytes")
      }
    },
  ]

  private static func decoded(_ text: String) throws -> [UInt8] { try Base64.url.decode(text) }
}
