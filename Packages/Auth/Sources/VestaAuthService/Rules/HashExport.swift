import VestaAuthBackend
import VestaCryptoInterop

/// How an export has the hashes of passwords.
struct HashExport: Sendable {
  let form: ExportedHashForm
  /// The scheme of the project's new passwords.
  let scheme: PasswordScheme

  /// Shows the hash that an account keeps as a text.
  func set(_ text: String, in user: inout AuthUser) {
    let hash = try? PasswordHash(text: text)
    if form == .text || ImportHash(scheme) == .text {
      user.passwordHash = Base64.standard.encode(Array(text.utf8))
      user.salt = hash.map { Base64.standard.encode($0.salt) }
    } else if let hash, hash.scheme == scheme {
      user.passwordHash = Base64.standard.encode(hash.digest)
      user.salt = Base64.standard.encode(hash.salt)
    }
  }
}

extension ImportHash {
  /// The form in which importers know a scheme of new passwords; the text for one that they have no name for.
  init(_ scheme: PasswordScheme) {
    switch scheme {
    case .scrypt(let scrypt):
      self = .standardScrypt(
        costLog2: scrypt.costLog2, blockSize: scrypt.blockSize, parallelism: scrypt.parallelism)
    case .pbkdf2(.sha256, let iterations): self = .pbkdf2SHA256(rounds: iterations)
    case .pbkdf2(.sha1, let iterations): self = .pbkdf2SHA1(rounds: iterations)
    // Firebase's scrypt makes no new hashes here, as the engine has no signer key for them.
    case .pbkdf2, .firebaseScrypt, .bcrypt, .argon2, .hmac, .digest: self = .text
    }
  }
}
