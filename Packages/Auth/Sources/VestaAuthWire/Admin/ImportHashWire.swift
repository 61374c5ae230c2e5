import VestaAuthBackend
import VestaBytes

/// How the hashes of a batch were made, as flat members of its request.
enum ImportHashWire {
  typealias Parts = BatchCreateRequestWire.Parts

  /// The name of the form of Vesta's own exports, in which each hash says how it was made.
  private static let vestaText = "VESTA_TEXT"
  private static let passwordFirst = "PASSWORD_AND_SALT"

  /// Writes the members.
  static func set(_ hash: ImportHash, in parts: inout Parts) {
    switch hash {
    case .scrypt(let key, let separator, let rounds, let memory):
      parts.algorithm = "SCRYPT"
      (parts.signerKey, parts.saltSeparator) = (key, separator)
      (parts.rounds, parts.memoryCost) = (Int64(rounds), Int64(memory))
    case .standardScrypt(let cost, let blockSize, let parallelism):
      parts.algorithm = "STANDARD_SCRYPT"
      (parts.cost, parts.blockSize) = (1 << Int64(min(max(0, cost), 62)), Int64(blockSize))
      parts.parallelization = Int64(parallelism)
    case .pbkdf2SHA256(let rounds): (parts.algorithm, parts.rounds) = ("PBKDF2_SHA256", Int64(rounds))
    case .pbkdf2SHA1(let rounds): (parts.algorithm, parts.rounds) = ("PBKDF_SHA1", Int64(rounds))
    case .hmac(let digest, let key, let mixing):
      (parts.algorithm, parts.signerKey) = ("HMAC_\(digest.rawValue)", key)
      set(mixing, in: &parts)
    case .digest(let digest, let rounds, let mixing):
      (parts.algorithm, parts.rounds) = (digest.rawValue, Int64(rounds))
      set(mixing, in: &parts)
    case .bcrypt: parts.algorithm = "BCRYPT"
    case .text: parts.algorithm = vestaText
    }
  }

  private static func set(_ mixing: ImportHash.Mixing, in parts: inout Parts) {
    parts.saltSeparator = mixing.separator
    parts.order = mixing.isSaltFirst ? "SALT_AND_PASSWORD" : passwordFirst
  }

  /// Reads the members.
  static func hash(_ parts: Parts) throws(BytesError) -> ImportHash? {
    switch parts.algorithm {
    case nil, ""?: return nil
    case "SCRYPT"?:
      return .scrypt(
        signerKey: parts.signerKey, saltSeparator: parts.saltSeparator, rounds: try number(parts.rounds),
        memoryCost: try number(parts.memoryCost))
    case "STANDARD_SCRYPT"?:
      guard let cost = parts.cost, cost > 0, cost.nonzeroBitCount == 1 else {
        throw BytesError(.malformed, "INVALID_HASH_PARAMETER")
      }
      return .standardScrypt(
        costLog2: cost.trailingZeroBitCount, blockSize: try number(parts.blockSize),
        parallelism: try number(parts.parallelization))
    case "PBKDF2_SHA256"?: return .pbkdf2SHA256(rounds: try number(parts.rounds))
    case "PBKDF_SHA1"?: return .pbkdf2SHA1(rounds: try number(parts.rounds))
    case "BCRYPT"?: return .bcrypt
    case vestaText?: return .text
    case let name?: return try old(name, parts)
    }
  }

  /// The hashes of old systems, by the name of the digest.
  ///
  /// The salt is first where no order is named.
  private static func old(_ name: String, _ parts: Parts) throws(BytesError) -> ImportHash {
    let mixing = ImportHash.Mixing(isSaltFirst: parts.order != passwordFirst, separator: parts.saltSeparator)
    if name.hasPrefix("HMAC_"), let digest = ImportHash.Digest(rawValue: String(name.dropFirst(5))) {
      return .hmac(digest, signerKey: parts.signerKey, mixing)
    }
    guard let digest = ImportHash.Digest(rawValue: name) else {
      throw BytesError(.malformed, "INVALID_HASH_ALGORITHM")
    }
    return .digest(digest, rounds: try number(parts.rounds), mixing)
  }

  private static func number(_ value: Int64?) throws(BytesError) -> Int {
    guard let value, let number = Int32(exactly: value), number >= 0 else {
      throw BytesError(.malformed, "INVALID_HASH_PARAMETER")
    }
    return Int(number)
  }
}
