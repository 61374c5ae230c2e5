import CVestaOpenSSL
import VestaCryptoInterop

/// An `EVP_PKEY`: a key in libcrypto's hands, checked on import, freed (and wiped) with the last reference.
// Sound as @unchecked Sendable: the key never changes after `init`, and libcrypto counts references atomically.
final class KeyHandle: @unchecked Sendable {
  let pointer: OpaquePointer
  let algorithm: SignatureAlgorithm

  /// Contexts that are ready to sign and to verify; copying one is cheaper than setting one up.
  private let signer: OpaquePointer?
  private let verifier: OpaquePointer?

  /// Takes over a key and checks that it is one of the right kind.
  ///
  /// - Parameters:
  ///   - pointer: The key; freed here whatever happens.
  ///   - algorithm: The algorithm that the key is used with.
  ///   - isPrivate: Whether there is a private part, which must fit the public one.
  init(owning pointer: OpaquePointer, algorithm: SignatureAlgorithm, isPrivate: Bool) throws(CryptoError) {
    self.pointer = pointer
    self.algorithm = algorithm
    let function: OpaquePointer
    do {
      try Self.check(pointer, algorithm, isPrivate)
      function = try FetchedDigest.of(.sha256).pointer
    } catch {
      EVP_PKEY_free(pointer)
      throw error
    }
    verifier = Self.context { EVP_DigestVerifyInit($0, nil, function, nil, pointer) }
    signer = isPrivate ? Self.context { EVP_DigestSignInit($0, nil, function, nil, pointer) } : nil
    // Everything is set, so a throw from here on runs `deinit`.
    guard verifier != nil, signer != nil || !isPrivate else {
      throw libraryFailure("the key cannot be used", code: .invalidKey)
    }
  }

  deinit {
    EVP_MD_CTX_free(signer)
    EVP_MD_CTX_free(verifier)
    EVP_PKEY_free(pointer)
  }

  /// A signature as libcrypto makes it: for ES256 that is DER.
  func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard let signer else { throw CryptoError(.invalidKey, "a public key cannot sign") }
    guard let context = EVP_MD_CTX_new() else { throw libraryFailure("out of memory") }
    defer { EVP_MD_CTX_free(context) }
    var length = Int(EVP_PKEY_get_size(pointer))
    var signature = [UInt8](repeating: 0, count: length)
    guard EVP_MD_CTX_copy_ex(context, signer) == 1,
      EVP_DigestSign(context, &signature, &length, message, message.count) == 1
    else { throw libraryFailure("signing failed") }
    signature.removeLast(signature.count - length)
    return signature
  }

  /// Whether a signature in libcrypto's form is valid.
  func verify(_ signature: [UInt8], _ message: [UInt8]) -> Bool {
    guard let context = EVP_MD_CTX_new() else { return false }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_MD_CTX_copy_ex(context, verifier) == 1,
      EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    else {
      ERR_clear_error()
      return false
    }
    return true
  }

  private static func context(_ start: (OpaquePointer) -> Int32) -> OpaquePointer? {
    guard let context = EVP_MD_CTX_new() else { return nil }
    guard start(context) == 1 else {
      EVP_MD_CTX_free(context)
      return nil
    }
    return context
  }

  private static func checkKind(_ key: OpaquePointer, _ algorithm: SignatureAlgorithm) throws(CryptoError) {
    switch algorithm {
    case .rs256:
      guard EVP_PKEY_is_a(key, "RSA") == 1 else { throw CryptoError(.invalidKey, "RS256 needs an RSA key") }
      guard (2048...8192).contains(EVP_PKEY_get_bits(key)) else {
        throw CryptoError(.invalidKey, "an RSA key must have 2048 to 8192 bits")
      }
    case .es256:
      guard EVP_PKEY_is_a(key, "EC") == 1, groupName(key) == "prime256v1" else {
        throw CryptoError(.invalidKey, "ES256 needs a key on the curve P-256")
      }
    }
  }

  private static func check(
    _ key: OpaquePointer, _ algorithm: SignatureAlgorithm, _ isPrivate: Bool
  ) throws(CryptoError) {
    try checkKind(key, algorithm)
    guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { throw libraryFailure("out of memory") }
    defer { EVP_PKEY_CTX_free(context) }
    guard EVP_PKEY_public_check(context) == 1, !isPrivate || EVP_PKEY_pairwise_check(context) == 1 else {
      throw libraryFailure("the numbers of the key are not consistent", code: .invalidKey)
    }
  }

  private static func groupName(_ key: OpaquePointer) -> String {
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1, length < name.count else {
      ERR_clear_error()
      return ""
    }
    return String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
