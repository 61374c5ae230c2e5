/// Reads the elements of a key that `KeyEncoder` wrote.
///
/// The bytes themselves say the type and the direction of each element. Total: bytes that no encoder writes throw
/// `BytesError.Code.malformed`, and the decoder has not moved then.
///
/// ```swift
/// var key = KeyDecoder(entry.key)
/// let collection = try key.string()
/// let created = try key.int()
/// ```
public struct KeyDecoder: Sendable {
  private let key: [UInt8]
  private var position: Int

  /// A decoder at the beginning of a key.
  ///
  /// - Parameters:
  ///   - bytes: The key.
  ///   - start: The number of bytes to skip, such as a fixed prefix.
  public init(_ bytes: [UInt8], from start: Int = 0) {
    key = bytes
    position = min(max(start, 0), bytes.count)
  }

  /// Whether all elements have been read.
  public var isAtEnd: Bool { position == key.count }

  /// The bytes that have not been read.
  public var rest: ArraySlice<UInt8> { key[position...] }

  /// Reads the next element, whatever it is.
  ///
  /// - Returns: The element; `nil` at the end of the key.
  /// - Throws: `BytesError.Code.malformed`.
  public mutating func next() throws(BytesError) -> KeyElement? {
    guard !isAtEnd else { return nil }
    var reader = KeyReader(bytes: key, position: position)
    let element = try reader.element()
    position = reader.position
    return element
  }

  /// Reads a boolean.
  ///
  /// - Throws: `BytesError.Code.malformed` when something else, or nothing, is next.
  public mutating func bool() throws(BytesError) -> Bool {
    try value("a bool") { if case .bool(let value) = $0 { value } else { nil } }
  }

  /// Reads an integer.
  ///
  /// - Throws: `BytesError.Code.malformed` when something else, or nothing, is next.
  public mutating func int() throws(BytesError) -> Int64 {
    try value("an integer") { if case .int(let value) = $0 { value } else { nil } }
  }

  /// Reads a floating-point number.
  ///
  /// - Throws: `BytesError.Code.malformed` when something else, or nothing, is next.
  public mutating func double() throws(BytesError) -> Double {
    try value("a double") { if case .double(let value) = $0 { value } else { nil } }
  }

  /// Reads a string.
  ///
  /// - Throws: `BytesError.Code.malformed` when something else, or nothing, is next.
  public mutating func string() throws(BytesError) -> String {
    try value("a string") { if case .string(let value) = $0 { value } else { nil } }
  }

  /// Reads bytes.
  ///
  /// - Throws: `BytesError.Code.malformed` when something else, or nothing, is next.
  public mutating func bytes() throws(BytesError) -> [UInt8] {
    try value("bytes") { if case .bytes(let value) = $0 { value } else { nil } }
  }

  /// All elements of a key.
  ///
  /// - Parameter bytes: The key.
  /// - Throws: `BytesError.Code.malformed`.
  public static func elements(of bytes: [UInt8]) throws(BytesError) -> [KeyElement] {
    var decoder = KeyDecoder(bytes)
    var elements: [KeyElement] = []
    while let element = try decoder.next() { elements.append(element) }
    return elements
  }

  private mutating func value<Value>(
    _ what: String,
    _ take: (KeyElement) -> Value?
  ) throws(BytesError) -> Value {
    var ahead = self
    guard let element = try ahead.next() else {
      throw KeyReader.malformed(at: position, "the key ends where \(what) should be")
    }
    guard let value = take(element) else {
      throw KeyReader.malformed(at: position, "there is something else than \(what)")
    }
    self = ahead
    return value
  }
}

/// Reads one element at a position; where it throws, the position means nothing.
struct KeyReader {
  let bytes: [UInt8]
  var position: Int

  mutating func element() throws(BytesError) -> KeyElement {
    let start = position
    let first = try byte(0)
    // A descending element is an ascending one with every bit turned.
    let mask: UInt8 = first > 0x7F ? 0xFF : 0
    let tag = first ^ mask
    switch tag {
    case KeyFormat.null: return .null
    case KeyFormat.no: return .bool(false)
    case KeyFormat.yes: return .bool(true)
    case KeyFormat.zero - 8...KeyFormat.zero + 8: return .int(try int(Int(tag) - Int(KeyFormat.zero), mask))
    case KeyFormat.double:
      guard let value = OrderedDouble.value(of: try number(8, mask)) else {
        throw KeyReader.malformed(at: start, "this double is never written so")
      }
      return .double(value)
    case KeyFormat.string:
      let text = try unescaped(mask)
      guard let value = String(validating: text, as: UTF8.self) else {
        throw KeyReader.malformed(at: start, "the string is not valid UTF-8")
      }
      return .string(value)
    case KeyFormat.bytes: return .bytes(try unescaped(mask))
    default: throw KeyReader.malformed(at: start, "no element begins with this byte")
    }
  }

  static func malformed(at position: Int, _ what: String) -> BytesError {
    .malformed("key: at byte \(position) \(what)")
  }

  private mutating func byte(_ mask: UInt8) throws(BytesError) -> UInt8 {
    guard position < bytes.count else { throw KeyReader.malformed(at: position, "the key ends inside an element") }
    defer { position += 1 }
    return bytes[position] ^ mask
  }

  /// A big-endian number.
  private mutating func number(_ count: Int, _ mask: UInt8) throws(BytesError) -> UInt64 {
    var number: UInt64 = 0
    for _ in 0..<count { number = number << 8 | UInt64(try byte(mask)) }
    return number
  }

  /// An integer of a number of bytes, which is negative for a negative integer.
  private mutating func int(_ signedLength: Int, _ mask: UInt8) throws(BytesError) -> Int64 {
    let start = position - 1
    let length = abs(signedLength)
    let written = try number(length, mask)
    let magnitude = signedLength < 0 ? ~written & (.max >> UInt64(64 - length * 8)) : written
    let value = signedLength < 0 ? Int64(truncatingIfNeeded: 0 &- magnitude) : Int64(truncatingIfNeeded: magnitude)
    guard value.magnitude == magnitude, value == 0 || (value < 0) == (signedLength < 0),
      (71 - magnitude.leadingZeroBitCount) / 8 == length
    else { throw KeyReader.malformed(at: start, "this integer is never written so") }
    return value
  }

  /// The bytes up to the end, without their escapes.
  private mutating func unescaped(_ mask: UInt8) throws(BytesError) -> [UInt8] {
    try OrderedBytes.unescape(bytes, from: &position, mask: mask)
  }
}
