/// SHA-1, which the tree's hashes are defined by.
///
/// The hashes compare trees; they protect nothing, so a digest that is weak against attackers serves, and no plug-in is
/// needed.
struct SHA1 {
  private var state: (UInt32, UInt32, UInt32, UInt32, UInt32) = (
    0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0
  )

  /// The digest of bytes, twenty bytes long.
  static func digest(_ bytes: [UInt8]) -> [UInt8] {
    var sha = SHA1()
    var message = bytes
    message.reserveCapacity(bytes.count + 72)
    message.append(0x80)
    while message.count % 64 != 56 { message.append(0) }
    let bits = UInt64(bytes.count) * 8
    for shift in stride(from: 56, through: 0, by: -8) {
      message.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
    var words = [UInt32](repeating: 0, count: 80)
    for start in stride(from: 0, to: message.count, by: 64) { sha.add(message, start, &words) }
    var digest: [UInt8] = []
    for word in [sha.state.0, sha.state.1, sha.state.2, sha.state.3, sha.state.4] {
      for shift in [24, 16, 8, 0] as [UInt32] { digest.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    return digest
  }

  private mutating func add(_ message: [UInt8], _ start: Int, _ words: inout [UInt32]) {
    for index in 0..<16 {
      let at = start + index * 4
      words[index] =
        UInt32(message[at]) << 24 | UInt32(message[at + 1]) << 16 | UInt32(message[at + 2]) << 8
        | UInt32(message[at + 3])
    }
    for index in 16..<80 {
      words[index] = rotate(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1)
    }
    var (a, b, c, d, e) = state
    func step(_ mix: UInt32, _ constant: UInt32, _ index: Int) {
      let next = rotate(a, 5) &+ mix &+ e &+ constant &+ words[index]
      (e, d, c, b, a) = (d, c, rotate(b, 30), a, next)
    }
    for index in 0..<20 { step((b & c) | (~b & d), 0x5A82_7999, index) }
    for index in 20..<40 { step(b ^ c ^ d, 0x6ED9_EBA1, index) }
    for index in 40..<60 { step((b & c) | (b & d) | (c & d), 0x8F1B_BCDC, index) }
    for index in 60..<80 { step(b ^ c ^ d, 0xCA62_C1D6, index) }
    state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e)
  }

  private func rotate(_ word: UInt32, _ bits: UInt32) -> UInt32 { word << bits | word >> (32 - bits) }
}
