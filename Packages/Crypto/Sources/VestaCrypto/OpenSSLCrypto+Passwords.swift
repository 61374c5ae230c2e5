public import VestaCryptoInterop

extension OpenSSLCrypto {
  private static let saltLength = 16
  private static let digestLength = 32

  /// Hashes a password with a fresh random salt, on one of the threads for slow work.
  public func hashPassword(
    _ password: String, scheme: PasswordScheme, signerKey: SecretBytes?
  ) async throws -> PasswordHash {
    try scheme.validate()
    guard scheme.canHash else {
      throw CryptoError(.unsupported, "bcrypt and Argon2 hashes can be verified, not made; use scrypt")
    }
    let salt = try randomBytes(count: Self.saltLength)
    return try await workers.run {
      let digest = try PasswordFunctions.digest(
        password, scheme, salt: salt, length: Self.digestLength, signerKey: signerKey
      )
      return try PasswordHash(scheme: scheme, salt: salt, digest: digest)
    }
  }

  /// Checks a password against a hash, on one of the threads for slow work.
  public func verifyPassword(
    _ password: String, against hash: PasswordHash, signerKey: SecretBytes?
  ) async throws -> Bool {
    let digest = try await workers.run {
      try PasswordFunctions.digest(
        password, hash.scheme, salt: hash.salt, length: hash.digest.count, signerKey: signerKey
      )
    }
    return constantTimeEquals(digest, hash.digest)
  }
}
