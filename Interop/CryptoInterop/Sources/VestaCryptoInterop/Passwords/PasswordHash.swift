/// The hash of one password: the scheme, the salt and the result.
///
/// `text` is what to store; it says by itself how to verify it:
/// ```
/// $scrypt$ln=14,r=8,p=1$salt$hash             $firebase-scrypt$ln=14,r=8,sep=Bw$salt$hash
/// $pbkdf2-sha256$i=600000$salt$hash           $argon2id$v=19$m=65536,t=2,p=1$salt$hash
/// $2b$12$22 characters of salt and 31 of hash
/// $hmac-sha256$o=1,sep=$salt$hash             $digest-md5$n=1,o=0,sep=Bw$salt$hash
/// ```
/// Salts and hashes are base64 without padding, but for bcrypt, which has a different alphabet. Firebase's signer key
/// is not in it: it belongs to the project. Descriptions show the scheme alone.
public struct PasswordHash: Sendable, Equatable {
  /// How the password was hashed.
  public let scheme: PasswordScheme

  /// The salt; for bcrypt its 22 characters.
  public let salt: [UInt8]

  /// The result; for bcrypt its 31 characters.
  public let digest: [UInt8]

  private static let bcryptAlphabet = Set("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

  /// A hash of the given parts, as an import has them.
  ///
  /// - Parameters:
  ///   - scheme: How the password was hashed.
  ///   - salt: The salt, up to 1024 bytes; for bcrypt its 22 characters.
  ///   - digest: The result, 16 to 1024 bytes; for bcrypt its 31 characters.
  /// - Throws: `CryptoError` with `.limitExceeded`, `.invalidParameter` or `.malformed`.
  public init(scheme: PasswordScheme, salt: [UInt8], digest: [UInt8]) throws(CryptoError) {
    try scheme.validate()
    // A short digest would make guessing easy, and an empty one would match everything.
    try PasswordScheme.check((16...1024).contains(digest.count), "hashes of 16 to 1024 bytes")
    try PasswordScheme.check(salt.count <= 1024, "salts of up to 1024 bytes")
    if case .bcrypt = scheme {
      guard salt.count == 22, digest.count == 31, Self.bcryptAlphabet.isSuperset(of: salt + digest) else {
        throw CryptoError(.malformed, "password hash: not 22 and 31 characters of bcrypt's alphabet")
      }
    }
    if case .argon2 = scheme, salt.count < 8 {
      throw CryptoError(.malformed, "password hash: an Argon2 salt has at least 8 bytes")
    }
    self.scheme = scheme
    self.salt = salt
    self.digest = digest
  }

  /// Reads a stored hash.
  ///
  /// - Parameter text: A value of `text`, or a hash in the common `$argon2…` and `$2b$…` forms of others.
  /// - Throws: `CryptoError` with `.malformed`, `.unsupported` for a scheme that is not known, or `.limitExceeded`.
  public init(text: String) throws(CryptoError) {
    try PasswordScheme.check(text.utf8.count <= 4096, "texts of up to 4096 bytes")
    let fields = text.split(separator: "$", omittingEmptySubsequences: false).map(String.init)
    guard fields.count >= 4, fields[0].isEmpty else { throw Self.malformed }
    if let revision = BcryptRevision(rawValue: fields[1]) {
      self = try Self.bcrypt(revision, fields)
    } else if let variant = Argon2Parameters.Variant(rawValue: fields[1]) {
      self = try Self.argon2(variant, fields)
    } else {
      guard fields.count == 5 else { throw Self.malformed }
      try self.init(
        scheme: try Self.scheme(fields[1], fields[2]),
        salt: try Self.bytes(fields[3]),
        digest: try Self.bytes(fields[4])
      )
    }
  }

  /// The hash as a string, to be stored.
  public var text: String {
    let tail = "$\(Base64.unpadded.encode(salt))$\(Base64.unpadded.encode(digest))"
    switch scheme {
    case .scrypt(let scrypt):
      return "$scrypt$ln=\(scrypt.costLog2),r=\(scrypt.blockSize),p=\(scrypt.parallelism)" + tail
    case .firebaseScrypt(let firebase):
      let separator = Base64.unpadded.encode(firebase.saltSeparator)
      return "$firebase-scrypt$ln=\(firebase.memoryCost),r=\(firebase.rounds),sep=\(separator)" + tail
    case .pbkdf2(let algorithm, let iterations): return "$pbkdf2-\(algorithm.rawValue)$i=\(iterations)" + tail
    case .argon2(let argon2):
      return "$\(argon2.variant.rawValue)$v=\(argon2.version)"
        + "$m=\(argon2.memory),t=\(argon2.passes),p=\(argon2.lanes)" + tail
    case .hmac(let algorithm, let mixing): return "$hmac-\(algorithm.rawValue)$\(Self.text(of: mixing))" + tail
    case .digest(let algorithm, let rounds, let mixing):
      return "$digest-\(algorithm.rawValue)$n=\(rounds),\(Self.text(of: mixing))" + tail
    case .bcrypt(let revision, let cost):
      return "$\(revision.rawValue)$\(cost < 10 ? "0" : "")\(cost)$" + String(decoding: salt + digest, as: UTF8.self)
    }
  }

  /// Whether the password should be hashed again at the next sign-in, because another scheme is preferred now.
  ///
  /// - Parameter preferred: The algorithm of new passwords.
  /// - Returns: `true` when the scheme or any of its parameters differ.
  public func needsRehash(preferring preferred: PasswordScheme = .standard) -> Bool { scheme != preferred }
}

extension PasswordHash: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The scheme, without salt and hash.
  public var description: String { "PasswordHash(\(scheme))" }
  /// The scheme, without salt and hash.
  public var debugDescription: String { description }
  /// A mirror of the scheme alone.
  public var customMirror: Mirror { Mirror(self, children: ["scheme": scheme]) }
}

