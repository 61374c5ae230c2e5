/// How a password is turned into a hash, with all parameters but the salt.
public enum PasswordScheme: Sendable, Hashable {
  /// scrypt (RFC 7914); the choice for new passwords.
  case scrypt(ScryptParameters)
  /// Firebase's scrypt: the scrypt output encrypts the project's signer key. For users exported from Firebase.
  case firebaseScrypt(FirebaseScryptParameters)
  /// PBKDF2 with HMAC (RFC 8018); not with MD5.
  case pbkdf2(DigestAlgorithm, iterations: Int)
  /// bcrypt; can only be verified.
  case bcrypt(revision: BcryptRevision, cost: Int)
  /// Argon2 (RFC 9106); can only be verified.
  case argon2(Argon2Parameters)
  /// One HMAC of password and salt with the project's signer key, as old systems have it; can only be verified.
  case hmac(DigestAlgorithm, SaltMixing)
  /// A digest of password and salt, repeated on its result, as old systems have it; can only be verified.
  case digest(DigestAlgorithm, rounds: Int, SaltMixing)

  /// The scheme of new passwords: scrypt with N = 2^14, r = 8, p = 1, about 25 ms and 16 MiB for each try, as Firebase
  /// does.
  public static let standard = PasswordScheme.scrypt(ScryptParameters(costLog2: 14, blockSize: 8, parallelism: 1))

  /// scrypt with N = 2^17, r = 8, p = 1: eight times the work and 128 MiB for each try.
  public static let strong = PasswordScheme.scrypt(ScryptParameters(costLog2: 17, blockSize: 8, parallelism: 1))

  /// Whether new hashes can be made with it.
  public var canHash: Bool {
    switch self {
    case .scrypt, .firebaseScrypt, .pbkdf2: true
    case .bcrypt, .argon2, .hmac, .digest: false
    }
  }

  /// Refuses parameters that are out of range or so expensive that a hostile import could stop a server with them.
  ///
  /// - Throws: `CryptoError` with `.limitExceeded` or `.invalidParameter`.
  public func validate() throws(CryptoError) {
    switch self {
    case .scrypt(let parameters): try parameters.validate()
    case .firebaseScrypt(let parameters): try parameters.scrypt.validate()
    case .pbkdf2(let digest, let iterations):
      guard digest != .md5 else { throw CryptoError(.invalidParameter, "PBKDF2: MD5 is not accepted") }
      try Self.check((1...10_000_000).contains(iterations), "PBKDF2: 1 to 10,000,000 iterations")
    case .bcrypt(_, let cost): try Self.check((4...18).contains(cost), "bcrypt: a cost of 4 to 18")
    case .argon2(let parameters): try parameters.validate()
    case .hmac(_, let mixing): try mixing.validate()
    case .digest(_, let rounds, let mixing):
      try Self.check((1...8192).contains(rounds), "digests: 1 to 8,192 rounds")
      try mixing.validate()
    }
  }

  static func check(_ condition: Bool, _ accepted: String) throws(CryptoError) {
    guard condition else { throw CryptoError(.limitExceeded, "password hash: \(accepted) are accepted") }
  }
}

/// The parameters of scrypt: 128 * r * N bytes of memory, N * r * p of work.
public struct ScryptParameters: Sendable, Hashable {
  /// The binary logarithm of N, 1 to 20.
  public var costLog2: Int
  /// The block size r, 1 to 32.
  public var blockSize: Int
  /// The parallelism p, 1 to 16.
  public var parallelism: Int

  /// The given parameters.
  ///
  /// - Parameters:
  ///   - costLog2: The binary logarithm of N.
  ///   - blockSize: The block size r.
  ///   - parallelism: The parallelism p.
  public init(costLog2: Int, blockSize: Int, parallelism: Int) {
    self.costLog2 = costLog2
    self.blockSize = blockSize
    self.parallelism = parallelism
  }

