public import VestaCryptoInterop

/// A crypto provider that forwards its calls to another one.
///
/// A type that conforms replaces single calls.
///
/// For a test or a benchmark that changes or measures one call of real cryptography.
public protocol PassingCrypto: CryptoProvider {
  /// The provider that answers the other calls.
  var inner: any CryptoProvider { get }
}

extension PassingCrypto {
  /// Passed on.
  public func digest(_ algorithm: DigestAlgorithm, of bytes: RawSpan) throws(CryptoError) -> [UInt8] {
    try inner.digest(algorithm, of: bytes)
  }

  /// Passed on.
  public func makeDigestStream(_ algorithm: DigestAlgorithm) throws(CryptoError) -> any DigestStream {
    try inner.makeDigestStream(algorithm)
  }

  /// Passed on.
  public func hmac(_ algorithm: DigestAlgorithm, key: [UInt8], message: [UInt8]) throws(CryptoError) -> [UInt8] {
    try inner.hmac(algorithm, key: key, message: message)
  }

  /// Passed on.
  public func randomBytes(count: Int) throws(CryptoError) -> [UInt8] { try inner.randomBytes(count: count) }

  /// Passed on.
  public func constantTimeEquals(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    inner.constantTimeEquals(first, second)
  }

  /// Passed on.
  public func crc32c(_ bytes: RawSpan, continuing checksum: UInt32) -> UInt32 {
    inner.crc32c(bytes, continuing: checksum)
  }

  /// Passed on.
  public func seal(_ plaintext: [UInt8], key: SecretBytes, context: [UInt8]) throws(CryptoError) -> [UInt8] {
    try inner.seal(plaintext, key: key, context: context)
  }

  /// Passed on.
  public func open(_ sealed: [UInt8], key: SecretBytes, context: [UInt8]) throws(CryptoError) -> [UInt8] {
    try inner.open(sealed, key: key, context: context)
  }

  /// Passed on.
  public func seal(
    _ plaintext: [UInt8], key: SecretBytes, nonce: [UInt8], context: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    try inner.seal(plaintext, key: key, nonce: nonce, context: context)
  }

  /// Passed on.
  public func agreementKey() throws(CryptoError) -> any AgreementKey { try inner.agreementKey() }

  /// Passed on.
  public func agreementKey(privateBytes: SecretBytes) throws(CryptoError) -> any AgreementKey {
    try inner.agreementKey(privateBytes: privateBytes)
  }

  /// Passed on.
  public func generateSigningKey(_ algorithm: SignatureAlgorithm, keyID: String?) async throws -> any SigningKey {
    try await inner.generateSigningKey(algorithm, keyID: keyID)
  }

  /// Passed on.
  public func signingKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any SigningKey {
    try inner.signingKey(pem: pem, algorithm: algorithm, keyID: keyID)
  }

  /// Passed on.
  public func signingKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any SigningKey {
    try inner.signingKey(jsonWebKey: jsonWebKey)
  }

  /// Passed on.
  public func verificationKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any VerificationKey {
    try inner.verificationKey(pem: pem, algorithm: algorithm, keyID: keyID)
  }

  /// Passed on.
  public func verificationKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any VerificationKey {
    try inner.verificationKey(jsonWebKey: jsonWebKey)
  }

  /// Passed on.
  public func hashPassword(
    _ password: String, scheme: PasswordScheme, signerKey: SecretBytes?
  ) async throws -> PasswordHash {
    try await inner.hashPassword(password, scheme: scheme, signerKey: signerKey)
  }

  /// Passed on.
  public func verifyPassword(
    _ password: String, against hash: PasswordHash, signerKey: SecretBytes?
  ) async throws -> Bool {
    try await inner.verifyPassword(password, against: hash, signerKey: signerKey)
  }
}
