/// Appends numbers, strings and byte strings to one buffer.
///
/// ``ByteReader`` reads them back in the same order.
///
/// ```swift
/// var writer = ByteWriter()
/// writer.write(varint: 300)          // AC 02
/// writer.write(fixed64: 1)           // 00 00 00 00 00 00 00 01
/// writer.write(string: "abc")        // 03 61 62 63
/// var reader = ByteReader(writer.bytes)
/// let count = try reader.varint()
/// ```
public struct ByteWriter: Sendable {
  /// The bytes written so far.
  public private(set) var bytes: [UInt8]

  /// A writer.
  ///
  /// - Parameters:
  ///   - start: The bytes to begin with.
  ///   - capacity: How many further bytes to reserve.
  public init(after start: [UInt8] = [], reserving capacity: Int = 128) {
    bytes = start
    bytes.reserveCapacity(start.count + capacity)
  }

  /// Appends one byte.
  public mutating func write(byte: UInt8) { bytes.append(byte) }

  /// Appends bytes without their count.
  public mutating func write(raw: some Collection<UInt8>) { bytes.append(contentsOf: raw) }

  /// Appends a varint: seven bits in each byte, the lowest first, the top bit set in all bytes but the last.
  public mutating func write(varint: UInt64) {
    var rest = varint
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Appends a zigzag varint: small magnitudes of either sign are short.
  public mutating func write(zigzag number: Int64) { write(varint: UInt64(bitPattern: number << 1 ^ number >> 63)) }

  /// Appends a count as a varint; a negative one is written as zero.
  public mutating func write(count: Int) { write(varint: UInt64(max(0, count))) }

  /// Appends two bytes, the highest first.
  public mutating func write(fixed16 number: UInt16) { write(low: 2, of: UInt64(number)) }

  /// Appends four bytes, the highest first.
  public mutating func write(fixed32 number: UInt32) { write(low: 4, of: UInt64(number)) }

  /// Appends eight bytes, the highest first.
  public mutating func write(fixed64 number: UInt64) { write(low: 8, of: number) }

  /// Appends the eight bytes of a double's bit pattern, the highest first.
  public mutating func write(double: Double) { write(fixed64: double.bitPattern) }

  /// Appends the UTF-8 bytes of a string, after their count.
  public mutating func write(string: String) {
    var string = string
    // Unsafe pointer, used inside the closure only: native strings are appended in one go.
    string.withUTF8 { utf8 in
      write(varint: UInt64(utf8.count))
      bytes.append(contentsOf: utf8)
    }
  }

  /// Appends bytes, after their count.
  public mutating func write(blob: some Collection<UInt8>) {
    write(varint: UInt64(blob.count))
    bytes.append(contentsOf: blob)
  }

  private mutating func write(low count: UInt64, of number: UInt64) {
    var shift = count * 8
    while shift > 0 {
      shift -= 8
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }
}
