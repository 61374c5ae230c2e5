/// The SHA-1 digest (FIPS 180-4), for formats that are defined by it.
///
/// It is weak against attackers and not for secrets: those are the business of `CryptoProvider`.
///
/// ```swift
/// Hex.encode(SHA1.digest(Array("abc".utf8)))  // a9993e364706816aba3e25717850c26c9cd0d89d
/// ```
public struct SHA1 {
  private var (a, b, c, d, e): (UInt32, UInt32, UInt32, UInt32, UInt32) = (
    0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0
  )

  /// The digest of bytes, 20 bytes long.
  public static func digest(_ message: [UInt8]) -> [UInt8] {
    var sha = SHA1()
    var schedule = [UInt32](repeating: 0, count: 80)
    let blocks = DigestBlocks(message)
    for block in 0..<blocks.count {
      blocks.load(block, into: &schedule)
      sha.add(&schedule)
    }
    return DigestBlocks.bytes(of: [sha.a, sha.b, sha.c, sha.d, sha.e])
  }

  private mutating func add(_ words: inout [UInt32]) {
    for index in 16..<80 {
      words[index] = rotated(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1)
    }
    var (a, b, c, d, e) = (self.a, self.b, self.c, self.d, self.e)
    func step(_ mix: UInt32, _ constant: UInt32, _ index: Int) {
      let next = rotated(a, 5) &+ mix &+ e &+ constant &+ words[index]
      (e, d, c, b, a) = (d, c, rotated(b, 30), a, next)
    }
    for index in 0..<20 { step((b & c) | (~b & d), 0x5A82_7999, index) }
    for index in 20..<40 { step(b ^ c ^ d, 0x6ED9_EBA1, index) }
    for index in 40..<60 { step((b & c) | (b & d) | (c & d), 0x8F1B_BCDC, index) }
    for index in 60..<80 { step(b ^ c ^ d, 0xCA62_C1D6, index) }
    (self.a, self.b, self.c, self.d, self.e) = (self.a &+ a, self.b &+ b, self.c &+ c, self.d &+ d, self.e &+ e)
  }

  private func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 { word << bits | word >> (32 - bits) }
}
