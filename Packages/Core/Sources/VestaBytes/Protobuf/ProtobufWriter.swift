/// Writes protobuf's binary form into one buffer; the schemas' visitor for that direction.
///
/// The length of a nested message is written when the message is there: one byte is kept free for it, and a longer
/// length moves the message by a few bytes. So nothing is measured before it is written, or copied from buffer to
/// buffer.
public struct ProtobufWriter: Sendable {
  /// A copy of the bytes written so far; ``finish()`` hands them over without one.
  @inlinable
  public var bytes: [UInt8] { Array(buffer[..<count]) }

  /// The bytes written so far, and after them room, so that several values are written with one check.
  @usableFromInline
  var buffer: [UInt8]

  @usableFromInline
  var count = 0

  /// An empty writer.
  ///
  /// - Parameter capacity: How many bytes to reserve.
  public init(reserving capacity: Int = 512) {
    let capacity = max(16, capacity)
    // Unsafe pointer, used inside the closure only: all of the buffer is initialized.
    buffer = [UInt8](unsafeUninitializedCapacity: capacity) { room, initialized in
      room.initialize(repeating: 0)
      initialized = capacity
    }
  }

  /// The bytes written; the writer is empty afterwards.
  @inlinable
  public mutating func finish() -> [UInt8] {
    var bytes: [UInt8] = []
    swap(&bytes, &buffer)
    bytes.removeLast(bytes.count &- count)
    count = 0
    return bytes
  }

  /// Writes through a pointer to the free room.
  ///
  /// - Parameters:
  ///   - most: The most bytes that `body` writes.
  ///   - body: Writes, and moves the pointer to where it has stopped.
  @inlinable
  mutating func withRoom(for most: Int, _ body: (inout UnsafeMutablePointer<UInt8>) -> Void) {
    if buffer.count &- count < most { grow(by: most) }
    // Unsafe pointer, used inside the closure only: the room has been checked.
    count = buffer.withUnsafeMutableBufferPointer { [count] bytes in
      guard let base = bytes.baseAddress else { return count }
      var place = base + count
      body(&place)
      return place - base
    }
  }

  @usableFromInline
  mutating func grow(by most: Int) {
    let wanted = max(count + most, 2 * buffer.count, 64)
    // Unsafe pointer, used inside the closure only: all of the larger buffer is initialized.
    buffer = [UInt8](unsafeUninitializedCapacity: wanted) { room, initialized in
      _ = room.initialize(from: buffer[..<count])
      room[count...].initialize(repeating: 0)
      initialized = wanted
    }
  }

  /// Writes the fields of a message, without a length.
  @inlinable
  public mutating func write<Schema: ProtobufSchema>(
    _ message: Schema.Message, _ schema: Schema.Type
  ) throws(BytesError) {
    try Schema.write(message, to: &self)
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
    withRoom(for: 8) { $0.put(fixed64: value) }
  }

  /// Writes a length and a string.
  @inlinable
  public mutating func write(string: String) {
    // Unsafe pointer, used inside the closure only: the bytes of a string are appended at once.
    string.withBytes { utf8 in
      withRoom(for: utf8.count &+ 10) {
        $0.put(varint: UInt64(utf8.count))
        $0.put(utf8)
      }
    }
  }

  /// Writes a length and bytes.
  @inlinable
  public mutating func write(blob: [UInt8]) {
    // Unsafe pointer, used inside the closure only: the bytes are appended at once.
    withRoom(for: blob.count &+ 10) { place in
      place.put(varint: UInt64(blob.count))
      blob.withUnsafeBufferPointer { place.put($0) }
    }
  }

  @inlinable
  mutating func append(_ byte: UInt8) {
    if count == buffer.count { grow(by: 1) }
    buffer[count] = byte
    count &+= 1
  }

  @usableFromInline
  mutating func write(longVarint: UInt64) {
    withRoom(for: 10) { $0.put(varint: longVarint) }
  }

  /// Keeps a byte free for the length of a nested message, until ``close(_:)``.
  ///
  /// - Returns: Where the message starts.
  @inlinable
  public mutating func begin() -> Int {
    append(0)
    return count
  }

  /// Writes the length of a nested message.
  ///
  /// - Parameter start: The result of ``begin()``.
  @inlinable
  public mutating func close(_ start: Int) {
    let count = count &- start
    if count < 0x80 { buffer[start &- 1] = UInt8(truncatingIfNeeded: count) } else { closeLong(start) }
  }

  @usableFromInline
  mutating func closeLong(_ start: Int) {
    // A start that is not from `begin()` would let the move below begin before the buffer.
    precondition(start > 0, "there is no byte for the length of the message")
    let length = count - start
    // How many bytes the length has beyond the one that was kept free.
    let more = (63 - UInt64(length).leadingZeroBitCount) / 7
    // Unsafe pointer, used inside the closure only: the message and the byte before it are within what was written.
    withRoom(for: more) { end in
      let from = end - length
      (from + more).update(from: from, count: length)
      var place = from - 1
      place.put(varint: UInt64(length))
      end += more
    }
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
    try entries.forEachEntry { name, value throws(BytesError) in
      try Kind.write(number, entry: name, value, to: &self)
    }
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
    var start = 0
    // Unsafe pointers, used inside the closures only: the number, the key and the number of the value at once.
    key.withBytes { utf8 in
      withRoom(for: utf8.count &+ 32) { [count] place in
        let base = place
        place.put(varint: UInt64(number) << 3 | UInt64(ProtobufWireType.delimited.rawValue))
        place.put(0)
        start = count &+ (place - base)
        place.put(0x0A)
        place.put(varint: UInt64(utf8.count))
        place.put(utf8)
        place.put(0x10 | Kind.wireType.rawValue)
      }
    }
    try Kind.write(value, to: &self)
    close(start)
  }
}
