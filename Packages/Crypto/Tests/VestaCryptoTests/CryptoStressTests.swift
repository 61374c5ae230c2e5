import Testing
import VestaCrypto
import VestaCryptoInterop

/// Many tasks on one provider, one key, one stream; made for Thread Sanitizer.
@Suite struct CryptoStressTests {
  private static let tasks = 16

  private func together(_ body: @escaping @Sendable (Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<Self.tasks { group.addTask { try await body(index) } }
      try await group.waitForAll()
    }
  }

  @Test(arguments: SignatureAlgorithm.allCases)
  func `one key signs and verifies for all`(algorithm: SignatureAlgorithm) async throws {
    let key = try await OpenSSLCrypto().generateSigningKey(algorithm)
    try await together { index in
      for round in 0..<10 {
        let message = [UInt8(index), UInt8(round)]
        let signature = try key.signature(for: message)
        #expect(key.verificationKey.isValidSignature(signature, for: message))
        #expect(!key.verificationKey.isValidSignature(signature, for: message + [0]))
        #expect(try key.verificationKey.jsonWebKey().keyID == key.keyID)
      }
    }
  }

  @Test func `one provider serves all`() async throws {
    let crypto = OpenSSLCrypto(slowOperations: 3)
    let scheme = PasswordScheme.scrypt(ScryptParameters(costLog2: 4, blockSize: 1, parallelism: 1))
    try await together { index in
      let message = [UInt8](repeating: UInt8(index), count: 5000)
      let digest = try crypto.digest(.sha256, of: message)
      let checksum = crypto.crc32c(message)
      for _ in 0..<20 {
        #expect(try crypto.digest(.sha256, of: message) == digest)
        #expect(crypto.crc32c(message) == checksum)
        #expect(try crypto.randomBytes(count: 16).count == 16)
        #expect(throws: CryptoError.self) {
          try crypto.verificationKey(pem: "nothing", algorithm: .es256, keyID: nil)
        }
      }
      let hash = try await crypto.hashPassword("\(index)", scheme: scheme)
      #expect(try await crypto.verifyPassword("\(index)", against: hash))
    }
  }

  @Test func `one stream takes pieces from all`() async throws {
    let crypto = OpenSSLCrypto()
    let stream = try crypto.makeDigestStream(.sha512)
    try await together { _ in
      for _ in 0..<100 { try stream.update([7]) }
    }
    #expect(try stream.finish() == crypto.digest(.sha512, of: [UInt8](repeating: 7, count: Self.tasks * 100)))
  }

  @Test func `a stream is finished by one only`() async throws {
    let stream = try OpenSSLCrypto().makeDigestStream(.md5)
    let results = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<Self.tasks {
        group.addTask {
          try? stream.update([1])
          return (try? stream.finish()) != nil
        }
      }
      return await group.reduce(into: [Bool]()) { $0.append($1) }
    }
    #expect(results.filter { $0 }.count == 1)
  }
}
