import VestaBytes
public import VestaDatabaseBackend

/// The bytes of paths: their order is that of the tree, and what is below a path begins with its bytes.
///
/// | key | bytes |
/// |---|---|
/// | integer | `10`, four bytes big-endian with the sign bit turned, the length of the string, `1` for "-0…" else `0` |
/// | string | `20`, UTF-8 with the lead bytes EE and EF moved above all others, `00` |
///
/// Keys have no characters below U+0020, so the `00` ends a string and no key is the beginning of another.
public enum PathCoding {
  private static let integerTag: UInt8 = 0x10
  private static let textTag: UInt8 = 0x20

  /// Appends a path.
  public static func append(_ path: DatabasePath, to bytes: inout [UInt8]) {
    for key in path.keys { append(key, to: &bytes) }
  }

  /// Appends a key.
  public static func append(_ key: DatabaseKey, to bytes: inout [UInt8]) {
    if let integer = key.integer {
      bytes.append(integerTag)
      let bits = UInt32(bitPattern: integer) ^ 0x8000_0000
      for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: bits >> shift)) }
      bytes.append(UInt8(key.text.utf8.count))
      bytes.append(integer == 0 && key.text.hasPrefix("-") ? 1 : 0)
    } else {
      bytes.append(textTag)
      for byte in key.text.utf8 { bytes.append(byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte) }
      bytes.append(0)
    }
  }

  /// Reads the keys from a place in bytes to their end.
  public static func decode(_ bytes: [UInt8], from start: Int) throws -> [DatabaseKey] {
    var keys: [DatabaseKey] = []
    var position = start
    while position < bytes.count { keys.append(try key(in: bytes, at: &position)) }
    return keys
  }

  /// Reads one key, and moves the position past it.
  public static func key(in bytes: [UInt8], at position: inout Int) throws -> DatabaseKey {
    guard position < bytes.count else { throw BytesError(.malformed, "A key is missing.") }
    if bytes[position] == integerTag { return try integer(in: bytes, at: &position) }
    guard bytes[position] == textTag else { throw BytesError(.malformed, "The bytes are no key.") }
    let (text, end) = text(in: bytes, from: position + 1)
    guard let end else { throw BytesError(.malformed, "The bytes are no key.") }
    guard let text else { throw BytesError(.malformed, "A key is not UTF-8.") }
    position = end + 1
    return DatabaseKey(text)
  }

  /// The string from a place in bytes up to its end; `nil` for what is not UTF-8, and for an end that is missing.
  private static func text(in bytes: [UInt8], from start: Int) -> (text: String?, end: Int?) {
    // Unsafe pointer, used inside the closure only: it visits each byte of each key that is read once, and most
    // texts can be made of the bytes as they are.
    bytes.withUnsafeBufferPointer { bytes in
      var (end, all) = (start, UInt8(0))
      while end < bytes.count, bytes[end] != 0 {
        all |= bytes[end]
        end += 1
      }
      guard end < bytes.count else { return (nil, nil) }
      let part = UnsafeBufferPointer(rebasing: bytes[start..<end])
      if all < 0x80 { return (String(decoding: part, as: UTF8.self), end) }
      return (String(validating: part.lazy.map { $0 >= 0xFE ? $0 - 0x10 : $0 }, as: UTF8.self), end)
    }
  }

  private static func integer(in bytes: [UInt8], at position: inout Int) throws -> DatabaseKey {
    guard position + 7 <= bytes.count else { throw BytesError(.malformed, "An integer key is cut.") }
    let bits = bytes[(position + 1)..<(position + 5)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let value = Int32(bitPattern: bits ^ 0x8000_0000)
    let length = Int(bytes[position + 5])
    let isNegative = value < 0 || bytes[position + 6] == 1
    let digits = "\(value.magnitude)"
    let zeros = length - digits.utf8.count - (isNegative ? 1 : 0)
    guard (0...11).contains(zeros) else { throw BytesError(.malformed, "An integer key has a wrong length.") }
    position += 7
    return DatabaseKey((isNegative ? "-" : "") + String(repeating: "0", count: zeros) + digits)
  }
}
