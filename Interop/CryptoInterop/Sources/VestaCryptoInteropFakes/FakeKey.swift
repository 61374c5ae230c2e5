import VestaBytes
public import VestaCryptoInterop

/// A key whose public half can sign as well: good enough to distinguish keys.
public struct FakeKey: SigningKey, VerificationKey {
  /// The secret, in hexadecimal digits.
  public let secret: String

  /// The id of the key.
  public let keyID: String

  /// A key.
  ///
  /// - Parameters:
  ///   - secret: The secret, in hexadecimal digits.
  ///   - keyID: The id of the key.
  public init(secret: String, keyID: String) {
    self.secret = secret
    self.keyID = keyID
  }

  /// RSA with SHA-256, by name.
  public var algorithm: SignatureAlgorithm { .rs256 }

  /// The key itself.
  public var verificationKey: any VerificationKey { self }

  /// The kind and the id.
  public var description: String { "FakeKey(\(keyID))" }

  /// The kind and the id.
  public var debugDescription: String { description }

  /// A mirror without the secret.
  public var customMirror: Mirror { Mirror(self, children: [:]) }

  /// The mix of secret and message.
  public func signature(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
    FakeCrypto.mix(Array(secret.utf8) + message, count: 32)
  }

  /// Whether the signature is the mix of secret and message.
  public func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
    FakeCrypto.mix(Array(secret.utf8) + message, count: 32) == signature
  }

  /// The facts as a text that only tests read.
  public func certificate(_ facts: CertificateFacts) throws(CryptoError) -> String {
    "FAKE CERTIFICATE \(keyID) \(facts.commonName) \(facts.validFrom) \(facts.validUntil)"
  }

  /// The secret as a text that only the fake reads.
  public func privatePEM() throws(CryptoError) -> String { "FAKE \(secret)" }

  /// The secret as a text that only the fake reads.
  public func pem() throws(CryptoError) -> String { "FAKE \(secret)" }

  /// The key as JSON.
  public func privateJSONWebKey() throws(CryptoError) -> JSONWebKey { try jsonWebKey() }

  /// The key as JSON; its modulus is the secret.
  public func jsonWebKey() throws(CryptoError) -> JSONWebKey {
    try JSONWebKey(keyType: .rsa, keyID: keyID, algorithm: .rs256, parameters: [.n: modulus, .e: [1, 0, 1]])
  }

  // Never empty and without leading zero, as the codec demands; `secret` is hexadecimal.
  private var modulus: [UInt8] { (try? Hex.decode(secret)) ?? [1] }
}
