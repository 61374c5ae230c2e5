import VestaConcurrency
import VestaCryptoInterop

/// A crypto provider for tests: fast, without any secrecy, and repeatable.
///
/// A "digest" is FNV-1a run over with several seeds, a "signature" is a digest of the key's secret and the message, and
/// "random" bytes come from a counter. It counts how many passwords are hashed at the same time and in all.
final class FakeCrypto: CryptoProvider {
  private struct State {
    var counter: UInt64 = 0
    var passwordWork = 0
    var workOfScheme: [PasswordScheme: Int] = [:]
    var keys = 0
  }

  private let state = Locked(State())

  /// How many passwords have been hashed or compared.
  var passwordWork: Int { state.withLock { $0.passwordWork } }

  /// How many of them with a scheme.
  func work(of scheme: PasswordScheme) -> Int { state.withLock { $0.workOfScheme[scheme, default: 0] } }

  /// How many keys have been generated.
  var generatedKeys: Int { state.withLock { $0.keys } }

  static func mix(_ bytes: some Sequence<UInt8>, count: Int) -> [UInt8] {
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

  func digest(_ algorithm: DigestAlgorithm, of bytes: RawSpan) throws(CryptoError) -> [UInt8] {
    Self.mix(bytes.withUnsafeBytes { Array($0) }, count: algorithm.byteCount)
  }

  func makeDigestStream(_ algorithm: DigestAlgorithm) throws(CryptoError) -> any DigestStream {
    throw CryptoError(.unsupported, "the fake has no digest streams")
  }

  func hmac(_ algorithm: DigestAlgorithm, key: [UInt8], message: [UInt8]) throws(CryptoError) -> [UInt8] {
    Self.mix(key + [0xFF] + message, count: algorithm.byteCount)
  }

  func randomBytes(count: Int) throws(CryptoError) -> [UInt8] {
    let number = state.withLock { state in
      state.counter += 1
      return state.counter
    }
    return Self.mix((0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }, count: count)
  }

  func constantTimeEquals(_ first: [UInt8], _ second: [UInt8]) -> Bool { first == second }

  func crc32c(_ bytes: RawSpan, continuing checksum: UInt32) -> UInt32 { checksum }

  // MARK: Keys

  func generateSigningKey(_ algorithm: SignatureAlgorithm, keyID: String?) async throws -> any SigningKey {
    state.withLock { $0.keys += 1 }
    let secret = Hex.encode(try randomBytes(count: 16))
    return FakeKey(secret: secret, keyID: keyID ?? "key-\(secret.prefix(8))")
  }

  func signingKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any SigningKey {
    guard pem.hasPrefix("FAKE "), let keyID else { throw CryptoError(.invalidKey, "not a fake key") }
    return FakeKey(secret: String(pem.dropFirst(5)), keyID: keyID)
  }

  func signingKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any SigningKey {
    throw CryptoError(.unsupported, "the fake reads no private keys from JSON")
  }

  func verificationKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any VerificationKey {
    try signingKey(pem: pem, algorithm: algorithm, keyID: keyID).verificationKey
  }

  func verificationKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any VerificationKey {
    FakeKey(secret: Hex.encode(jsonWebKey[.n] ?? []), keyID: jsonWebKey.keyID ?? "")
  }

  // MARK: Passwords

  func hashPassword(
    _ password: String, scheme: PasswordScheme, signerKey: SecretBytes?
  ) async throws -> PasswordHash {
    try work(password, scheme: scheme, salt: try randomBytes(count: 16), signerKey: signerKey)
  }

  func verifyPassword(_ password: String, against hash: PasswordHash, signerKey: SecretBytes?) async throws -> Bool {
    try work(password, scheme: hash.scheme, salt: hash.salt, signerKey: signerKey).digest == hash.digest
  }

  private func work(
    _ password: String, scheme: PasswordScheme, salt: [UInt8], signerKey: SecretBytes?
  ) throws -> PasswordHash {
    state.withLock { state in
      state.passwordWork += 1
      state.workOfScheme[scheme, default: 0] += 1
    }
    if case .firebaseScrypt = scheme, signerKey == nil {
      throw CryptoError(.invalidParameter, "Firebase's scrypt needs a signer key")
    }
    return try PasswordHash(
      scheme: scheme, salt: salt, digest: Self.digest(password, salt: salt, signerKey: signerKey?.bytes ?? []))
  }

  /// The fake's hash of a password, for imports.
  static func digest(_ password: String, salt: [UInt8], signerKey: [UInt8]) -> [UInt8] {
    mix(Array(password.utf8) + salt + signerKey, count: 32)
  }
}

/// A key whose public half can sign as well: good enough to distinguish keys.
struct FakeKey: SigningKey, VerificationKey {
  let secret: String
  let keyID: String
  var algorithm: SignatureAlgorithm { .rs256 }
  var verificationKey: any VerificationKey { self }
  var description: String { "FakeKey(\(keyID))" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: [:]) }

  func signature(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
    FakeCrypto.mix(Array(secret.utf8) + message, count: 32)
  }

  func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
    FakeCrypto.mix(Array(secret.utf8) + message, count: 32) == signature
  }

  func privatePEM() throws(CryptoError) -> String { "FAKE \(secret)" }
  func pem() throws(CryptoError) -> String { "FAKE \(secret)" }
  func privateJSONWebKey() throws(CryptoError) -> JSONWebKey { try jsonWebKey() }

  func jsonWebKey() throws(CryptoError) -> JSONWebKey {
    try JSONWebKey(keyType: .rsa, keyID: keyID, algorithm: .rs256, parameters: [.n: modulus, .e: [1, 0, 1]])
  }

  // Never empty and without leading zero, as the codec demands; `secret` is hexadecimal.
  private var modulus: [UInt8] { (try? Hex.decode(secret)) ?? [1] }
}
