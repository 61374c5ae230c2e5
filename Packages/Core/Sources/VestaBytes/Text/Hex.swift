/// Bytes as pairs of hexadecimal digits.
public enum Hex {
  /// Writes bytes as lower-case hexadecimal digits.
  ///
  /// - Parameter bytes: The bytes.
  /// - Returns: Two digits for each byte.
  public static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var digits: [UInt8] = []
    digits.reserveCapacity(2 * bytes.underestimatedCount)
    for byte in bytes {
      digits.append(digit(byte >> 4))
      digits.append(digit(byte & 15))
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// Reads hexadecimal digits of either case.
  ///
  /// - Parameter text: An even number of digits and nothing else.
  /// - Returns: The bytes.
  /// - Throws: `BytesError` with `.malformed`.
  public static func decode(_ text: String) throws(BytesError) -> [UInt8] {
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text.utf8 {
      guard let value = value(character) else {
        throw BytesError.malformed("hex: there is a character that is no hexadecimal digit")
      }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    guard high == nil else { throw BytesError.malformed("hex: the number of digits is odd") }
    return bytes
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  /// The value of a hexadecimal digit of either case; `nil` for another character.
  @inlinable public static func value(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
