/// How the passwords of a batch were hashed.
public enum ImportHash: AuthMessage {
  /// A digest of old systems.
  public enum Digest: String, Sendable, Hashable, CaseIterable {
    /// MD5.
    case md5 = "MD5"
    /// SHA-1.
    case sha1 = "SHA1"
    /// SHA-256.
    case sha256 = "SHA256"
    /// SHA-512.
    case sha512 = "SHA512"
  }

  /// How password and salt were put together.
  public struct Mixing: Sendable, Hashable {
    /// Whether the salt is before the password, and not after it.
    public var isSaltFirst: Bool

    /// Bytes between the two.
    public var separator: [UInt8]

    /// Creates a value with these properties.
    public init(isSaltFirst: Bool = true, separator: [UInt8] = []) {
      self.isSaltFirst = isSaltFirst
      self.separator = separator
    }
  }

  /// Firebase's scrypt, with the project's parameters as its console shows them.
  case scrypt(signerKey: [UInt8], saltSeparator: [UInt8], rounds: Int, memoryCost: Int)

  /// scrypt as RFC 7914 has it.
  case standardScrypt(costLog2: Int, blockSize: Int, parallelism: Int)

  /// PBKDF2 with HMAC-SHA256.
  case pbkdf2SHA256(rounds: Int)

  /// PBKDF2 with HMAC-SHA1.
  case pbkdf2SHA1(rounds: Int)

  /// One HMAC of password and salt.
  case hmac(Digest, signerKey: [UInt8], Mixing)

  /// A digest of password and salt, repeated on its result; zero rounds are one.
  case digest(Digest, rounds: Int, Mixing)

  /// bcrypt; the hash is the text that begins with `$2`.
  case bcrypt

  /// Any hash as its text says, such as `$argon2id$...`.
  case text
}
