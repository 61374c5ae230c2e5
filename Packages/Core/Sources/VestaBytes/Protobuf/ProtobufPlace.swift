/// Writing through a pointer to room that has been checked; see ``ProtobufWriter/withRoom(for:_:)``.
///
/// Unsafe pointers: nothing here knows where the room ends. They stay in this module.
extension UnsafeMutablePointer<UInt8> {
  /// Writes one byte.
  @inlinable
  mutating func put(_ byte: UInt8) {
    pointee = byte
    self += 1
  }

  /// Writes a varint, of up to ten bytes.
  @inlinable
  mutating func put(varint: UInt64) {
    var rest = varint
    while rest >= 0x80 {
      put(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    put(UInt8(truncatingIfNeeded: rest))
  }

  /// Writes the number and the wire type of a field, of up to five bytes.
  @inlinable
  mutating func put(tag number: UInt32, _ type: ProtobufWireType) {
    put(varint: UInt64(number) << 3 | UInt64(type.rawValue))
  }

  /// Writes eight bytes, the lowest first.
  @inlinable
  mutating func put(fixed64 value: UInt64) {
    UnsafeMutableRawPointer(self).storeBytes(of: value.littleEndian, as: UInt64.self)
    self += 8
  }

  /// Writes the length of a message of two numbers, and its fields 1 and 2; zero is not written.
  ///
  /// At most 23 bytes.
  @inlinable
  mutating func put(numbers first: Int64, _ second: Int64) {
    let start = self
    put(0)
    if first != 0 {
      put(0x08)
      put(varint: UInt64(bitPattern: first))
    }
    if second != 0 {
      put(0x10)
      put(varint: UInt64(bitPattern: second))
    }
    start.pointee = UInt8(truncatingIfNeeded: self - start - 1)
  }

  /// Writes the length of a message of two doubles, and its fields 1 and 2; zero is not written.
  ///
  /// At most 19 bytes.
  @inlinable
  mutating func put(doubles first: Double, _ second: Double) {
    let start = self
    put(0)
    if first.bitPattern != 0 {
      put(0x09)
      put(fixed64: first.bitPattern)
    }
    if second.bitPattern != 0 {
      put(0x11)
      put(fixed64: second.bitPattern)
    }
    start.pointee = UInt8(truncatingIfNeeded: self - start - 1)
  }

  /// Writes bytes.
  @inlinable
  mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) {
    if let base = bytes.baseAddress { update(from: base, count: bytes.count) }
    self += bytes.count
  }

  /// Writes an entry of a map up to the content of its value, a message of a known length.
  @inlinable
  mutating func put(entry number: UInt32, _ key: UnsafeBufferPointer<UInt8>, _ length: Int) {
    // As nearly every entry is: one byte for each length and for the number, written without a loop.
    let short = 4 &+ key.count &+ length
    if short < 0x80, number < 16 {
      self[0] = UInt8(truncatingIfNeeded: number << 3) | ProtobufWireType.delimited.rawValue
      self[1] = UInt8(truncatingIfNeeded: short)
      self[2] = 0x0A
      self[3] = UInt8(truncatingIfNeeded: key.count)
      self += 4
      put(key)
      self[0] = 0x12
      self[1] = UInt8(truncatingIfNeeded: length)
      self += 2
      return
    }
    let sizes =
      ProtobufWriter.size(ofVarint: UInt64(key.count)) &+ ProtobufWriter.size(ofVarint: UInt64(length))
    put(tag: number, .delimited)
    put(varint: UInt64(2 &+ sizes &+ key.count &+ length))
    put(0x0A)
    put(varint: UInt64(key.count))
    put(key)
    put(0x12)
    put(varint: UInt64(length))
  }
}
