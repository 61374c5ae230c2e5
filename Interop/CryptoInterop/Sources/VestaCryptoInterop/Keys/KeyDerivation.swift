extension CryptoProvider {
  /// Derives a key from a secret (HKDF, RFC 5869: extract, then expand).
  ///
  /// ```swift
  /// let info = Array("Content-Encoding: aes128gcm\0".utf8)
  /// let key = try crypto.deriveKey(from: shared, salt: salt, info: info, count: 16)
  /// ```
  ///
  /// - Parameters:
  ///   - secret: The secret, which need not be uniformly random.
  ///   - salt: Bytes that need not be secret; may be empty.
  ///   - info: The purpose of the key: keys of different purposes are independent.
  ///   - count: The number of bytes, 1 to 8160.
  /// - Returns: `count` bytes.
  /// - Throws: `CryptoError` with `.invalidParameter` for another count; otherwise as `hmac`.
  public func deriveKey(
    from secret: SecretBytes, salt: [UInt8], info: [UInt8], count: Int
  ) throws(CryptoError) -> SecretBytes {
    guard (1...255 * DigestAlgorithm.sha256.byteCount).contains(count) else {
      throw CryptoError(.invalidParameter, "HKDF: a key has 1 to 8160 bytes")
    }
    // No salt means zeros (RFC 5869, section 2.2).
    let salt = salt.isEmpty ? [UInt8](repeating: 0, count: DigestAlgorithm.sha256.byteCount) : salt
    let extracted = try hmac(.sha256, key: salt, message: secret.bytes)
    var (output, block, number) = ([UInt8](), [UInt8](), UInt8(1))
    while output.count < count {
      block = try hmac(.sha256, key: extracted, message: block + info + [number])
      // A provider whose digest is empty would never end.
      guard !block.isEmpty else { throw CryptoError(.libraryFailure, "HKDF: the digest is empty") }
      output += block
      number &+= 1
    }
    return SecretBytes(Array(output.prefix(count)))
  }
}
