/// MD5 as RFC 1321 has it, to check bloom filters with; not for anything that must be safe or fast.
enum MD5 {
  private static let shifts: [[UInt32]] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]

  static func digest(_ message: [UInt8]) -> [UInt8] {
    var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
    var padded = message + [0x80]
    while padded.count % 64 != 56 { padded.append(0) }
    let bits = UInt64(message.count) * 8
    padded += (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
    for start in stride(from: 0, to: padded.count, by: 64) { mix(padded[start..<start + 64], into: &state) }
    return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
  }

  private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
    let words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
      block[start..<start + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    for step in 0..<64 {
      let (function, index): (UInt32, Int)
      switch step / 16 {
      case 0: (function, index) = (b & c | ~b & d, step)
      case 1: (function, index) = (d & b | ~d & c, (5 * step + 1) % 16)
      case 2: (function, index) = (b ^ c ^ d, (3 * step + 5) % 16)
      default: (function, index) = (c ^ (b | ~d), 7 * step % 16)
      }
      let sum = a &+ function &+ constants[step] &+ words[index]
      let shift = shifts[step / 16][step % 4]
      (a, b, c, d) = (d, b &+ (sum << shift | sum >> (32 - shift)), b, c)
    }
    state = [state[0] &+ a, state[1] &+ b, state[2] &+ c, state[3] &+ d]
  }
}
