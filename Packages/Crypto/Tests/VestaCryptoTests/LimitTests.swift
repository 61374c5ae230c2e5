import CVestaOpenSSL
import Foundation
import Synchronization
import Testing
import VestaCryptoInterop
import VestaTesting

@testable import VestaCrypto

/// Sizes at their limits, and what is left of libcrypto's objects.
@Suite struct LimitTests {
  private let crypto = OpenSSLCrypto()

  /// An odd number of `bits` bits without factors below 2^17, as the modulus of an RSA key is one.
  ///
  /// The check of a key tries a random base and refuses one that has a factor in common with the modulus. A factor near
  /// 1,000 is met once in 1,000 keys.
  private func modulus(bits: Int) -> [UInt8] {
    var random = SplitMix(seed: UInt64(bits))
    var bytes = (0..<(bits + 7) / 8).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let top = (bits - 1) % 8
    bytes[0] = bytes[0] & UInt8((1 << top) - 1) | UInt8(1 << top)
    // The last three bytes can be chosen: they make the first odd number that no prime divides.
    bytes.replaceSubrange((bytes.count - 3)..., with: [0, 0, 1])
    var isDivided = [Bool](repeating: false, count: 1 << 16)
    for prime in primes(below: 1 << 17) where prime > 2 {
      let remainder = bytes.reduce(0) { ($0 << 8 | Int($1)) % prime }
      // bytes + 2 * step is divisible by the prime.
      let first = (prime - remainder) % 2 == 0 ? (prime - remainder) / 2 : (2 * prime - remainder) / 2
      for step in stride(from: first % prime, to: isDivided.count, by: prime) { isDivided[step] = true }
    }
    let last = 1 + 2 * (isDivided.firstIndex(of: false) ?? 0)
    bytes.replaceSubrange((bytes.count - 3)..., with: [UInt8(last >> 16), UInt8(last >> 8 & 255), UInt8(last & 255)])
    return bytes
  }

  private func primes(below end: Int) -> [Int] {
    var isComposite = [Bool](repeating: false, count: end)
    return (2..<end).filter { number in
      guard !isComposite[number] else { return false }
      for multiple in stride(from: number * number, to: end, by: number) { isComposite[multiple] = true }
      return true
    }
  }

  @Test(arguments: [(2_047, false), (2_048, true), (8_192, true), (8_193, false)])
  func `RSA keys have 2048 to 8192 bits`(_ bits: Int, _ isAllowed: Bool) throws {
    let n = modulus(bits: bits)
    let pem = PEM(label: "PUBLIC KEY", bytes: DER.rsaPublicKey(n: n, e: [1, 0, 1])).text
    do {
      let key = try crypto.verificationKey(pem: pem, algorithm: .rs256, keyID: nil)
      #expect(isAllowed)
      #expect(try key.jsonWebKey()[.n] == n)
    } catch {
      #expect(!isAllowed)
      #expect("\(error)".contains("2048 to 8192"))
    }
  }

  @Test func `random bytes are had up to 16 mebibytes at once`() throws {
    #expect(try crypto.randomBytes(count: 0) == [])
    #expect(try crypto.randomBytes(count: 16 << 20).count == 16 << 20)
    for count in [-1, (16 << 20) + 1] {
      let error = #expect(throws: CryptoError.self) { try crypto.randomBytes(count: count) }
      #expect(error?.code == .invalidParameter)
    }
  }

  @Test func `a context of any length is authenticated, and a refusal leaves no errors behind`() throws {
    let key = SecretBytes([UInt8](repeating: 7, count: 32))
    for length in [0, 1, 2, 15, 16, 17, 64] {
      let context = [UInt8](repeating: 5, count: length)
      let sealed = try crypto.seal([1, 2, 3], key: key, context: context)
      #expect(try crypto.open(sealed, key: key, context: context) == [1, 2, 3])
      for other in [context + [5], Array(context.dropLast()), context.map { $0 ^ 1 }] where other != context {
        let error = #expect(throws: CryptoError.self) { try crypto.open(sealed, key: key, context: other) }
        #expect(error?.code == .notAuthentic)
        #expect(ERR_peek_error() == 0)
      }
    }
  }

