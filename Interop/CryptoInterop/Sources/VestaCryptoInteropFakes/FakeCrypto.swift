import VestaConcurrency
public import VestaCryptoInterop

/// A crypto provider for tests: fast, without any secrecy, and repeatable.
///
/// A "digest" is FNV-1a run over with several seeds, a "signature" is a digest of the key's secret and the message, and
/// "random" bytes are drawn from a counter. It counts the passwords that are hashed, and the keys that are generated.
///
/// ```swift
/// let crypto = FakeCrypto()
/// let key = try await crypto.generateSigningKey(.rs256, keyID: "first")
/// crypto.generatedKeys  // 1
/// ```
public final class FakeCrypto: CryptoProvider {
  private struct State {
    var counter: UInt64 = 0
    var passwordWork = 0
    var workOfScheme: [PasswordScheme: Int] = [:]
    var keys = 0
  }

  private let state = Locked(State())

  /// A provider whose random bytes begin anew.
  public init() {}

  /// The number of passwords that have been hashed or compared.
  public var passwordWork: Int { state.withLock { $0.passwordWork } }

  /// The number of passwords that have been hashed or compared with a scheme.
  public func work(of scheme: PasswordScheme) -> Int { state.withLock { $0.workOfScheme[scheme, default: 0] } }

  /// The number of keys that have been generated.
  public var generatedKeys: Int { state.withLock { $0.keys } }

  /// The fake's digest of bytes, of any length.
  public static func mix(_ bytes: some Sequence<UInt8>, count: Int) -> [UInt8] {
    var words: [UInt64] = (0..<UInt64((count + 7) / 8)).map { 0xCBF2_9CE4_8422_2325 &+ $0 &* 0x9E37_79B9_7F4A_7C15 }
    for byte in bytes {
      for index in words.indices { words[index] = (words[index] ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    let mixed = words.flatMap { word -> [UInt8] in
      var word = word
      word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
      word ^= word >> 31
      return (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) }
    }
    return Array(mixed.prefix(count))
  }

  /// The mix of the bytes, as long as the digest would be.
  public func digest(_ algorithm: DigestAlgorithm, of bytes: RawSpan) throws(CryptoError) -> [UInt8] {
    Self.mix(bytes.withUnsafeBytes { Array($0) }, count: algorithm.byteCount)
  }

  /// A stream that keeps its bytes and mixes them at the end.
  public func makeDigestStream(_ algorithm: DigestAlgorithm) throws(CryptoError) -> any DigestStream {
    FakeDigestStream(count: algorithm.byteCount)
  }

  /// The mix of key and message.
  public func hmac(_ algorithm: DigestAlgorithm, key: [UInt8], message: [UInt8]) throws(CryptoError) -> [UInt8] {
    Self.mix(key + [0xFF] + message, count: algorithm.byteCount)
  }

  /// The mix of a number that grows with each call.
  public func randomBytes(count: Int) throws(CryptoError) -> [UInt8] {
    guard count >= 0, count <= 16 << 20 else { throw CryptoError(.invalidParameter, "\(count) random bytes") }
    let number = state.withLock { state in
      state.counter += 1
      return state.counter
    }
    return Self.mix((0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }, count: count)
  }

  /// Whether the bytes are equal; takes as long as that takes.
  public func constantTimeEquals(_ first: [UInt8], _ second: [UInt8]) -> Bool { first == second }

  // MARK: Keys

  /// A key with the next secret; without an id it has a part of its secret as id.
  public func generateSigningKey(_ algorithm: SignatureAlgorithm, keyID: String?) async throws -> any SigningKey {
    state.withLock { $0.keys += 1 }
    let secret = Hex.encode(try randomBytes(count: 16))
    return FakeKey(secret: secret, keyID: keyID ?? "key-\(secret.prefix(8))")
  }

  /// The key of a text that a fake key has written.
  public func signingKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any SigningKey {
    guard pem.hasPrefix("FAKE "), let keyID else { throw CryptoError(.invalidKey, "not a fake key") }
    return FakeKey(secret: String(pem.dropFirst(5)), keyID: keyID)
  }

  /// Throws `unsupported`.
  public func signingKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any SigningKey {
    throw CryptoError(.unsupported, "the fake reads no private keys from JSON")
  }

  /// The key of a text that a fake key has written.
  public func verificationKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any VerificationKey {
    try signingKey(pem: pem, algorithm: algorithm, keyID: keyID).verificationKey
  }

  /// The key with this modulus as its secret.
  public func verificationKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any VerificationKey {
    FakeKey(secret: Hex.encode(jsonWebKey[.n] ?? []), keyID: jsonWebKey.keyID ?? "")
  }

  // MARK: Passwords

  /// The mix of password, salt and signer key.
  public func hashPassword(
    _ password: String, scheme: PasswordScheme, signerKey: SecretBytes?
  ) async throws -> PasswordHash {
    try work(password, scheme: scheme, salt: try randomBytes(count: 16), signerKey: signerKey)
  }

  /// Whether the password has this hash.
  public func verifyPassword(_ password: String, against hash: PasswordHash, signerKey: SecretBytes?) async throws
    -> Bool
  {
    try work(password, scheme: hash.scheme, salt: hash.salt, signerKey: signerKey).digest == hash.digest
  }

  private func work(
    _ password: String, scheme: PasswordScheme, salt: [UInt8], signerKey: SecretBytes?
  ) throws -> PasswordHash {
    state.withLock { state in
      state.passwordWork += 1
      state.workOfScheme[scheme, default: 0] += 1
    }
    switch scheme {
    case .firebaseScrypt, .hmac:
      guard signerKey != nil else { throw CryptoError(.invalidParameter, "the scheme needs a signer key") }
    default: break
    }
    return try PasswordHash(
      scheme: scheme, salt: salt, digest: Self.digest(password, salt: salt, signerKey: signerKey?.bytes ?? []))
  }

  /// The fake's hash of a password, for imports.
  public static func digest(_ password: String, salt: [UInt8], signerKey: [UInt8]) -> [UInt8] {
    mix(Array(password.utf8) + salt + signerKey, count: 32)
  }
}

/// The bytes of a message until its end.
private final class FakeDigestStream: DigestStream {
  private let bytes = Locked<[UInt8]?>([])
  private let count: Int

  init(count: Int) { self.count = count }

  func update(_ bytes: RawSpan) throws(CryptoError) {
    let added = bytes.withUnsafeBytes { Array($0) }
    let isOpen = self.bytes.withLock { bytes in
      bytes?.append(contentsOf: added)
      return bytes != nil
    }
    guard isOpen else { throw CryptoError(.invalidState, "the digest has been finished") }
  }

  func finish() throws(CryptoError) -> [UInt8] {
    let whole = bytes.withLock { bytes in
      defer { bytes = nil }
      return bytes
    }
    guard let whole else { throw CryptoError(.invalidState, "the digest has been finished") }
    return FakeCrypto.mix(whole, count: count)
  }
}
