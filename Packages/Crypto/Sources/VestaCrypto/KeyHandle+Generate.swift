import CVestaOpenSSL
import VestaCryptoInterop

extension KeyHandle {
  private static let rsaBits = 2048

  /// A new random key; RSA takes about 100 ms.
  static func generate(_ algorithm: SignatureAlgorithm) throws(CryptoError) -> KeyHandle {
    let kind = algorithm == .rs256 ? "RSA" : "EC"
    guard let context = EVP_PKEY_CTX_new_from_name(nil, kind, nil) else { throw libraryFailure("no \(kind) keys") }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, configure(context, algorithm),
      EVP_PKEY_generate(context, &key) == 1, let key
    else { throw libraryFailure("key generation failed") }
    return try KeyHandle(owning: key, algorithm: algorithm, isPrivate: true)
  }

  private static func configure(_ context: OpaquePointer, _ algorithm: SignatureAlgorithm) -> Bool {
    switch algorithm {
    case .rs256: EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(rsaBits)) == 1
    case .es256: EVP_PKEY_CTX_set_group_name(context, "P-256") == 1
    }
  }
}
