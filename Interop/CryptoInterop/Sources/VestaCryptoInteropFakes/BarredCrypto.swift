import VestaConcurrency
public import VestaCryptoInterop

/// A system whose policy bars every algorithm, as many bar MD5.
///
/// It has random bytes alone, or a digest that counts bytes.
public struct BarredCrypto: CryptoProvider {
  private let countsBytes: Bool
  private let begun = Begun()

  /// The number of digest streams that were begun.
  public var streams: Int { begun.count.withLock { $0 } }

  private final class Begun: Sendable {
    let count = Locked(0)
  }

  /// A system without algorithms.
  ///
  /// - Parameter countsBytes: Whether there is a digest after all: the number of the bytes, in decimal.
  public init(countsBytes: Bool = false) { self.countsBytes = countsBytes }

  private final class ByteCount: DigestStream {
    private let count = Locked(0)
    func update(_ bytes: RawSpan) { count.withLock { [length = bytes.byteCount] in $0 += length } }
    func finish() -> [UInt8] { BarredCrypto.digest(of: count.withLock { $0 }) }
  }

  /// The digest of this many bytes.
  public static func digest(of length: Int) -> [UInt8] { Array("\(length)".utf8) }

  private var barred: CryptoError { CryptoError(.unsupported, "barred") }

  /// The number of the bytes, if they are counted.
  public func digest(_ algorithm: DigestAlgorithm, of bytes: RawSpan) throws(CryptoError) -> [UInt8] {
    guard countsBytes else { throw barred }
    return Self.digest(of: bytes.byteCount)
  }

  /// A stream that counts bytes, if they are counted.
  public func makeDigestStream(_ algorithm: DigestAlgorithm) throws(CryptoError) -> any DigestStream {
    guard countsBytes else { throw barred }
    begun.count.withLock { $0 += 1 }
    return ByteCount()
  }

  /// Throws `unsupported`.
  public func hmac(_ algorithm: DigestAlgorithm, key: [UInt8], message: [UInt8]) throws(CryptoError) -> [UInt8] {
    throw barred
  }

  /// Random bytes.
  public func randomBytes(count: Int) throws(CryptoError) -> [UInt8] {
    (0..<max(0, count)).map { _ in UInt8.random(in: 0..<255) }
  }

  /// Whether the bytes are equal.
  public func constantTimeEquals(_ first: [UInt8], _ second: [UInt8]) -> Bool { first == second }

  /// Throws `unsupported`.
  public func generateSigningKey(_ algorithm: SignatureAlgorithm, keyID: String?) async throws -> any SigningKey {
    throw barred
  }

  /// Throws `unsupported`.
  public func signingKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any SigningKey { throw barred }

  /// Throws `unsupported`.
  public func signingKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any SigningKey { throw barred }

  /// Throws `unsupported`.
  public func verificationKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any VerificationKey { throw barred }

  /// Throws `unsupported`.
  public func verificationKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any VerificationKey { throw barred }

  /// Throws `unsupported`.
  public func hashPassword(_ password: String, scheme: PasswordScheme, signerKey: SecretBytes?) async throws
    -> PasswordHash
  {
    throw barred
  }

  /// Throws `unsupported`.
  public func verifyPassword(
    _ password: String, against hash: PasswordHash, signerKey: SecretBytes?
  ) async throws -> Bool { throw barred }
}