  @Test func `an error says what libcrypto says about it`() throws {
    let pem = PEM(label: "PRIVATE KEY", bytes: [0x30, 3, 2, 1, 0]).text
    let error = #expect(throws: CryptoError.self) { try crypto.signingKey(pem: pem, algorithm: .rs256, keyID: nil) }
    let parts = try #require(error).description.split(separator: "the private key cannot be read")
    // The reasons follow, at most four.
    let reasons = try #require(parts.last).split(separator: ";")
    #expect(parts.count == 2 && (1...4).contains(reasons.count), "\(parts)")
    #expect(reasons.allSatisfy { $0.contains { $0.isLetter } }, "\(reasons)")
  }

  @Test func `keys, certificates, signatures and ciphers give their memory back`() async {
    // In a separate process, which has not used libcrypto yet: only then its allocations can be counted.
    await #expect(processExitsWith: .success) { try await Leaks.check() }
  }
}

/// How many of libcrypto's allocations have not been freed.
private let liveAllocations = Atomic(0)

private enum Leaks {
  struct Found: Error { let count: Int }

  static func check() async throws {
    let isCounting = CRYPTO_set_mem_functions(
      { size, _, _ in
        liveAllocations.add(1, ordering: .relaxed)
        return malloc(size)
      },
      { old, size, _, _ in
        if old == nil { liveAllocations.add(1, ordering: .relaxed) }
        return realloc(old, size)
      },
      { old, _, _ in
        if old != nil { liveAllocations.subtract(1, ordering: .relaxed) }
        free(old)
      })
    guard isCounting == 1 else { throw Found(count: -1) }
    let crypto = OpenSSLCrypto(slowOperations: 1)
    for _ in 0..<20 { try await use(crypto) }
    let before = liveAllocations.load(ordering: .relaxed)
    for _ in 0..<200 { try await use(crypto) }
    let count = liveAllocations.load(ordering: .relaxed) - before
    if count > 100 { throw Found(count: count) }
  }

  private static func use(_ crypto: OpenSSLCrypto) async throws {
    let key = try await crypto.generateSigningKey(.es256, keyID: nil)
    let signature = try key.signature(for: [1])
    _ = key.verificationKey.isValidSignature(signature, for: [1])
    _ = key.verificationKey.isValidSignature([UInt8](repeating: 9, count: 64), for: [1])
    _ = try crypto.verificationKey(pem: HostileInputTests.certificate, algorithm: .es256, keyID: nil)
    _ = try crypto.signingKey(pem: try key.privatePEM(), algorithm: .es256, keyID: nil)
    _ = try crypto.verificationKey(jsonWebKey: try key.verificationKey.jsonWebKey())
    _ = try? crypto.verificationKey(pem: try key.verificationKey.pem(), algorithm: .rs256, keyID: nil)
    let secret = SecretBytes([UInt8](repeating: 7, count: 32))
    let sealed = try crypto.seal([1, 2, 3], key: secret, context: [1])
    _ = try crypto.open(sealed, key: secret, context: [1])
    _ = try? crypto.open(sealed, key: secret, context: [])
    let agreement = try crypto.agreementKey()
    _ = try agreement.sharedSecret(with: try crypto.agreementKey(privateBytes: secret).publicPoint)
    _ = try? agreement.sharedSecret(with: [UInt8](repeating: 4, count: 65))
    _ = try? crypto.agreementKey(privateBytes: SecretBytes([UInt8](repeating: 0, count: 32)))
    let half = SecretBytes([UInt8](repeating: 7, count: 16))
    _ = try crypto.seal([1], key: half, nonce: [UInt8](repeating: 1, count: 12), context: [])
    _ = try crypto.makeDigestStream(.sha256)
  }
}
