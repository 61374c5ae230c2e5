/// Reads what a ``ByteWriter`` wrote.
///
/// Total: any input results in a value or a ``BytesError``, and a count is checked against the bytes that are left
/// before anything is allocated. After an error the reader has not moved.
///
/// Its methods can be inlined in other modules: rows of every product are read with them, field by field.
@frozen
public struct ByteReader: Sendable {
  @usableFromInline let bytes: ArraySlice<UInt8>
  @usableFromInline var position: Int
  @usableFromInline let end: Int

  /// A reader.
  ///
  /// - Parameter bytes: The bytes to read.
  @inlinable
  public init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
    end = bytes.endIndex
  }

  /// A reader.
  ///
  /// - Parameters:
  ///   - bytes: The bytes to read.
  ///   - start: How many of them to skip.
  @inlinable
  public init(_ bytes: [UInt8], from start: Int = 0) { self.init(bytes.dropFirst(Swift.max(0, start))) }

  /// The bytes that have not been read.
  @inlinable
  public var rest: ArraySlice<UInt8> { bytes[position..<end] }

  /// Whether everything has been read.
  @inlinable
  public var isAtEnd: Bool { position >= end }

  /// Reads one byte.
  @inlinable
  public mutating func byte() throws(BytesError) -> UInt8 {
    guard position < end else { throw Self.short }
    defer { position += 1 }
    return bytes[position]
  }

  /// Reads a number of bytes.
  @inlinable
  public mutating func raw(_ count: Int) throws(BytesError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= end - position else { throw Self.short }
    defer { position += count }
    return bytes[position..<position + count]
  }

  /// Reads a varint; one of more than 64 bits is malformed.
  @inlinable
  public mutating func varint() throws(BytesError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    var index = position
    while index < end {
      let byte = bytes[index]
      index += 1
      // The tenth byte holds the last bit, and there is no eleventh.
      guard shift < 63 || byte <= 1 else { throw Self.long }
      value |= UInt64(byte & 0x7F) &<< shift
      if byte < 0x80 {
        position = index
        return value
      }
      shift += 7
    }
    throw Self.short
  }

  /// Reads a zigzag varint.
  @inlinable
  public mutating func zigzag() throws(BytesError) -> Int64 {
    let value = try varint()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  /// Reads a count, which is not larger than `Int.max`.
  @inlinable
  public mutating func count() throws(BytesError) -> Int {
    let start = position
    guard let count = Int(exactly: try varint()) else {
      position = start
      throw Self.outOfRange
    }
    return count
  }

  /// Reads two bytes, the highest first.
  @inlinable
  public mutating func fixed16() throws(BytesError) -> UInt16 { UInt16(truncatingIfNeeded: try number(2)) }

  /// Reads four bytes, the highest first.
  @inlinable
  public mutating func fixed32() throws(BytesError) -> UInt32 { UInt32(truncatingIfNeeded: try number(4)) }

  /// Reads eight bytes, the highest first.
  @inlinable
  public mutating func fixed64() throws(BytesError) -> UInt64 { try number(8) }

  /// Reads a double.
  @inlinable
  public mutating func double() throws(BytesError) -> Double { Double(bitPattern: try number(8)) }

  /// Reads a string, which must be valid UTF-8.
  @inlinable
  public mutating func string() throws(BytesError) -> String {
    let start = position
    let range = try blobRange()
    let first = bytes.startIndex
    // Unsafe pointer, used inside the closure only: the string is made from contiguous bytes, which is several times
    // faster than from a slice.
    let string = bytes.withUnsafeBufferPointer { buffer in
      UTF8Text.string(
        validating: UnsafeBufferPointer(rebasing: buffer[range.lowerBound - first..<range.upperBound - first]))
    }
    guard let string else {
      position = start
      throw Self.notUTF8
    }
    return string
  }

  /// Reads bytes that were written with their count.
  @inlinable
  public mutating func blob() throws(BytesError) -> ArraySlice<UInt8> { bytes[try blobRange()] }

  @inlinable
  mutating func blobRange() throws(BytesError) -> Range<Int> {
    let start = position
    let count = try count()
    guard count <= end - position else {
      position = start
      throw Self.short
    }
    defer { position += count }
    return position..<position + count
  }

  @inlinable
  mutating func number(_ count: Int) throws(BytesError) -> UInt64 {
    guard count <= end - position else { throw Self.short }
    var number: UInt64 = 0
    for index in position..<position + count { number = number << 8 | UInt64(bytes[index]) }
    position += count
    return number
  }

  @usableFromInline static var short: BytesError { .malformed("the bytes end inside a value") }
  @usableFromInline static var long: BytesError { .malformed("a varint has more than 64 bits") }
  @usableFromInline static var outOfRange: BytesError { .malformed("a count is out of range") }
  @usableFromInline static var notUTF8: BytesError { .malformed("a string is not valid UTF-8") }
}
