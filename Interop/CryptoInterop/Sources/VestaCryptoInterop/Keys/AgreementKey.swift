/// A private key on the curve P-256 that agrees on secrets with other keys (ECDH).
///
/// Both sides compute the same secret, each from its private key and the public point of the other. Derive keys from
/// the secret with `deriveKey`; it is no key itself.
///
/// ```swift
/// let mine = try crypto.agreementKey()
/// let shared = try mine.sharedSecret(with: pointOfTheBrowser)
/// ```
public protocol AgreementKey: Sendable {
  /// The public point, not compressed: 4, x and y, 65 bytes.
  var publicPoint: [UInt8] { get }

  /// The secret that this key has with the owner of another one.
  ///
  /// - Parameter point: The public point of the other key, not compressed.
  /// - Returns: 32 bytes.
  /// - Throws: `CryptoError` with `.invalidKey` for a point that is not on the curve.
  func sharedSecret(with point: [UInt8]) throws(CryptoError) -> SecretBytes
}
