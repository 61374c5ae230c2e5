import VestaBytes
import VestaCryptoInterop

/// Random secrets and identifiers, and the hashes under which secrets are kept.
struct Secrets: Sendable {
  let crypto: any CryptoProvider

  /// Random bytes as base64url, with the given number of characters.
  func secret(length: Int) throws -> String {
    String(Base64.url.encode(try crypto.randomBytes(count: (length * 3 + 3) / 4)).prefix(length))
  }

  /// The SHA-256 under which a secret is kept.
  func hash(_ secret: String) throws -> [UInt8] { try crypto.digest(.sha256, of: Array(secret.utf8)) }

  /// A random epoch to begin with: 48 bits, which JSON numbers carry exactly, with room to count on.
  func newEpoch() throws -> Int64 { try crypto.randomBytes(count: 6).reduce(Int64(0)) { $0 << 8 | Int64($1) } }

  /// A new user id: 28 letters and digits.
  func newLocalID() throws -> String { try identifier(length: 28) }

  /// Random letters and digits.
  func identifier(length: Int) throws -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    var text: [UInt8] = []
    while text.count < length {
      // Bytes from 248 on are dropped: with them some letters would be more frequent than others.
      for byte in try crypto.randomBytes(count: length) where byte < 248 && text.count < length {
        text.append(alphabet[Int(byte) % 62])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// A code to a phone.
  func sixDigits() throws -> String {
    while true {
      let word = try crypto.randomBytes(count: 4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      // The last incomplete million is dropped: with it some codes would be more frequent than others.
      guard word < 4_294_000_000 else { continue }
      let text = String(word % 1_000_000)
      return String(repeating: "0", count: 6 - text.utf8.count) + text
    }
  }
}
