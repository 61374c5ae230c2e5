import VestaBytes
public import VestaCryptoInterop
public import VestaTesting

extension CryptoContracts {
  /// The authenticated cipher.
  public static let ciphers: [Contract<any CryptoProvider>] = [
    Contract("sealed bytes match the vectors of the GCM specification") { crypto in
      for (key, nonce, context, plaintext, ciphertext, tag) in cipherVectors {
        let sealed = try decoded(nonce) + decoded(ciphertext) + decoded(tag)
        let opened = try crypto.open(sealed, key: SecretBytes(decoded(key)), context: decoded(context))
        try expect(Hex.encode(opened), equals: plaintext, "plaintext of \(ciphertext)")
      }
    },
    Contract("what is sealed can be opened, at every length") { crypto in
      let key = SecretBytes(try crypto.randomBytes(count: 32))
      for length in [0, 1, 15, 16, 17, 31, 32, 33, 255, 4_096, 100_000] {
        let plaintext = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for context in [[], bytes("session"), repeated(7, 1_000)] {
          let sealed = try crypto.seal(plaintext, key: key, context: context)
          try expect(sealed.count, equals: length + 28, "length of \(length) sealed bytes")
          try expect(try crypto.open(sealed, key: key, context: context) == plaintext, "\(length) bytes, opened")
        }
      }
    },
    Contract("the same bytes are sealed differently each time") { crypto in
      let key = SecretBytes(repeated(9, 32))
      let sealed = try (0..<64).map { _ in try crypto.seal(bytes("the same"), key: key, context: []) }
      try expect(Set(sealed.map { Array($0.prefix(12)) }).count, equals: 64, "different nonces")
      try expect(Set(sealed.map { Array($0.dropFirst(12)) }).count, equals: 64, "different ciphertexts")
    },
    Contract("sealed bytes show nothing of the plaintext") { crypto in
      let sealed = try crypto.seal(repeated(0x41, 256), key: SecretBytes(repeated(9, 32)), context: bytes("context"))
      try expect(Set(sealed).count > 64, "the ciphertext of equal bytes has few values")
    },
    Contract("a change in any bit is noticed, and so is another key or context") { crypto in
      let key = SecretBytes(repeated(1, 32))
      let sealed = try crypto.seal(bytes("a refresh token"), key: key, context: bytes("one"))
      for index in sealed.indices {
        for bit in 0..<8 {
          var changed = sealed
          changed[index] ^= 1 << bit
          try await expectNotAuthentic("byte \(index)") { try crypto.open(changed, key: key, context: bytes("one")) }
        }
      }
      let longer = sealed + [0]
      let shorter = Array(sealed.dropLast())
      try await expectNotAuthentic("a longer text") { try crypto.open(longer, key: key, context: bytes("one")) }
      try await expectNotAuthentic("a shorter text") { try crypto.open(shorter, key: key, context: bytes("one")) }
      try await expectNotAuthentic("another context") { try crypto.open(sealed, key: key, context: bytes("two")) }
      try await expectNotAuthentic("no context") { try crypto.open(sealed, key: key, context: []) }
      let other = SecretBytes(repeated(1, 31) + [2])
      try await expectNotAuthentic("another key") { try crypto.open(sealed, key: other, context: bytes("one")) }
    },
    Contract("keys and texts of the wrong length are refused") { crypto in
      for length in [0, 1, 16, 24, 31, 33, 64] {
        let key = SecretBytes(repeated(1, length))
        let seal = try await expectThrows(CryptoError.self, "seal") { try crypto.seal([1], key: key, context: []) }
        try expect(seal.code, equals: .invalidKey, "code of seal with \(length) bytes")
        let open = try await expectThrows(CryptoError.self, "open") {
          try crypto.open(repeated(0, 40), key: key, context: [])
        }
        try expect(open.code, equals: .invalidKey, "code of open with \(length) bytes")
      }
      for length in [0, 1, 12, 27] {
        let error = try await expectThrows(CryptoError.self, "open") {
          try crypto.open(repeated(0, length), key: SecretBytes(repeated(1, 32)), context: [])
        }
        try expect(error.code, equals: .malformed, "code of opening \(length) bytes")
      }
    },
  ]

  private static func decoded(_ text: String) throws -> [UInt8] { try Hex.decode(text) }

  private static func expectNotAuthentic(_ what: String, _ operation: () throws -> [UInt8]) async throws {
    let error = try await expectThrows(CryptoError.self, what) { try operation() }
    try expect(error.code, equals: .notAuthentic, "code of \(what)")
  }

  /// Key, nonce, context, plaintext, ciphertext, tag: test cases 13 to 16 of McGrew and Viega, 256-bit keys.
  private static let cipherVectors: [(String, String, String, String, String, String)] = [
    (zeros(64), zeros(24), "", "", "", "530f8afbc74536b9a963b4f1c4cb738b"),
    (
      zeros(64), zeros(24), "", zeros(32), "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"
    ),
    (
      "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888", "",
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
      "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
        + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad",
      "b094dac5d93471bdec1a502270e3cc6c"
    ),
    (
      "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
      "feedfacedeadbeeffeedfacedeadbeefabaddad2",
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
      "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
        + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
      "76fc6ece0f4e1768cddf8853bb2d551b"
    ),
  ]

  private static func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
}
