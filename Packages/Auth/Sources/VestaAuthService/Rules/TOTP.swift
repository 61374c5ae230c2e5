/// Codes of authenticator apps (RFC 6238): SHA-1, six digits, thirty seconds.
///
/// The keyed hash is a parameter, so this decides and computes nothing secret by itself.
struct TOTP {
  /// For how many seconds a code is valid.
  static let period: Int64 = 30

  /// How many digits a code has.
  static let digits = 6

  /// HMAC-SHA1 under the secret.
  let hmac: (_ message: [UInt8]) throws -> [UInt8]

  /// The code of a step.
  func code(at step: Int64) throws -> String {
    let message = (0..<8).map { UInt8(truncatingIfNeeded: step >> (56 - 8 * Int64($0))) }
    let hash = try hmac(message)
    let offset = Int(hash.last ?? 0) & 15
    guard offset + 4 <= hash.count else { return "" }
    let word = hash[offset..<(offset + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
    let text = String(word % 1_000_000)
    return String(repeating: "0", count: Self.digits - text.utf8.count) + text
  }

  /// The step for which the code is right, one step early or late at the most; `nil` when there is none.
  ///
  /// - Parameters:
  ///   - code: The code that the user typed.
  ///   - seconds: The time, in seconds since 1970.
  ///   - lastUsed: The step of the last code that was accepted: that one and all before it never count again.
  func acceptedStep(for code: String, at seconds: Int64, lastUsed: Int64?) throws -> Int64? {
    let present = seconds / Self.period
    var accepted: Int64?
    // All three are computed always, so that the time taken does not reveal which one matches.
    for step in (present - 1)...(present + 1) {
      let isRight = try self.code(at: step) == code
      if isRight, accepted == nil, step > lastUsed ?? .min { accepted = step }
    }
    return accepted
  }
}

/// Base32 (RFC 4648) without padding, as authenticator apps read it.
enum Base32 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

  /// The bytes as a string.
  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    var group: UInt32 = 0
    var bits: UInt32 = 0
    for byte in bytes {
      group = group << 8 | UInt32(byte)
      bits += 8
      while bits >= 5 {
        bits -= 5
        text.append(alphabet[Int(group >> bits & 31)])
      }
      group &= (1 << bits) - 1
    }
    if bits > 0 { text.append(alphabet[Int(group << (5 - bits) & 31)]) }
    return String(decoding: text, as: UTF8.self)
  }
}
