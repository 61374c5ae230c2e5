import CVestaOpenSSL
import VestaCryptoInterop

/// The two forms of a P-256 signature: DER, as libcrypto has it, and r and s of 32 bytes each, as tokens have it.
enum ECDSASignature {
  static let byteCount = 64

  /// r and s side by side.
  static func joined(fromDER der: [UInt8]) throws(CryptoError) -> [UInt8] {
    let signature = der.withUnsafeBufferPointer { buffer in
      var position = buffer.baseAddress
      return d2i_ECDSA_SIG(nil, &position, buffer.count)
    }
    guard let signature else { throw libraryFailure("a signature is not DER") }
    defer { ECDSA_SIG_free(signature) }
    return try filled(byteCount, "reading a signature") { output in
      guard let output, BN_bn2binpad(ECDSA_SIG_get0_r(signature), output, 32) == 32,
        BN_bn2binpad(ECDSA_SIG_get0_s(signature), output + 32, 32) == 32
      else { return 0 }
      return 1
    }
  }

  /// The DER form; `nil` for anything but 64 bytes.
  static func der(fromJoined joined: [UInt8]) -> [UInt8]? {
    guard joined.count == byteCount else { return nil }
    func integer(_ half: ArraySlice<UInt8>) -> [UInt8] {
      let digits = half.drop { $0 == 0 }
      return DER.integer(Array(digits))
    }
    return DER.sequence([integer(joined[..<32]), integer(joined[32...])])
  }
}
