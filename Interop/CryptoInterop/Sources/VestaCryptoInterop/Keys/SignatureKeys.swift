/// A way to sign tokens.
///
/// There is no `none` and nothing symmetric: such a token can never be accepted by mistake.
public enum SignatureAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// RSA (2048 bits or more) with PKCS #1 v1.5 padding and SHA-256.
  case rs256 = "RS256"
  /// ECDSA on the curve P-256 with SHA-256; a signature is 64 bytes, r and s.
  case es256 = "ES256"
}

/// The public half of a key pair.
///
/// The key itself belongs to the provider. Descriptions and mirrors show the algorithm and the key id, nothing else.
public protocol VerificationKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The algorithm of the key.
  var algorithm: SignatureAlgorithm { get }

  /// The `kid` the key is known by.
  var keyID: String { get }

  /// Whether a signature over a message was made with the private half of this key.
  ///
  /// - Parameters:
  ///   - signature: The signature in the form of RFC 7518; anything else is just not valid.
  ///   - message: The message.
  /// - Returns: `true` for a valid signature; `false` for all other bytes, of whatever length.
  func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool

  /// The key as PEM text (`PUBLIC KEY`, a SubjectPublicKeyInfo).
  ///
  /// - Throws: `CryptoError` with `.libraryFailure`.
  func pem() throws(CryptoError) -> String

  /// The key as a JSON Web Key, with `kid`, `alg` and `use`.
  ///
  /// - Throws: `CryptoError` with `.libraryFailure`.
  func jsonWebKey() throws(CryptoError) -> JSONWebKey
}

/// A private key that signs.
///
/// The secret stays with the provider and is wiped with the last reference. Descriptions and mirrors show the
/// algorithm and the key id, nothing else; only the two calls that say "private" hand the secret out.
public protocol SigningKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The algorithm of the key.
  var algorithm: SignatureAlgorithm { get }

  /// The `kid` of its tokens.
  var keyID: String { get }

  /// The public half, with the same key id.
  var verificationKey: any VerificationKey { get }

  /// Signs a message.
  ///
  /// - Parameter message: The message.
  /// - Returns: The signature in the form of RFC 7518.
  /// - Throws: `CryptoError` with `.libraryFailure`.
  func signature(for message: [UInt8]) throws(CryptoError) -> [UInt8]

  /// The secret as PEM text (`PRIVATE KEY`, PKCS #8, not encrypted). Keep it where only its owner can read it.
  ///
  /// - Throws: `CryptoError` with `.libraryFailure`.
  func privatePEM() throws(CryptoError) -> String

  /// The secret as a JSON Web Key.
  ///
  /// - Throws: `CryptoError` with `.libraryFailure`.
  func privateJSONWebKey() throws(CryptoError) -> JSONWebKey

  /// A certificate of the public half that the key has signed itself, as PEM text.
  ///
  /// It proves nothing: it is a form in which some programs read public keys.
  ///
  /// - Parameter facts: The contents of the certificate.
  /// - Throws: `CryptoError` with `.libraryFailure`, `.invalidParameter` for a name that no certificate can have, or
  ///   `.unsupported` for a provider without certificates.
  func certificate(_ facts: CertificateFacts) throws(CryptoError) -> String
}

extension SigningKey {
  /// Throws `unsupported`: a provider from before there were certificates has none.
  public func certificate(_ facts: CertificateFacts) throws(CryptoError) -> String {
    throw CryptoError(.unsupported, "this provider makes no certificates")
  }
}

/// The facts that a certificate states of its key.
public struct CertificateFacts: Sendable, Hashable {
  /// The name of the key's owner, 1 to 64 characters.
  public var commonName: String

  /// A number above zero that no other certificate of the owner has.
  public var serialNumber: UInt64

  /// From when the certificate is valid, in seconds since 1970.
  public var validFrom: Int64

  /// Until when the certificate is valid, in seconds since 1970.
  public var validUntil: Int64

  /// The given facts.
  ///
  /// - Parameters:
  ///   - commonName: The name of the key's owner.
  ///   - serialNumber: A number that no other certificate of the owner has.
  ///   - validFrom: From when it is valid, in seconds since 1970.
  ///   - validUntil: Until when it is valid, in seconds since 1970.
  public init(commonName: String, serialNumber: UInt64, validFrom: Int64, validUntil: Int64) {
    self.commonName = commonName
    self.serialNumber = serialNumber
    self.validFrom = validFrom
    self.validUntil = validUntil
  }
}
