import VestaConcurrency
import VestaCore
import VestaCrypto
import VestaCryptoInterop

/// The cryptography of OpenSSL, with RSA keys that are generated once in this process.
///
/// An engine of Auth or App Check generates a key when it first signs, which takes up to half a second of a core, and
/// most promises have a fresh engine. Here the first key of every engine is the same one, its second key another one,
/// and so on: a rotation has a new key, whatever other tests do. The contract of cryptography itself has fresh keys.
struct KeptKeysCrypto: CryptoProvider {
  private static let made = Locked<[Task<any SigningKey, any Error>]>([])

  private let inner = OpenSSLCrypto()
  private let counter = Counter()

  private final class Counter: Sendable {
    private let count = Locked(0)

    func next() -> Int {
      count.withLock { count in
        defer { count += 1 }
        return count
      }
    }
  }

  func generateSigningKey(_ algorithm: SignatureAlgorithm, keyID: String?) async throws -> any SigningKey {
    guard algorithm == .rs256, keyID == nil else {
      return try await inner.generateSigningKey(algorithm, keyID: keyID)
    }
    let number = counter.next()
    let key = Self.made.withLock { [inner] made in
      while made.count <= number { made.append(Task { try await inner.generateSigningKey(.rs256) }) }
      return made[number]
    }
    return try await key.value
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

  func seal(_ plaintext: [UInt8], key: SecretBytes, context: [UInt8]) throws(CryptoError) -> [UInt8] {
    try inner.seal(plaintext, key: key, context: context)
  }

  func open(_ sealed: [UInt8], key: SecretBytes, context: [UInt8]) throws(CryptoError) -> [UInt8] {
    try inner.open(sealed, key: key, context: context)
  }

  func agreementKey() throws(CryptoError) -> any AgreementKey { try inner.agreementKey() }

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

  func hashPassword(
    _ password: String, scheme: PasswordScheme, signerKey: SecretBytes?
  ) async throws -> PasswordHash {
    try await inner.hashPassword(password, scheme: scheme, signerKey: signerKey)
  }

  func verifyPassword(
    _ password: String, against hash: PasswordHash, signerKey: SecretBytes?
  ) async throws -> Bool {
    try await inner.verifyPassword(password, against: hash, signerKey: signerKey)
  }
}

/// Gives an app this cryptography.
enum KeptKeysLibrary: Library {
  static let name = "contracts-kept-keys"
  static let version = VestaVersion()

  static func components() -> [Component] {
    [Component((any CryptoProvider).self, caching: .shared) { _ in KeptKeysCrypto() }]
  }
}
