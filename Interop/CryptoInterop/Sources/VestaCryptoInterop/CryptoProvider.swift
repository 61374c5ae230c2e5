/// The cryptography that Vesta needs, as one seam.
///
/// The engines ask the component container for `any CryptoProvider`; the `VestaCrypto` plug-in provides one on
/// OpenSSL's libcrypto. All methods may be called from any thread at the same time. The synchronous ones take
/// microseconds and never wait. Methods that take milliseconds (password hashing, key generation) are `async`, run on
/// dedicated threads and let only a few through at once, so that they never hold up the cooperative pool.
///
/// ```swift
/// let checksum = try crypto.digest(.sha256, of: Array("abc".utf8))
/// let key = try await crypto.generateSigningKey(.rs256)
/// let token = try JWT.sign(["sub": "alice", "exp": 1_800_000_000], with: key)
/// ```
///
/// The promises are checked by `CryptoContracts` in the `VestaCryptoInteropContracts` library.
public protocol CryptoProvider: Sendable {
  /// The digest of a run of bytes.
  ///
  /// - Parameters:
  ///   - algorithm: Which digest.
  ///   - bytes: The message; it is only read.
  /// - Returns: `algorithm.byteCount` bytes.
  /// - Throws: `CryptoError` with `.unsupported` where policy bars the algorithm (MD5 on a FIPS system).
  func digest(_ algorithm: DigestAlgorithm, of bytes: RawSpan) throws(CryptoError) -> [UInt8]

  /// A digest that is fed piece by piece.
  ///
  /// - Parameter algorithm: Which digest.
  /// - Returns: A stream that has seen no bytes yet.
  /// - Throws: As `digest(_:of:)`.
  func makeDigestStream(_ algorithm: DigestAlgorithm) throws(CryptoError) -> any DigestStream

  /// The keyed hash (HMAC, RFC 2104) of a message.
  ///
  /// - Parameters:
  ///   - algorithm: The digest underneath.
  ///   - key: The key, of any length.
  ///   - message: The message.
  /// - Returns: `algorithm.byteCount` bytes. Compare them with `constantTimeEquals`.
  /// - Throws: As `digest(_:of:)`.
  func hmac(_ algorithm: DigestAlgorithm, key: [UInt8], message: [UInt8]) throws(CryptoError) -> [UInt8]

  /// Bytes that cannot be predicted.
  ///
  /// - Parameter count: How many, 0 to 16 Mi.
  /// - Returns: `count` bytes from the system's secure generator.
  /// - Throws: `CryptoError` with `.invalidParameter` for another count; `.libraryFailure` when the generator cannot
  ///   be seeded. There are never weaker bytes instead.
  func randomBytes(count: Int) throws(CryptoError) -> [UInt8]

  /// Compares two secrets in a time that depends on their lengths alone.
  ///
  /// - Parameters:
  ///   - first: One secret.
  ///   - second: The other.
  /// - Returns: Whether both have the same length and the same bytes.
  func constantTimeEquals(_ first: [UInt8], _ second: [UInt8]) -> Bool

  /// The CRC-32C checksum of a run of bytes, by hardware where there is any.
  ///
  /// Equal to what `CRC32C` computes. This is a checksum against accidents, no protection against an attacker.
  ///
  /// - Parameters:
  ///   - bytes: The next bytes of the message.
  ///   - checksum: The checksum of the bytes before them; 0 at the start.
  /// - Returns: The checksum of everything so far.
  func crc32c(_ bytes: RawSpan, continuing checksum: UInt32) -> UInt32

  /// Encrypts and authenticates bytes (AES-256-GCM, NIST SP 800-38D) with a fresh random nonce.
  ///
  /// A key may seal 2^32 times; after that nonces could repeat.
  ///
  /// - Parameters:
  ///   - plaintext: The bytes to encrypt; may be empty.
  ///   - key: 32 bytes that cannot be guessed, such as `randomBytes(count: 32)`.
  ///   - context: The owner of the bytes, such as the name of a file. It is not encrypted and not part of the result;
  ///     `open` needs the same.
  /// - Returns: 12 bytes of nonce, the ciphertext, and 16 bytes of tag.
  /// - Throws: `CryptoError` with `.invalidKey` for a key of another length; `.unsupported` without the cipher.
  func seal(_ plaintext: [UInt8], key: SecretBytes, context: [UInt8]) throws(CryptoError) -> [UInt8]

  /// Decrypts what `seal` has made, if not a bit of it was changed.
  ///
  /// - Parameters:
  ///   - sealed: The bytes that `seal` returned.
  ///   - key: The key that it was sealed with.
  ///   - context: The context that it was sealed with.
  /// - Returns: The plaintext.
  /// - Throws: `CryptoError` with `.notAuthentic` when the bytes were changed, or sealed with another key or context;
  ///   `.malformed` for fewer than 28 bytes; otherwise as `seal`.
  func open(_ sealed: [UInt8], key: SecretBytes, context: [UInt8]) throws(CryptoError) -> [UInt8]

