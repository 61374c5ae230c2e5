import CVestaOpenSSL
import VestaCryptoInterop

/// The slow functions themselves, which block for milliseconds: password, salt and parameters in, digest out.
enum PasswordFunctions {
  static let scryptMemoryLimit: UInt64 = 300 << 20

  /// The digest of a password with a scheme and a salt.
  ///
  /// - Parameter length: How many bytes are wanted; bcrypt and Firebase's scrypt decide for themselves.
  static func digest(
    _ password: String, _ scheme: PasswordScheme, salt: [UInt8], length: Int, signerKey: SecretBytes?
  ) throws(CryptoError) -> [UInt8] {
    let password = WipedBytes(password.utf8)
    switch scheme {
    case .scrypt(let parameters):
      return try scrypt(password, salt, parameters, length: length).copy
    case .firebaseScrypt(let parameters):
      guard let signerKey, !signerKey.bytes.isEmpty else {
        throw CryptoError(.invalidParameter, "Firebase's scrypt needs the project's signer key")
      }
      let key = try scrypt(password, salt + parameters.saltSeparator, parameters.scrypt, length: 32)
      return try encrypted(signerKey.bytes, with: key)
    case .pbkdf2(let algorithm, let iterations):
      return try pbkdf2(password, salt, algorithm, iterations, length: length)
    case .bcrypt(let revision, let cost): return try Platform.bcrypt(password, salt, revision, cost)
    case .argon2(let parameters): return try Platform.argon2(password, salt, parameters, length: length)
    case .hmac(let algorithm, let mixing):
      guard let signerKey, !signerKey.bytes.isEmpty else {
        throw CryptoError(.invalidParameter, "a keyed hash needs the project's signer key")
      }
      let message = WipedBytes(mixing.message(password: password.copy, salt: salt))
      return try hmac(algorithm, key: signerKey.bytes, message)
    case .digest(let algorithm, let rounds, let mixing):
      return try repeated(algorithm, rounds, WipedBytes(mixing.message(password: password.copy, salt: salt)))
    }
  }

  private static func hmac(
    _ algorithm: DigestAlgorithm, key: [UInt8], _ message: borrowing WipedBytes
  ) throws(CryptoError) -> [UInt8] {
    let function = try FetchedDigest.of(algorithm)
    let (pointer, count) = (message.pointer, message.count)
    return try filled(algorithm.byteCount, "HMAC") { output in
      HMAC(function.pointer, key, Int32(clamping: key.count), pointer, count, output, nil) == nil ? 0 : 1
    }
  }

  /// The digest of a message, then of that digest, and so on.
  private static func repeated(
    _ algorithm: DigestAlgorithm, _ rounds: Int, _ message: borrowing WipedBytes
  ) throws(CryptoError) -> [UInt8] {
    let function = try FetchedDigest.of(algorithm)
    let (pointer, count) = (message.pointer, message.count)
    var result = try filled(algorithm.byteCount, "digest") {
      EVP_Digest(pointer, count, $0, nil, function.pointer, nil)
    }
    for _ in 1..<max(2, rounds) where rounds > 1 {
      let last = result
      result = try filled(algorithm.byteCount, "digest") {
        EVP_Digest(last, last.count, $0, nil, function.pointer, nil)
      }
    }
    return result
  }

  private static func scrypt(
    _ password: borrowing WipedBytes, _ salt: [UInt8], _ parameters: ScryptParameters, length: Int
  ) throws(CryptoError) -> WipedBytes {
    let result = WipedBytes(count: length)
    let status = password.withCharacters { characters, count in
      EVP_PBE_scrypt(
        characters, count, salt, salt.count, 1 << UInt64(parameters.costLog2), UInt64(parameters.blockSize),
        UInt64(parameters.parallelism), scryptMemoryLimit, result.pointer, length
      )
    }
    guard status == 1 else { throw libraryFailure("scrypt failed") }
    return result
  }

  private static func pbkdf2(
    _ password: borrowing WipedBytes, _ salt: [UInt8], _ algorithm: DigestAlgorithm, _ iterations: Int, length: Int
  ) throws(CryptoError) -> [UInt8] {
    let function = try FetchedDigest.of(algorithm)
    let result = WipedBytes(count: length)
    let status = password.withCharacters { characters, count in
      PKCS5_PBKDF2_HMAC(
        characters, Int32(clamping: count), salt, Int32(clamping: salt.count), Int32(clamping: iterations),
        function.pointer, Int32(clamping: length), result.pointer
      )
    }
    guard status == 1 else { throw libraryFailure("PBKDF2 failed") }
    return result.copy
  }

  /// AES-256 in counter mode from zero, as Firebase's scrypt encrypts the signer key.
  private static func encrypted(
    _ plain: [UInt8], with key: borrowing WipedBytes
  ) throws(CryptoError) -> [UInt8] {
    guard let context = EVP_CIPHER_CTX_new() else { throw libraryFailure("out of memory") }
    defer { EVP_CIPHER_CTX_free(context) }
    let key = key.pointer
    return try filled(plain.count, "AES-256-CTR") { output in
      var length: Int32 = 0
      let zero = [UInt8](repeating: 0, count: 16)
      guard EVP_EncryptInit_ex2(context, EVP_aes_256_ctr(), key, zero, nil) == 1 else { return 0 }
      return EVP_EncryptUpdate(context, output, &length, plain, Int32(clamping: plain.count))
    }
  }
}

extension WipedBytes {
  /// The bytes as the `char` that C's passwords are made of; never a null pointer.
  borrowing func withCharacters<Result>(_ body: (UnsafePointer<CChar>, Int) -> Result) -> Result {
    guard count > 0, let pointer else { return body("", 0) }
    let count = count
    return pointer.withMemoryRebound(to: CChar.self, capacity: count) { body($0, count) }
  }
}
