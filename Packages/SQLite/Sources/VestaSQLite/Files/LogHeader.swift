/// The first bytes of a write-ahead log; pure.
///
/// SQLite ignores a log whose header is damaged, and with it every transaction that is in the log only. The header is
/// within one sector, so a crash leaves it old, new or all zeros: anything else is damage, and must not pass unnoticed.
enum LogHeader: Equatable {
  /// There is no log, or a new one.
  case absent
  /// The header is as it was written.
  case sound
  /// The header was changed since it was written.
  case damaged

  static let length = 32

  /// Judges the first `length` bytes of a log.
  init(_ bytes: [UInt8]) {
    guard bytes.count == Self.length, bytes.contains(where: { $0 != 0 }) else {
      self = .absent
      return
    }
    let magic = Self.number(bytes, 0, bigEndian: true)
    guard magic == 0x377F_0682 || magic == 0x377F_0683 else {
      self = .damaged
      return
    }
    // The last bit says in which byte order the sums were made.
    var sums: (UInt32, UInt32) = (0, 0)
    for at in stride(from: 0, to: 24, by: 8) {
      sums.0 &+= Self.number(bytes, at, bigEndian: magic & 1 == 1) &+ sums.1
      sums.1 &+= Self.number(bytes, at + 4, bigEndian: magic & 1 == 1) &+ sums.0
    }
    let isSound = sums == (Self.number(bytes, 24, bigEndian: true), Self.number(bytes, 28, bigEndian: true))
    self = isSound ? .sound : .damaged
  }

  private static func number(_ bytes: [UInt8], _ at: Int, bigEndian: Bool) -> UInt32 {
    let four = bytes[at..<at + 4]
    return (bigEndian ? Array(four) : four.reversed()).reduce(0) { $0 << 8 | UInt32($1) }
  }
}
