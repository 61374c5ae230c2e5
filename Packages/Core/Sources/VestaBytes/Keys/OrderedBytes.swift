/// Byte strings of any length whose encodings sort as the byte strings do.
///
/// A zero is written as `00 FF`, and the end is `00 01`: every longer string sorts after a shorter one's end. Keys
/// and index entries use this one form.
public enum OrderedBytes {
  /// The byte after the `00` at the end.
  public static let end: UInt8 = 0x01
  /// The byte after the `00` of an escaped zero.
  public static let escapedZero: UInt8 = 0xFF

  /// Appends bytes with their zeros escaped, without the end.
  public static func append(escaping source: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
    var rest = source[...]
    while let zero = rest.firstIndex(of: 0) {
      bytes.append(contentsOf: rest[...zero])
      bytes.append(escapedZero)
      rest = rest[(zero + 1)...]
    }
    bytes.append(contentsOf: rest)
  }

  /// Appends the UTF-8 bytes of a string with their zeros escaped, without the end.
  public static func append(escaping string: String, to bytes: inout [UInt8]) {
    var string = string
    // Unsafe pointer, used inside the closure only: it is the one way to append UTF-8 without going byte by byte.
    string.withUTF8 { append(escaping: $0, to: &bytes) }
  }

  /// Appends bytes with their zeros escaped, without the end.
  public static func append(escaping source: [UInt8], to bytes: inout [UInt8]) {
    // Unsafe pointer, used inside the closure only: the same appending serves strings.
    source.withUnsafeBufferPointer { append(escaping: $0, to: &bytes) }
  }

  /// Appends the end.
  public static func appendEnd(to bytes: inout [UInt8]) {
    bytes.append(0)
    bytes.append(end)
  }

  /// Reads escaped bytes up to and with their end.
  ///
  /// - Parameters:
  ///   - bytes: The bytes to read.
  ///   - position: Where the escaped bytes begin; afterwards the position after their end.
  ///   - mask: `FF` when every bit was inverted, for a descending order.
  /// - Throws: ``BytesError`` with `.malformed`; the position means nothing then.
  public static func unescape(
    _ bytes: [UInt8], from position: inout Int, mask: UInt8 = 0
  ) throws(BytesError) -> [UInt8] {
    var value: [UInt8] = []
    while true {
      let start = position
      while position < bytes.count, bytes[position] != mask { position += 1 }
      let copied = value.count
      value.append(contentsOf: bytes[start..<position])
      if mask != 0 { for index in copied..<value.count { value[index] ^= mask } }
      position += 1
      guard position < bytes.count else { throw .malformed("key: the key ends inside an element") }
      defer { position += 1 }
      switch bytes[position] ^ mask {
      case end: return value
      case escapedZero: value.append(0)
      default:
        throw .malformed("key: at byte \(position) a zero is followed by neither its escape nor the end")
      }
    }
  }
}

/// Doubles as 64 bits that sort as unsigned numbers do.
public enum OrderedDouble {
  /// The bits of a double: one pattern for every NaN, below all others, and one for both zeros.
  public static func bits(of value: Double) -> UInt64 {
    if value.isNaN { return 0 }
    let bits = value == 0 ? 0 : value.bitPattern
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }

  /// The double with these bits; `nil` for a pattern that is never written.
  public static func value(of bits: UInt64) -> Double? {
    if bits == 0 { return .nan }
    let value = Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
    return OrderedDouble.bits(of: value) == bits ? value : nil
  }
}