  /// Encrypts and authenticates bytes (AES-128-GCM) with a nonce of the caller, as protocols derive one.
  ///
  /// Never seal two messages with the same key and nonce: the key is lost then. `seal(_:key:context:)` chooses its
  /// nonces.
  ///
  /// - Parameters:
  ///   - plaintext: The bytes to encrypt; may be empty.
  ///   - key: 16 bytes.
  ///   - nonce: 12 bytes.
  ///   - context: Bytes that are authenticated as well, and not part of the result.
  /// - Returns: The ciphertext, and 16 bytes of tag.
  /// - Throws: `CryptoError` with `.invalidKey` for a key of another length; `.invalidParameter` for a nonce of another
  ///   length; `.unsupported` without the cipher.
  func seal(
    _ plaintext: [UInt8], key: SecretBytes, nonce: [UInt8], context: [UInt8]
  ) throws(CryptoError) -> [UInt8]

  /// Makes a new key pair on the curve P-256 for one key agreement.
  ///
  /// - Throws: `CryptoError` with `.libraryFailure`; `.unsupported` without key agreement.
  func agreementKey() throws(CryptoError) -> any AgreementKey

  /// Makes the key pair of a private number on the curve P-256.
  ///
  /// - Parameter privateBytes: The number as 32 bytes, big-endian.
  /// - Throws: `CryptoError` with `.invalidKey` for another length, zero, and numbers beyond the order of the curve;
  ///   `.unsupported` without key agreement.
  func agreementKey(privateBytes: SecretBytes) throws(CryptoError) -> any AgreementKey

  /// Makes a new key pair.
  ///
  /// - Parameters:
  ///   - algorithm: The algorithm that the key is used with. RSA keys have 2048 bits and take about 0.1 s to find.
  ///   - keyID: The `kid` to put into tokens; `nil` for the key's RFC 7638 thumbprint.
  /// - Returns: The private key; its `verificationKey` is the public half.
  /// - Throws: `CryptoError`, or `CancellationError` when the task was cancelled while it waited.
  func generateSigningKey(_ algorithm: SignatureAlgorithm, keyID: String?) async throws -> any SigningKey

  /// Reads a private key from PEM text (`PRIVATE KEY`, `RSA PRIVATE KEY` or `EC PRIVATE KEY`, not encrypted).
  ///
  /// - Parameters:
  ///   - pem: The text; the first block of it is read.
  ///   - algorithm: The algorithm that the key is used with; the key must be of that kind.
  ///   - keyID: The `kid` to put into tokens; `nil` for the key's RFC 7638 thumbprint.
  /// - Returns: The private key.
  /// - Throws: `CryptoError` with `.malformed`, or `.invalidKey` for a wrong, weak or inconsistent key.
  func signingKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any SigningKey

  /// Makes a private key of its JSON Web Key.
  ///
  /// - Parameter jsonWebKey: A key with its private part. Its `kid` is kept; without one the thumbprint is used.
  /// - Returns: The private key.
  /// - Throws: `CryptoError` with `.invalidKey` for a public, weak or inconsistent key.
  func signingKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any SigningKey

  /// Reads a public key from PEM text (`PUBLIC KEY`, or the key of a `CERTIFICATE`).
  ///
  /// A certificate is only unpacked: neither its chain nor its dates are looked at.
  ///
  /// - Parameters:
  ///   - pem: The text; the first block of it is read.
  ///   - algorithm: The algorithm that the key is used with; the key must be of that kind.
  ///   - keyID: The `kid` it is known by; `nil` for the key's RFC 7638 thumbprint.
  /// - Returns: The public key.
  /// - Throws: `CryptoError` with `.malformed`, or `.invalidKey` for a wrong or weak key.
  func verificationKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any VerificationKey

  /// Makes a public key of its JSON Web Key.
  ///
  /// - Parameter jsonWebKey: A key; a private part is ignored. Its `kid` is kept; without one the thumbprint is used.
  /// - Returns: The public key.
  /// - Throws: `CryptoError` with `.invalidKey` for a weak key or a point that is not on the curve.
  func verificationKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any VerificationKey

  /// Hashes a password with a fresh random salt.
  ///
  /// - Parameters:
  ///   - password: The password; its UTF-8 bytes are hashed as they are, without normalisation.
  ///   - scheme: How to hash: scrypt, Firebase's scrypt or PBKDF2. (Other schemes can only be verified.)
  ///   - signerKey: The project's signer key; needed by Firebase's scrypt alone.
  /// - Returns: The hash. Store its `text`.
  /// - Throws: `CryptoError`, or `CancellationError` when the task was cancelled while it waited.
  func hashPassword(
    _ password: String, scheme: PasswordScheme, signerKey: SecretBytes?
  ) async throws -> PasswordHash

