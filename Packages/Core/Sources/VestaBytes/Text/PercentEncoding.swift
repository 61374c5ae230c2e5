/// Percent encoding (RFC 3986, section 2.1): bytes outside a set of ASCII characters are written as `%XX`.
///
/// ```swift
/// PercentEncoding.unreserved.encode("a b/ä")     // "a%20b%2F%C3%A4"
/// try PercentEncoding.decode("a%20b")            // "a b"
/// ```
public struct PercentEncoding: Sendable {
  /// Leaves letters, digits and `-._~` as they are: safe in every part of a URL.
  public static let unreserved = PercentEncoding(leaving: "-._~")

  /// Leaves letters and digits as they are.
  public static let alphanumeric = PercentEncoding(leaving: "")

  /// Leaves what a segment of a URL's path may hold.
  public static let pathSegment = PercentEncoding(leaving: "-._~!$&'()*+,;=:@")

  private let low: UInt64
  private let high: UInt64
  private let digits: [UInt8]

  /// An encoding that leaves ASCII letters, digits and the given ASCII characters as they are.
  ///
  /// - Parameters:
  ///   - characters: Further ASCII characters to leave as they are; `%` and others than ASCII are ignored.
  ///   - uppercase: Whether hexadecimal digits are upper case, as RFC 3986 recommends.
  public init(leaving characters: String, uppercase: Bool = true) {
    var sets: [UInt64] = [0, 0]
    let all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + characters
    for byte in all.utf8 where byte < 0x80 && byte != UInt8(ascii: "%") {
      sets[Int(byte >> 6)] |= 1 << UInt64(byte & 63)
    }
    low = sets[0]
    high = sets[1]
    digits = Array((uppercase ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
  }

  /// Encodes the UTF-8 bytes of a string.
  public func encode(_ string: String) -> String { encode(bytes: string.utf8) }

  /// Encodes bytes.
  public func encode(bytes: some Sequence<UInt8>) -> String {
    var encoded: [UInt8] = []
    encoded.reserveCapacity(bytes.underestimatedCount)
    for byte in bytes {
      if leaves(byte) {
        encoded.append(byte)
      } else {
        encoded.append(UInt8(ascii: "%"))
        encoded.append(digits[Int(byte >> 4)])
        encoded.append(digits[Int(byte & 15)])
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Decodes a string; a `+` stays a `+`.
  ///
  /// - Throws: `BytesError` with `.malformed` when a `%` is not followed by two hexadecimal digits, or when the bytes
  ///   are not valid UTF-8.
  public static func decode(_ text: some StringProtocol) throws(BytesError) -> String {
    guard let string = String(validating: try decodedBytes(text), as: UTF8.self) else {
      throw .malformed("percent encoding: the decoded bytes are not valid UTF-8")
    }
    return string
  }

  /// Decodes a string into bytes.
  ///
  /// - Throws: `BytesError` with `.malformed` when a `%` is not followed by two hexadecimal digits.
  public static func decodedBytes(_ text: some StringProtocol) throws(BytesError) -> [UInt8] {
    var decoded: [UInt8] = []
    var rest = Array(text.utf8)[...]
    decoded.reserveCapacity(rest.count)
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        decoded.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(Hex.value), let low = rest.popFirst().flatMap(Hex.value) else {
        throw .malformed("percent encoding: a % is not followed by two hexadecimal digits")
      }
      decoded.append(high << 4 | low)
    }
    return decoded
  }

  private func leaves(_ byte: UInt8) -> Bool {
    byte < 64 ? low >> UInt64(byte) & 1 == 1 : byte < 128 && high >> UInt64(byte - 64) & 1 == 1
  }
}
