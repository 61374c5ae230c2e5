public import VestaCryptoInterop

extension OpenSSLCrypto {
  /// Makes a new key pair on one of the threads for slow work.
  public func generateSigningKey(_ algorithm: SignatureAlgorithm, keyID: String?) async throws -> any SigningKey {
    let handle = try await workers.run { try KeyHandle.generate(algorithm) }
    return OpenSSLSigningKey(handle, keyID: try name(handle, keyID))
  }

  /// Reads a private key from PEM text.
  public func signingKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any SigningKey {
    let handle = try KeyHandle.privateKey(pem: pem, algorithm: algorithm)
    return OpenSSLSigningKey(handle, keyID: try name(handle, keyID))
  }

  /// Makes a private key of its JSON Web Key.
  public func signingKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any SigningKey {
    guard jsonWebKey.isPrivate else { throw CryptoError(.invalidKey, "JWK: a public key cannot sign") }
    let handle = try KeyHandle.key(jsonWebKey)
    return OpenSSLSigningKey(handle, keyID: try name(handle, jsonWebKey.keyID))
  }

  /// Reads a public key from PEM text.
  public func verificationKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any VerificationKey {
    let handle = try KeyHandle.publicKey(pem: pem, algorithm: algorithm)
    return OpenSSLVerificationKey(handle, keyID: try name(handle, keyID))
  }

  /// Makes a public key of its JSON Web Key.
  public func verificationKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any VerificationKey {
    let handle = try KeyHandle.key(jsonWebKey.publicKey)
    return OpenSSLVerificationKey(handle, keyID: try name(handle, jsonWebKey.keyID))
  }

  /// The given key id, or the RFC 7638 thumbprint, which is the same for both halves of a key.
  private func name(_ handle: KeyHandle, _ keyID: String?) throws(CryptoError) -> String {
    if let keyID { return keyID }
    let key = try handle.jsonWebKey(keyID: nil, withPrivate: false)
    return Base64.url.encode(try digest(.sha256, of: key.thumbprintInput))
  }
}
