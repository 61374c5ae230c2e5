/// Reads what a ``ByteWriter`` wrote.
///
/// Total: any input gives a value or a ``BytesError``, and a count is checked against the bytes that are left before
/// anything is allocated. After an error the reader has not moved.
public struct ByteReader: Sendable {
  /// The bytes that have not been read.
  public private(set) var rest: ArraySlice<UInt8>

  /// A reader.
  ///
  /// - Parameter bytes: The bytes to read.
  public init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// A reader.
  ///
  /// - Parameters:
  ///   - bytes: The bytes to read.
  ///   - start: How many of them to skip.
  public init(_ bytes: [UInt8], from start: Int = 0) { rest = bytes.dropFirst(max(0, start)) }

  /// Whether everything has been read.
  public var isAtEnd: Bool { rest.isEmpty }

  /// Reads one byte.
  public mutating func byte() throws(BytesError) -> UInt8 {
    guard let byte = rest.popFirst() else { throw Self.short }
    return byte
  }

  /// Reads so many bytes.
  public mutating func raw(_ count: Int) throws(BytesError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= rest.count else { throw Self.short }
    defer { rest = rest[(rest.startIndex + count)...] }
    return rest[rest.startIndex..<(rest.startIndex + count)]
  }

  /// Reads a varint; one of more than 64 bits is malformed.
  public mutating func varint() throws(BytesError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    var index = rest.startIndex
    while index < rest.endIndex {
      let byte = rest[index]
      index += 1
      // The tenth byte holds the last bit, and there is no eleventh.
      guard shift < 63 || byte <= 1 else { throw .malformed("a varint has more than 64 bits") }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 {
        rest = rest[index...]
        return value
      }
      shift += 7
    }
    throw Self.short
  }

  /// Reads a zigzag varint.
  public mutating func zigzag() throws(BytesError) -> Int64 {
    let value = try varint()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  /// Reads a count, which is not larger than `Int.max`.
  public mutating func count() throws(BytesError) -> Int {
    var ahead = self
    guard let count = Int(exactly: try ahead.varint()) else { throw .malformed("a count is out of range") }
    self = ahead
    return count
  }

  /// Reads two bytes, the highest first.
  public mutating func fixed16() throws(BytesError) -> UInt16 { UInt16(truncatingIfNeeded: try number(2)) }

  /// Reads four bytes, the highest first.
  public mutating func fixed32() throws(BytesError) -> UInt32 { UInt32(truncatingIfNeeded: try number(4)) }

  /// Reads eight bytes, the highest first.
  public mutating func fixed64() throws(BytesError) -> UInt64 { try number(8) }

  /// Reads a double.
  public mutating func double() throws(BytesError) -> Double { Double(bitPattern: try number(8)) }

  /// Reads a string, which must be valid UTF-8.
  public mutating func string() throws(BytesError) -> String {
    var ahead = self
    guard let string = String(validating: try ahead.blob(), as: UTF8.self) else {
      throw .malformed("a string is not valid UTF-8")
    }
    self = ahead
    return string
  }

  /// Reads bytes that were written with their count.
  public mutating func blob() throws(BytesError) -> ArraySlice<UInt8> {
    var ahead = self
    let bytes = try ahead.raw(try ahead.count())
    self = ahead
    return bytes
  }

  private mutating func number(_ count: Int) throws(BytesError) -> UInt64 {
    var number: UInt64 = 0
    for byte in try raw(count) { number = number << 8 | UInt64(byte) }
    return number
  }

  private static var short: BytesError { .malformed("the bytes end inside a value") }
}
