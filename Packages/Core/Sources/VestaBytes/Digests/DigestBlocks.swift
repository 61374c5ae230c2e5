/// A message as SHA-1 and SHA-256 read it: blocks of sixteen big-endian words, padded to whole blocks.
///
/// The message is followed by a byte with the value 128, zeros, and the length in bits as eight bytes.
struct DigestBlocks {
  private let message: [UInt8]

  /// The number of blocks.
  let count: Int

  init(_ message: [UInt8]) {
    self.message = message
    count = (message.count + 8) / 64 + 1
  }

  /// Writes a block into the first sixteen words of a schedule.
  func load(_ block: Int, into schedule: inout [UInt32]) {
    let start = block * 64
    if start + 64 <= message.count {
      for index in 0..<16 {
        let at = start + index * 4
        let (high, low) = (UInt32(message[at]) << 8 | UInt32(message[at + 1]), UInt32(message[at + 2]) << 8)
        schedule[index] = high << 16 | low | UInt32(message[at + 3])
      }
    } else {
      for index in 0..<16 { schedule[index] = paddedWord(at: start + index * 4) }
      if block == count - 1 { close(&schedule) }
    }
  }

  private func paddedWord(at start: Int) -> UInt32 {
    (start..<start + 4).reduce(0) { word, at in
      word << 8 | (at < message.count ? UInt32(message[at]) : at == message.count ? 0x80 : 0)
    }
  }

  private func close(_ schedule: inout [UInt32]) {
    let bits = UInt64(message.count) * 8
    schedule[14] = UInt32(truncatingIfNeeded: bits >> 32)
    schedule[15] = UInt32(truncatingIfNeeded: bits)
  }

  /// The words of a digest as bytes.
  static func bytes(of words: [UInt32]) -> [UInt8] {
    words.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } }
  }
}
