import CVestaOpenSSL
public import VestaCryptoInterop

extension OpenSSLCrypto {
  /// Makes a new key pair on the curve P-256; that takes microseconds.
  public func agreementKey() throws(CryptoError) -> any AgreementKey {
    try OpenSSLAgreementKey(KeyHandle.generate(.es256))
  }

  /// Makes the key pair of a private number on the curve P-256.
  public func agreementKey(privateBytes: SecretBytes) throws(CryptoError) -> any AgreementKey {
    try OpenSSLAgreementKey(KeyHandle.p256Key(privateBytes))
  }
}

/// A private key on P-256 in libcrypto's hands.
private final class OpenSSLAgreementKey: AgreementKey {
  let publicPoint: [UInt8]
  private let handle: KeyHandle

  init(_ handle: KeyHandle) throws(CryptoError) {
    let key = try handle.jsonWebKey(keyID: nil, withPrivate: false)
    self.handle = handle
    publicPoint = [4] + (key[.x] ?? []) + (key[.y] ?? [])
  }

  func sharedSecret(with point: [UInt8]) throws(CryptoError) -> SecretBytes {
    try handle.sharedSecret(with: KeyHandle.p256Key(point: point))
  }
}

extension KeyHandle {
  /// The key of a public point that is not compressed.
  fileprivate static func p256Key(point: [UInt8]) throws(CryptoError) -> KeyHandle {
    guard point.count == 65, point[0] == 4 else {
      throw CryptoError(.invalidKey, "a public point on P-256 has 65 bytes and is not compressed")
    }
    let bytes = DER.p256PublicKey(x: Array(point[1..<33]), y: Array(point[33...]))
    let key = bytes.withUnsafeBufferPointer { decoded($0) { d2i_PUBKEY(nil, &$0, $1) } }
    guard let key else { throw libraryFailure("the point is not on the curve", code: .invalidKey) }
    return try KeyHandle(owning: key, algorithm: .es256, isPrivate: false)
  }

  /// The key of a private number.
  fileprivate static func p256Key(_ number: SecretBytes) throws(CryptoError) -> KeyHandle {
    guard number.bytes.count == 32 else {
      throw CryptoError(.invalidKey, "a private number on P-256 has 32 bytes")
    }
    let bytes = WipedBytes(DER.p256PrivateKey(d: number.bytes))
    let key = decoded(UnsafeBufferPointer(start: bytes.pointer, count: bytes.count)) {
      d2i_AutoPrivateKey(nil, &$0, $1)
    }
    guard let key else { throw libraryFailure("the number does not make a key", code: .invalidKey) }
    let handle = try KeyHandle(owning: key, algorithm: .es256, isPrivate: true)
    try handle.checkNumber()
    return handle
  }

  /// Whether the private number is in its range, which a check of the pair does not say.
  private func checkNumber() throws(CryptoError) {
    guard let context = EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else { throw libraryFailure("out of memory") }
    defer { EVP_PKEY_CTX_free(context) }
    guard EVP_PKEY_private_check(context) == 1 else {
      throw libraryFailure("the number is not in its range", code: .invalidKey)
    }
  }

  /// The secret that this private key has with the owner of a public one (ECDH).
  fileprivate func sharedSecret(with peer: KeyHandle) throws(CryptoError) -> SecretBytes {
    guard let context = EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else { throw libraryFailure("out of memory") }
    defer { EVP_PKEY_CTX_free(context) }
    guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, peer.pointer) == 1 else {
      throw libraryFailure("the keys cannot agree", code: .invalidKey)
    }
    var length = 32
    return SecretBytes(try filled(length, "key agreement") { EVP_PKEY_derive(context, $0, &length) })
  }
}
