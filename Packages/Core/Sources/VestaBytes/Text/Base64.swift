/// Base64 (RFC 4648), read strictly: every value has exactly one encoding.
///
/// Decoding refuses what lenient readers let pass: characters outside the alphabet (white space too), missing or
/// surplus padding, and spare bits that are not zero. So two different strings never encode the same bytes.
///
/// ```swift
/// Base64.url.encode([0xFB, 0xFF])      // "-_8"
/// try Base64.standard.decode("+/8=")   // [0xFB, 0xFF]
/// ```
public struct Base64: Sendable {
  /// The usual alphabet with padding: JSON, HTTP headers, PEM.
  public static let standard = Base64("+/", padded: true)

  /// The usual alphabet without padding, as password hashes write it.
  public static let unpadded = Base64("+/", padded: false)

  /// The alphabet for URLs and file names, without padding: base64url as JWTs write it.
  public static let url = Base64("-_", padded: false)

  private static let pad = UInt8(ascii: "=")
  private static let invalid: UInt8 = 0xFF

  private let alphabet: [UInt8]
  private let values: [UInt8]
  private let padded: Bool

  private init(_ lastTwo: String, padded: Bool) {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + lastTwo
    alphabet = Array(letters.utf8)
    var values = [UInt8](repeating: Self.invalid, count: 256)
    for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
    self.values = values
    self.padded = padded
  }

  /// Encodes bytes.
  ///
  /// - Parameter bytes: The bytes.
  /// - Returns: The only string that encodes them.
  public func encode(_ bytes: [UInt8]) -> String {
    String(decoding: encodedBytes(bytes), as: UTF8.self)
  }

  /// Decodes a string.
  ///
  /// - Parameter text: A result of `encode`.
  /// - Returns: The bytes.
  /// - Throws: `BytesError` with `.malformed`.
  public func decode(_ text: some StringProtocol) throws(BytesError) -> [UInt8] {
    try decode(utf8: Array(text.utf8)[...])
  }

  /// The string as UTF-8.
  public func encodedBytes(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let available = min(3, bytes.count - index)
      var group: UInt32 = 0
      for place in 0..<3 { group = group << 8 | (place < available ? UInt32(bytes[index + place]) : 0) }
      for place in 0...available { text.append(alphabet[Int(group >> (18 - 6 * UInt32(place)) & 63)]) }
      if padded { for _ in available..<3 { text.append(Self.pad) } }
      index += 3
    }
    return text
  }

  /// Decodes a string in UTF-8.
  ///
  /// - Throws: `BytesError` with `.malformed`.
  public func decode(utf8 text: ArraySlice<UInt8>) throws(BytesError) -> [UInt8] {
    let digits = try withoutPadding(text)
    guard digits.count % 4 != 1 else { throw BytesError.malformed("base64: the length cannot be right") }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 4 * 3 + 2)
    var group: UInt32 = 0
    var bits = 0
    for digit in digits {
      let value = values[Int(digit)]
      guard value != Self.invalid else {
        throw BytesError.malformed("base64: there is a character outside the alphabet")
      }
      group = group << 6 | UInt32(value)
      bits += 6
      guard bits >= 8 else { continue }
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(bits)))
      group &= (1 << UInt32(bits)) - 1
    }
    guard group == 0 else { throw BytesError.malformed("base64: the spare bits at the end are not zero") }
    return bytes
  }

  private func withoutPadding(_ text: ArraySlice<UInt8>) throws(BytesError) -> ArraySlice<UInt8> {
    guard padded else { return text }
    guard text.count % 4 == 0 else {
      throw BytesError.malformed("base64: the length is not a multiple of four")
    }
    let digits = text.suffix(2).allSatisfy { $0 == Self.pad } ? text.dropLast(2) : text
    return digits.count == text.count && text.last == Self.pad ? text.dropLast() : digits
  }
}
