import VestaBytes
import VestaConcurrency
import VestaCryptoInterop

/// A system that has nothing but random bytes, as one that bars MD5 by policy; or with a digest that counts bytes.
struct TestCrypto: CryptoProvider {
  /// Whether there is a digest: the number of the bytes, in decimal.
  var countsBytes = false
  /// How many streams of digests were begun.
  let streams = Counter()

  final class Counter: Sendable {
    private let state = Locked(0)
    var count: Int { state.withLock { $0 } }
    func increment() { state.withLock { $0 += 1 } }
  }

  private final class ByteCount: DigestStream {
    private let count = Locked(0)
    func update(_ bytes: RawSpan) { count.withLock { [length = bytes.byteCount] in $0 += length } }
    func finish() -> [UInt8] { TestCrypto.digest(of: count.withLock { $0 }) }
  }

  static func digest(of length: Int) -> [UInt8] { Array("\(length)".utf8) }

  private var barred: CryptoError { CryptoError(.unsupported, "barred") }

  func digest(_ algorithm: DigestAlgorithm, of bytes: RawSpan) throws(CryptoError) -> [UInt8] {
    guard countsBytes else { throw barred }
    return Self.digest(of: bytes.byteCount)
  }

  func makeDigestStream(_ algorithm: DigestAlgorithm) throws(CryptoError) -> any DigestStream {
    guard countsBytes else { throw barred }
    streams.increment()
    return ByteCount()
  }

  func hmac(_ algorithm: DigestAlgorithm, key: [UInt8], message: [UInt8]) throws(CryptoError) -> [UInt8] {
    throw barred
  }
  func randomBytes(count: Int) throws(CryptoError) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0..<255) } }
  func constantTimeEquals(_ first: [UInt8], _ second: [UInt8]) -> Bool { first == second }
  func generateSigningKey(_ algorithm: SignatureAlgorithm, keyID: String?) async throws -> any SigningKey {
    throw barred
  }
  func signingKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any SigningKey { throw barred }
  func signingKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any SigningKey { throw barred }
  func verificationKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any VerificationKey { throw barred }
  func verificationKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any VerificationKey { throw barred }
  func hashPassword(_ password: String, scheme: PasswordScheme, signerKey: SecretBytes?) async throws -> PasswordHash {
    throw barred
  }
  func verifyPassword(
    _ password: String, against hash: PasswordHash, signerKey: SecretBytes?
  ) async throws -> Bool { throw barred }
}
