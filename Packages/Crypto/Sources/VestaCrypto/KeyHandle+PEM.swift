import CVestaOpenSSL
import VestaCryptoInterop

extension KeyHandle {
  /// Reads a private key.
  static func privateKey(pem text: String, algorithm: SignatureAlgorithm) throws(CryptoError) -> KeyHandle {
    let pem = try PEM(text: text)
    let bytes = WipedBytes(pem.bytes)
    guard ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"].contains(pem.label) else {
      throw CryptoError(.invalidKey, "PEM: `\(pem.label)` is not a private key that can be read")
    }
    let key = decoded(UnsafeBufferPointer(start: bytes.pointer, count: bytes.count)) {
      d2i_AutoPrivateKey(nil, &$0, $1)
    }
    guard let key else { throw libraryFailure("PEM: the private key cannot be read", code: .malformed) }
    return try KeyHandle(owning: key, algorithm: algorithm, isPrivate: true)
  }

  /// Reads a public key, or that of a certificate.
  static func publicKey(pem text: String, algorithm: SignatureAlgorithm) throws(CryptoError) -> KeyHandle {
    let pem = try PEM(text: text)
    guard ["PUBLIC KEY", "CERTIFICATE"].contains(pem.label) else {
      throw CryptoError(.invalidKey, "PEM: `\(pem.label)` is not a public key that can be read")
    }
    let key = pem.bytes.withUnsafeBufferPointer { bytes in
      decoded(bytes) { pem.label == "PUBLIC KEY" ? d2i_PUBKEY(nil, &$0, $1) : certifiedKey(&$0, $1) }
    }
    guard let key else { throw libraryFailure("PEM: the public key cannot be read", code: .malformed) }
    return try KeyHandle(owning: key, algorithm: algorithm, isPrivate: false)
  }

  /// The public half as PEM.
  func publicPEM() throws(CryptoError) -> String {
    var bytes: UnsafeMutablePointer<UInt8>?
    let length = i2d_PUBKEY(pointer, &bytes)
    defer { CRYPTO_free(bytes, "", 0) }
    guard length > 0, let bytes else { throw libraryFailure("the public key cannot be written") }
    return PEM(label: "PUBLIC KEY", bytes: Array(UnsafeBufferPointer(start: bytes, count: Int(length)))).text
  }

  /// The secret as PKCS #8 PEM.
  func privatePEM() throws(CryptoError) -> String {
    let info = EVP_PKEY2PKCS8(pointer)
    defer { PKCS8_PRIV_KEY_INFO_free(info) }
    var bytes: UnsafeMutablePointer<UInt8>?
    let length = i2d_PKCS8_PRIV_KEY_INFO(info, &bytes)
    defer { CRYPTO_clear_free(bytes, max(0, Int(length)), "", 0) }
    guard length > 0, let bytes else { throw libraryFailure("the private key cannot be written") }
    return PEM(label: "PRIVATE KEY", bytes: Array(UnsafeBufferPointer(start: bytes, count: Int(length)))).text
  }

  private static func certifiedKey(_ bytes: inout UnsafePointer<UInt8>?, _ count: Int) -> OpaquePointer? {
    guard let certificate = d2i_X509(nil, &bytes, count) else { return nil }
    defer { X509_free(certificate) }
    return X509_get_pubkey(certificate)
  }

  /// Runs a DER reader over bytes; bytes left over after the value count as an error.
  static func decoded(
    _ bytes: UnsafeBufferPointer<UInt8>, _ read: (inout UnsafePointer<UInt8>?, Int) -> OpaquePointer?
  ) -> OpaquePointer? {
    var position = bytes.baseAddress
    guard let value = read(&position, bytes.count) else { return nil }
    guard position == bytes.baseAddress.map({ $0 + bytes.count }) else {
      EVP_PKEY_free(value)
      return nil
    }
    return value
  }
}