  func validate() throws(CryptoError) {
    try PasswordScheme.check((1...20).contains(costLog2), "scrypt: N from 2^1 to 2^20")
    try PasswordScheme.check((1...32).contains(blockSize), "scrypt: r from 1 to 32")
    try PasswordScheme.check((1...16).contains(parallelism), "scrypt: p from 1 to 16")
    try PasswordScheme.check(128 * blockSize << costLog2 <= 256 << 20, "scrypt: up to 256 MiB of memory")
    // The standard demands N < 2^(128 * r / 8), which matters for r = 1 alone.
    try PasswordScheme.check(costLog2 < 16 * blockSize, "scrypt: N below 2^(16 * r)")
  }
}

/// The project-wide parameters of Firebase's scrypt, as its console shows them; the signer key is kept apart.
public struct FirebaseScryptParameters: Sendable, Hashable {
  /// `rounds`: the block size of the scrypt underneath, 8 as a rule.
  public var rounds: Int
  /// `mem_cost`: the binary logarithm of its N, 14 as a rule.
  public var memoryCost: Int
  /// `base64_salt_separator`, decoded: bytes that are appended to every salt.
  public var saltSeparator: [UInt8]

  /// The given parameters.
  ///
  /// - Parameters:
  ///   - rounds: `rounds` of the console.
  ///   - memoryCost: `mem_cost` of the console.
  ///   - saltSeparator: `base64_salt_separator` of the console, decoded.
  public init(rounds: Int, memoryCost: Int, saltSeparator: [UInt8]) {
    self.rounds = rounds
    self.memoryCost = memoryCost
    self.saltSeparator = saltSeparator
  }

  /// The scrypt underneath.
  public var scrypt: ScryptParameters {
    ScryptParameters(costLog2: memoryCost, blockSize: rounds, parallelism: 1)
  }
}

/// The revision of bcrypt: revisions differ in bugs of old implementations.
public enum BcryptRevision: String, Sendable, Hashable {
  /// `2a`: the original.
  case a = "2a"
  /// `2b`: the current revision.
  case b = "2b"
  /// `2y`: PHP's name of the current one.
  case y = "2y"
}

/// The parameters of Argon2.
public struct Argon2Parameters: Sendable, Hashable {
  /// The variant of Argon2.
  public enum Variant: String, Sendable, Hashable {
    /// Argon2d.
    case d = "argon2d"
    /// Argon2i.
    case i = "argon2i"
    /// Argon2id, the one to prefer.
    case id = "argon2id"
  }

  /// The variant of Argon2.
  public var variant: Variant
  /// The version: 19 (1.3), or 16 (1.0) for old hashes.
  public var version: Int
  /// The memory in KiB, up to 1 GiB.
  public var memory: Int
  /// The passes.
  public var passes: Int
  /// The lanes, 1 to 16.
  public var lanes: Int

  /// The given parameters.
  ///
  /// - Parameters:
  ///   - variant: Which Argon2.
  ///   - version: 19 or 16.
  ///   - memory: The memory in KiB.
  ///   - passes: The passes.
  ///   - lanes: The lanes.
  public init(variant: Variant, version: Int = 19, memory: Int, passes: Int, lanes: Int) {
    self.variant = variant
    self.version = version
    self.memory = memory
    self.passes = passes
    self.lanes = lanes
  }

  func validate() throws(CryptoError) {
    try PasswordScheme.check(version == 19 || version == 16, "Argon2: the versions 19 and 16")
    try PasswordScheme.check((1...16).contains(lanes), "Argon2: 1 to 16 lanes")
    try PasswordScheme.check((8 * lanes...1 << 20).contains(memory), "Argon2: 8 KiB for each lane to 1 GiB")
    try PasswordScheme.check((1...1000).contains(passes), "Argon2: 1 to 1000 passes")
    try PasswordScheme.check(memory * passes <= 1 << 23, "Argon2: up to 8 GiB of memory times passes")
  }
}
