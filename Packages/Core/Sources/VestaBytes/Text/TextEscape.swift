/// The escapes that strings of JSON and of JavaScript have in common: what stands after a backslash.
public enum TextEscape {
  /// The control character for which a letter stands, such as a line feed for `n`; `nil` for another letter.
  public static func control(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "n"): 10
    case UInt8(ascii: "r"): 13
    case UInt8(ascii: "t"): 9
    case UInt8(ascii: "b"): 8
    case UInt8(ascii: "f"): 12
    default: nil
    }
  }

  /// Reads what follows `\u`: four hexadecimal digits, and a second escape where the first is the upper half of a
  /// surrogate pair.
  ///
  /// - Parameters:
  ///   - bytes: The text.
  ///   - index: The place after `\u`, and then that after the digits; the place without digits where they are missing.
  /// - Returns: The UTF-8 of the character, or of U+FFFD for half of a pair; `nil` where four digits are missing.
  public static func unicode(_ bytes: ArraySlice<UInt8>, at index: inout Int) -> [UInt8]? {
    guard let first = unit(bytes, at: &index) else { return nil }
    var units = [first]
    if first & 0xFC00 == 0xD800, bytes[index...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) {
      var place = index + 2
      guard let second = unit(bytes, at: &place) else {
        index = place
        return nil
      }
      // Another character stands for itself, and so may the upper half of the next pair.
      if second & 0xFC00 == 0xDC00 {
        units.append(second)
        index = place
      }
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }

  /// Reads four hexadecimal digits of either case; a sign is none, though a number may have one.
  static func unit(_ bytes: ArraySlice<UInt8>, at index: inout Int) -> UInt16? {
    guard index >= bytes.startIndex, index <= bytes.endIndex, bytes.endIndex - index >= 4 else { return nil }
    var unit: UInt16 = 0
    for byte in bytes[index..<(index + 4)] {
      guard let digit = Hex.value(byte) else { return nil }
      unit = unit << 4 | UInt16(digit)
    }
    index += 4
    return unit
  }
}