  /// Checks a password against a hash, in a time that does not depend on the result.
  ///
  /// - Parameters:
  ///   - password: The password that the user typed.
  ///   - hash: The stored hash, of any scheme.
  ///   - signerKey: The project's signer key; needed by Firebase's scrypt alone.
  /// - Returns: Whether the password is right.
  /// - Throws: `CryptoError` with `.unsupported` when a library for the scheme is not installed, `.invalidParameter`
  ///   without the signer key that the hash needs; `CancellationError` when cancelled while it waited. A wrong
  ///   password is `false`, not an error.
  func verifyPassword(
    _ password: String, against hash: PasswordHash, signerKey: SecretBytes?
  ) async throws -> Bool
}

extension CryptoProvider {
  /// Throws `unsupported`: a provider from before there was a cipher has none.
  public func seal(_ plaintext: [UInt8], key: SecretBytes, context: [UInt8]) throws(CryptoError) -> [UInt8] {
    throw CryptoError(.unsupported, "this provider has no authenticated cipher")
  }

  /// Throws `unsupported`: a provider from before there was a cipher has none.
  public func open(_ sealed: [UInt8], key: SecretBytes, context: [UInt8]) throws(CryptoError) -> [UInt8] {
    throw CryptoError(.unsupported, "this provider has no authenticated cipher")
  }

  /// Throws `unsupported`: a provider from before there were nonces of the caller takes none.
  public func seal(
    _ plaintext: [UInt8], key: SecretBytes, nonce: [UInt8], context: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    throw CryptoError(.unsupported, "this provider has no AES-128-GCM")
  }

  /// Throws `unsupported`: a provider from before there was key agreement has none.
  public func agreementKey() throws(CryptoError) -> any AgreementKey {
    throw CryptoError(.unsupported, "this provider has no key agreement")
  }

  /// Throws `unsupported`: a provider from before there was key agreement has none.
  public func agreementKey(privateBytes: SecretBytes) throws(CryptoError) -> any AgreementKey {
    throw CryptoError(.unsupported, "this provider has no key agreement")
  }

  /// The digest of an array of bytes.
  ///
  /// - Parameters:
  ///   - algorithm: Which digest.
  ///   - bytes: The message.
  /// - Returns: `algorithm.byteCount` bytes.
  /// - Throws: `CryptoError` where the algorithm is barred.
  public func digest(_ algorithm: DigestAlgorithm, of bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    try digest(algorithm, of: bytes.span.bytes)
  }

  /// The CRC-32C checksum of a run of bytes, by the instructions of the processor where it has some.
  public func crc32c(_ bytes: RawSpan, continuing checksum: UInt32) -> UInt32 {
    var crc = CRC32C(continuing: checksum)
    crc.update(bytes)
    return crc.value
  }

  /// The CRC-32C checksum of an array of bytes, by hardware where there is any.
  ///
  /// - Parameters:
  ///   - bytes: The next bytes of the message.
  ///   - checksum: The checksum of the bytes before them.
  /// - Returns: The checksum of everything so far.
  public func crc32c(_ bytes: [UInt8], continuing checksum: UInt32 = 0) -> UInt32 {
    crc32c(bytes.span.bytes, continuing: checksum)
  }

  /// Makes a new key pair whose `kid` is its thumbprint.
  ///
  /// - Parameter algorithm: The algorithm that the key is used with.
  /// - Returns: The private key.
  /// - Throws: `CryptoError` or `CancellationError`.
  public func generateSigningKey(_ algorithm: SignatureAlgorithm) async throws -> any SigningKey {
    try await generateSigningKey(algorithm, keyID: nil)
  }

  /// Hashes a password with a fresh random salt, by a scheme that needs no signer key.
  ///
  /// - Parameters:
  ///   - password: The password.
  ///   - scheme: How to hash.
  /// - Returns: The hash. Store its `text`.
  /// - Throws: `CryptoError` or `CancellationError`.
  public func hashPassword(_ password: String, scheme: PasswordScheme = .standard) async throws -> PasswordHash {
    try await hashPassword(password, scheme: scheme, signerKey: nil)
  }

  /// Checks a password against a hash that needs no signer key.
  ///
  /// - Parameters:
  ///   - password: The password that the user typed.
  ///   - hash: The stored hash.
  /// - Returns: Whether the password is right.
  /// - Throws: `CryptoError` or `CancellationError`.
  public func verifyPassword(_ password: String, against hash: PasswordHash) async throws -> Bool {
    try await verifyPassword(password, against: hash, signerKey: nil)
  }
}
