public import VestaCryptoInterop
public import VestaTesting

extension CryptoContracts {
  /// Digests, keyed hashes, checksums, random bytes and comparison.
  public static let digests: [Contract<any CryptoProvider>] = [
    Contract("digests match the vectors of RFC 1321 and FIPS 180") { crypto in
      for (algorithm, message, expected) in Vectors.digests {
        try expect(Hex.encode(try crypto.digest(algorithm, of: bytes(message))), equals: expected, "\(algorithm)")
      }
    },
    Contract("a digest stream does not depend on how the message is cut") { crypto in
      let message = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      for algorithm in DigestAlgorithm.allCases {
        let whole = try crypto.digest(algorithm, of: message)
        for piece in [1, 63, 64, 65, 999, 1000] {
          let stream = try crypto.makeDigestStream(algorithm)
          for start in stride(from: 0, to: message.count, by: piece) {
            try stream.update(Array(message[start..<min(start + piece, message.count)]))
          }
          try stream.update([])
          try expect(try stream.finish(), equals: whole, "\(algorithm) in pieces of \(piece)")
        }
      }
    },
    Contract("a million bytes match the vector of FIPS 180") { crypto in
      let stream = try crypto.makeDigestStream(.sha256)
      for _ in 0..<1000 { try stream.update(repeated(UInt8(ascii: "a"), 1000)) }
      try expect(
        Hex.encode(try stream.finish()),
        equals: "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", "SHA-256"
      )
    },
    Contract("a finished digest stream refuses to go on") { crypto in
      let stream = try crypto.makeDigestStream(.sha256)
      _ = try stream.finish()
      let update = try await expectThrows(CryptoError.self, "update") { try stream.update([1]) }
      try expect(update.code, equals: .invalidState, "code of update")
      let finish = try await expectThrows(CryptoError.self, "finish") { try stream.finish() }
      try expect(finish.code, equals: .invalidState, "code of finish")
    },
    Contract("keyed hashes match the vectors of RFC 2202 and RFC 4231") { crypto in
      for (algorithm, key, message, expected) in Vectors.keyedHashes {
        let actual = try crypto.hmac(algorithm, key: key, message: message)
        try expect(Hex.encode(actual), equals: expected, "HMAC \(algorithm)")
      }
    },
    Contract("keyed hashes take an empty key and an empty message") { crypto in
      try expect(
        Hex.encode(try crypto.hmac(.sha256, key: [], message: [])),
        equals: "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad", "HMAC sha256"
      )
    },
    Contract("CRC-32C matches the vectors of RFC 3720") { crypto in
      for (message, expected) in Vectors.checksums {
        try expect(crypto.crc32c(message), equals: expected, "checksum of \(message.count) bytes")
      }
    },
    Contract("CRC-32C equals the plain one at every length and cut") { crypto in
      let message = (0..<10_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) }
      for length in Array(0..<70) + [1023, 1024, 3071, 3072, 3073, 6144, 7000, 10_000] {
        var plain = CRC32C()
        plain.update(Array(message[..<length]))
        try expect(crypto.crc32c(Array(message[..<length])), equals: plain.value, "checksum of \(length) bytes")
        let first = crypto.crc32c(Array(message[..<(length / 3)]))
        let both = crypto.crc32c(Array(message[(length / 3)..<length]), continuing: first)
        try expect(both, equals: plain.value, "checksum of \(length) bytes in two pieces")
      }
    },
    Contract("random bytes have the length asked for and do not repeat") { crypto in
      for count in [0, 1, 31, 4096] {
        try expect(try crypto.randomBytes(count: count).count, equals: count, "count")
      }
      let draws = try (0..<100).map { _ in try crypto.randomBytes(count: 16) }
      try expect(Set(draws).count, equals: draws.count, "different draws")
      // A byte of 16 KiB of random bytes is missing with a probability of 256 * (255/256)^16384 < 10^-25.
      try expect(Set(try crypto.randomBytes(count: 16_384)).count, equals: 256, "different bytes")
    },
    Contract("a negative count of random bytes is an error") { crypto in
      let error = try await expectThrows(CryptoError.self, "randomBytes(-1)") { try crypto.randomBytes(count: -1) }
      try expect(error.code, equals: .invalidParameter, "code")
    },
    Contract("secrets are equal only when every byte and the length are") { crypto in
      let secret = (0..<32).map(UInt8.init)
      try expect(crypto.constantTimeEquals(secret, secret), "equal secrets differ")
      try expect(crypto.constantTimeEquals([], []), "empty secrets differ")
      try expect(!crypto.constantTimeEquals(secret, Array(secret.dropLast())), "a prefix is equal")
      try expect(!crypto.constantTimeEquals([], secret), "nothing is equal to something")
      for index in secret.indices {
        var other = secret
        other[index] ^= 0x80
        try expect(!crypto.constantTimeEquals(secret, other), "byte \(index) is not compared")
      }
    },
  ]
}
