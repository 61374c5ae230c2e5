import VestaConcurrency
import VestaCore
import VestaCrypto
import VestaCryptoInterop

/// The app's cryptography, which notes how long the hashes of passwords take.
///
/// So a sign-in is compared with the hash within it. A separate hash, a little later, takes two per cent more or
/// less by chance, which is about as much as the difference to be found.
final class TimedCrypto: CryptoProvider {
  private let inner: any CryptoProvider = OpenSSLCrypto()
  private let hashes = Locked((count: 0, time: Duration.zero))

  /// Forgets the hashes so far.
  func restart() { hashes.withLock { $0 = (0, .zero) } }

  /// How many nanoseconds a hash has taken since then.
  var nanosecondsPerHash: Double { hashes.withLock { $0.time / .nanoseconds(1) / Double(max($0.count, 1)) } }

  func verifyPassword(
    _ password: String, against hash: PasswordHash, signerKey: SecretBytes?
  ) async throws -> Bool {
    let start = ContinuousClock.now
    let isRight = try await inner.verifyPassword(password, against: hash, signerKey: signerKey)
    let time = ContinuousClock.now - start
    hashes.withLock { $0 = ($0.count + 1, $0.time + time) }
    return isRight
  }

  func hashPassword(
    _ password: String, scheme: PasswordScheme, signerKey: SecretBytes?
  ) async throws -> PasswordHash {
    try await inner.hashPassword(password, scheme: scheme, signerKey: signerKey)
  }

  func digest(_ algorithm: DigestAlgorithm, of bytes: RawSpan) throws(CryptoError) -> [UInt8] {
    try inner.digest(algorithm, of: bytes)
  }

  func makeDigestStream(_ algorithm: DigestAlgorithm) throws(CryptoError) -> any DigestStream {
    try inner.makeDigestStream(algorithm)
  }

  func hmac(_ algorithm: DigestAlgorithm, key: [UInt8], message: [UInt8]) throws(CryptoError) -> [UInt8] {
    try inner.hmac(algorithm, key: key, message: message)
  }

  func randomBytes(count: Int) throws(CryptoError) -> [UInt8] { try inner.randomBytes(count: count) }

  func constantTimeEquals(_ first: [UInt8], _ second: [UInt8]) -> Bool { inner.constantTimeEquals(first, second) }

  func crc32c(_ bytes: RawSpan, continuing checksum: UInt32) -> UInt32 { inner.crc32c(bytes, continuing: checksum) }

  func generateSigningKey(_ algorithm: SignatureAlgorithm, keyID: String?) async throws -> any SigningKey {
    try await inner.generateSigningKey(algorithm, keyID: keyID)
  }

  func signingKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any SigningKey {
    try inner.signingKey(pem: pem, algorithm: algorithm, keyID: keyID)
  }

  func signingKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any SigningKey {
    try inner.signingKey(jsonWebKey: jsonWebKey)
  }

  func verificationKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any VerificationKey {
    try inner.verificationKey(pem: pem, algorithm: algorithm, keyID: keyID)
  }

  func verificationKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any VerificationKey {
    try inner.verificationKey(jsonWebKey: jsonWebKey)
  }
}

/// Gives the benchmark's app timed cryptography.
enum TimedCryptoLibrary: Library {
  static let name = "bench-timed-crypto"
  static let version = "1.0.0"

  static func components() -> [Component] {
    [
      Component((any CryptoProvider).self) { _, isCacheable in
        isCacheable = true
        return TimedCrypto()
      }
    ]
  }
}
