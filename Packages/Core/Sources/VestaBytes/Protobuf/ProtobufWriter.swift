/// Writes protobuf's binary form into one buffer; the schemas' visitor for that direction.
///
/// The length of a nested message is written when the message is there: one byte is kept free for it, and a longer
/// length moves the message by a few bytes. So nothing is measured before it is written, or copied from buffer to
/// buffer.
public struct ProtobufWriter: Sendable {
  /// The bytes written so far.
  @inlinable
  public var bytes: [UInt8] { buffer }

  @usableFromInline
  var buffer: [UInt8]

  /// An empty writer.
  ///
  /// - Parameter capacity: How many bytes to reserve.
  public init(reserving capacity: Int = 256) {
    buffer = []
    buffer.reserveCapacity(capacity)
  }

  /// Writes the fields of a message, without a length.
  @inlinable
  public mutating func write<Schema: ProtobufSchema>(
    _ message: Schema.Message, _ schema: Schema.Type
  ) throws(BytesError) {
    var message = message
    try Schema.visit(&message, &self)
  }

  /// Writes the number and the wire type of a field.
  @inlinable
  public mutating func write(tag number: UInt32, _ type: ProtobufWireType) {
    write(varint: UInt64(number) << 3 | UInt64(type.rawValue))
  }

  /// Writes a varint.
  @inlinable
  public mutating func write(varint: UInt64) {
    if varint < 0x80 { return append(UInt8(truncatingIfNeeded: varint)) }
    write(longVarint: varint)
  }

  /// Writes eight bytes, the lowest first.
  @inlinable
  public mutating func write(fixed64 value: UInt64) {
    // Unsafe pointer, used inside the closure only: eight bytes are appended at once.
    withUnsafeBytes(of: value.littleEndian) { buffer.append(contentsOf: $0) }
  }

  /// Writes a length and a string.
  @inlinable
  public mutating func write(string: String) {
    var string = string
    // Unsafe pointer, used inside the closure only: the bytes of a string are appended at once.
    string.withUTF8 { utf8 in
      write(varint: UInt64(utf8.count))
      buffer.append(contentsOf: utf8)
    }
  }

  /// Writes a length and bytes.
  @inlinable
  public mutating func write(blob: [UInt8]) {
    write(varint: UInt64(blob.count))
    buffer.append(contentsOf: blob)
  }

  @inlinable
  mutating func append(_ byte: UInt8) { buffer.append(byte) }

  @usableFromInline
  mutating func write(longVarint: UInt64) {
    var rest = longVarint
    while rest >= 0x80 {
      buffer.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    buffer.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Keeps a byte free for the length of a nested message, until ``close(_:)``.
  ///
  /// - Returns: Where the message starts.
  @inlinable
  public mutating func begin() -> Int {
    append(0)
    return buffer.count
  }

  /// Writes the length of a nested message.
  ///
  /// - Parameter start: The result of ``begin()``.
  @inlinable
  public mutating func close(_ start: Int) {
    let count = buffer.count &- start
    if count < 0x80 { buffer[start &- 1] = UInt8(truncatingIfNeeded: count) } else { closeLong(start) }
  }

  @usableFromInline
  mutating func closeLong(_ start: Int) {
    let count = buffer.count - start
    var length = ProtobufWriter(reserving: 8)
    length.write(longVarint: UInt64(count))
    buffer.replaceSubrange((start - 1)..<start, with: length.buffer)
  }
}

extension ProtobufWriter: ProtobufVisitor {
  /// Fields are written.
  @inlinable
  public var isReading: Bool { false }

  /// Writes a field, unless it has its default value.
  @inlinable
  public mutating func field<Kind: ProtobufKind>(
    _ number: UInt32, _ name: StaticString, _ value: inout Kind.Value, _ kind: Kind.Type
  ) throws(BytesError) {
    if !Kind.isDefault(value) { try write(number, value, kind) }
  }

  /// Writes a field, unless it is absent.
  @inlinable
  public mutating func optional<Kind: ProtobufKind>(
    _ number: UInt32, _ name: StaticString, _ value: inout Kind.Value?, _ kind: Kind.Type
  ) throws(BytesError) {
    if let value { try write(number, value, kind) }
  }

  /// Writes one field for each value; numbers are packed into one field.
  @inlinable
  public mutating func repeated<Kind: ProtobufKind>(
    _ number: UInt32, _ name: StaticString, _ values: inout [Kind.Value], _ kind: Kind.Type
  ) throws(BytesError) {
    guard !values.isEmpty else { return }
    if Kind.wireType == .delimited {
      for value in values { try write(number, value, kind) }
    } else {
      write(tag: number, .delimited)
      let start = begin()
      for value in values { try Kind.write(value, to: &self) }
      close(start)
    }
  }

  /// Writes one field for each entry.
  @inlinable
  public mutating func map<Kind: ProtobufKind, Map: ProtobufMap>(
    _ number: UInt32, _ name: StaticString, _ entries: inout Map, _ kind: Kind.Type
  ) throws(BytesError) where Map.Value == Kind.Value {
    try entries.forEachEntry { name, value throws(BytesError) in try write(number, entry: name, value, kind) }
  }

  /// Writes a member of a oneof, if the enumeration is this one.
  @inlinable
  public mutating func member<Kind: ProtobufKind, Oneof>(
    _ number: UInt32, _ name: StaticString, _ oneof: inout Oneof, _ kind: Kind.Type,
    extract: (Oneof) -> Kind.Value?, embed: (Kind.Value) -> Oneof
  ) throws(BytesError) {
    if let value = extract(oneof) { try write(number, value, kind) }
  }

  @inlinable
  mutating func write<Kind: ProtobufKind>(
    _ number: UInt32, _ value: Kind.Value, _ kind: Kind.Type
  ) throws(BytesError) {
    write(tag: number, Kind.wireType)
    try Kind.write(value, to: &self)
  }

  /// Writes an entry of a map.
  @inlinable
  public mutating func write<Kind: ProtobufKind>(
    _ number: UInt32, entry key: String, _ value: Kind.Value, _ kind: Kind.Type
  ) throws(BytesError) {
    write(tag: number, .delimited)
    let start = begin()
    write(tag: 1, .delimited)
    write(string: key)
    try write(2, value, kind)
    close(start)
  }
}
