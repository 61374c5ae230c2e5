/// Checks UTF-8 that arrives in parts, and says so at the first byte with which it cannot be UTF-8 (RFC 3629).
struct UTF8Machine {
  /// The number of bytes that the character still needs, and the range of the next one of them.
  private var missing = 0
  private var range: ClosedRange<UInt8> = 0x80...0xBF

  /// Whether no character is incomplete.
  var isWhole: Bool { missing == 0 }

  /// Reads bytes.
  ///
  /// - Returns: Whether text can begin with everything that was read.
  mutating func accepts(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var index = 0
    while index < bytes.count {
      if missing == 0, index + 8 <= bytes.count, Self.isASCII(bytes, index) {
        index += 8
        continue
      }
      let byte = bytes[index]
      index += 1
      if missing > 0 {
        guard range.contains(byte) else { return false }
        missing -= 1
        range = 0x80...0xBF
      } else if byte >= 0x80 {
        guard begin(byte) else { return false }
      }
    }
    return true
  }

  /// Whether eight bytes are ASCII.
  private static func isASCII(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
    UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
  }

  /// Begins a character of more than one byte: the second byte excludes surrogates, numbers beyond the last one, and
  /// forms that are longer than needed.
  private mutating func begin(_ first: UInt8) -> Bool {
    switch first {
    case 0xC2...0xDF: missing = 1
    case 0xE0: (missing, range) = (2, 0xA0...0xBF)
    case 0xED: (missing, range) = (2, 0x80...0x9F)
    case 0xE1...0xEF: missing = 2
    case 0xF0: (missing, range) = (3, 0x90...0xBF)
    case 0xF1...0xF3: missing = 3
    case 0xF4: (missing, range) = (3, 0x80...0x8F)
    default: return false
    }
    return true
  }
}