// Reading the string form.
extension PasswordHash {
  private static var malformed: CryptoError {
    CryptoError(.malformed, "password hash: the text does not follow the form of its scheme")
  }

  private static func bcrypt(_ revision: BcryptRevision, _ fields: [String]) throws(CryptoError) -> PasswordHash {
    guard fields.count == 4, fields[2].utf8.count == 2, let cost = number(fields[2], leadingZero: true) else {
      throw malformed
    }
    let body = Array(fields[3].utf8)
    guard body.count == 53 else { throw malformed }
    return try PasswordHash(
      scheme: .bcrypt(revision: revision, cost: cost), salt: Array(body[..<22]), digest: Array(body[22...])
    )
  }

  private static func argon2(
    _ variant: Argon2Parameters.Variant, _ fields: [String]
  ) throws(CryptoError) -> PasswordHash {
    // Hashes of version 16 were written without the version.
    let hasVersion = fields.count == 6
    guard hasVersion || fields.count == 5 else { throw malformed }
    let version = hasVersion ? try numbers(fields[2], ["v"])[0] : 16
    let costs = try numbers(fields[fields.count - 3], ["m", "t", "p"])
    return try PasswordHash(
      scheme: .argon2(
        Argon2Parameters(variant: variant, version: version, memory: costs[0], passes: costs[1], lanes: costs[2])
      ),
      salt: try Self.bytes(fields[fields.count - 2]),
      digest: try Self.bytes(fields[fields.count - 1])
    )
  }

  private static func bytes(_ text: some StringProtocol) throws(CryptoError) -> [UInt8] {
    try CryptoError.decoding { () throws(BytesError) in try Base64.unpadded.decode(text) }
  }

  private static func scheme(_ name: String, _ settings: String) throws(CryptoError) -> PasswordScheme {
    switch name {
    case "scrypt":
      let costs = try numbers(settings, ["ln", "r", "p"])
      return .scrypt(ScryptParameters(costLog2: costs[0], blockSize: costs[1], parallelism: costs[2]))
    case "firebase-scrypt":
      let parts = settings.split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 3, parts[2].hasPrefix("sep=") else { throw malformed }
      let costs = try numbers(parts[0] + "," + parts[1], ["ln", "r"])
      let separator = try Self.bytes(parts[2].dropFirst(4))
      return .firebaseScrypt(
        FirebaseScryptParameters(rounds: costs[1], memoryCost: costs[0], saltSeparator: separator)
      )
    default:
      let parts = name.split(separator: "-", maxSplits: 1).map(String.init)
      guard parts.count == 2, let digest = DigestAlgorithm(rawValue: parts[1]) else { throw unknown }
      return try scheme(parts[0], of: digest, settings)
    }
  }

  private static var unknown: CryptoError { CryptoError(.unsupported, "password hash: the scheme is not known") }

  /// A scheme that is built on a digest.
  private static func scheme(
    _ name: String, of digest: DigestAlgorithm, _ settings: String
  ) throws(CryptoError) -> PasswordScheme {
    switch name {
    case "pbkdf2": return .pbkdf2(digest, iterations: try numbers(settings, ["i"])[0])
    case "hmac": return .hmac(digest, try mixing(settings[...]))
    case "digest":
      let parts = settings.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { throw malformed }
      return .digest(digest, rounds: try numbers(String(parts[0]), ["n"])[0], try mixing(parts[1]))
    default: throw unknown
    }
  }

  private static func text(of mixing: SaltMixing) -> String {
    "o=\(mixing.isSaltFirst ? 1 : 0),sep=\(Base64.unpadded.encode(mixing.separator))"
  }

  private static func mixing(_ settings: Substring) throws(CryptoError) -> SaltMixing {
    let parts = settings.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2, ["o=0", "o=1"].contains(parts[0]), parts[1].hasPrefix("sep=") else { throw malformed }
    return SaltMixing(isSaltFirst: parts[0] == "o=1", separator: try bytes(parts[1].dropFirst(4)))
  }

  /// Reads `a=1,b=2` with exactly the given names in the given order.
  private static func numbers(_ settings: String, _ names: [String]) throws(CryptoError) -> [Int] {
    let parts = settings.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == names.count else { throw malformed }
    var values: [Int] = []
    for (part, name) in zip(parts, names) {
      guard part.hasPrefix(name + "="), let value = number(String(part.dropFirst(name.count + 1))) else {
        throw malformed
      }
      values.append(value)
    }
    return values
  }

  private static func number(_ text: String, leadingZero: Bool = false) -> Int? {
    guard (1...10).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    guard leadingZero || text == "0" || !text.hasPrefix("0") else { return nil }
    return Int(text)
  }
}
