/// How the bytes of a field end.
public enum ProtobufWireType: UInt8, Sendable {
  /// A varint.
  case varint = 0
  /// Eight bytes.
  case fixed64 = 1
  /// A length, and as many bytes.
  case delimited = 2
  /// Four bytes.
  case fixed32 = 5
}

/// Reads protobuf's binary form; the schemas' visitor for that direction.
///
/// Total: any bytes give values or a ``BytesError``. A length is compared with what is left before anything is made of
/// it, so memory stays within a small multiple of the input. A field of a known number and another wire type is an
/// unknown field and is skipped, as readers of Google do; numbers of a repeated field may be packed or not.
public struct ProtobufReader: Sendable {
  @usableFromInline
  let bytes: [UInt8]

  @usableFromInline
  var index = 0

  /// The end of the message that is being read.
  @usableFromInline
  var end: Int

  /// How many more messages may be nested.
  @usableFromInline
  var depth: Int

  /// How many more entries of maps may be moved.
  @usableFromInline
  var moves: Int

  /// The field that is being read.
  @usableFromInline
  var number: UInt32 = 0

  @usableFromInline
  var wireType = ProtobufWireType.varint

  @usableFromInline
  var isTaken = false

  /// A reader.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of one message.
  ///   - limits: The bounds on depth and size.
  /// - Throws: ``BytesError`` with `.limitExceeded` when there are too many bytes.
  @inlinable
  public init(_ bytes: [UInt8], limits: ProtobufLimits = ProtobufLimits()) throws(BytesError) {
    self.bytes = bytes
    end = bytes.count
    depth = limits.maximumDepth
    moves = limits.maximumMoves
    guard bytes.count <= limits.maximumSize else { throw Self.isTooLong(limits) }
  }

  /// Reads the fields up to the end of the current message into a message.
  @inlinable
  public mutating func merge<Schema: ProtobufSchema>(
    into message: inout Schema.Message, _ schema: Schema.Type
  ) throws(BytesError) {
    while try nextField() {
      try Schema.visit(&message, &self)
      if !isTaken { try skip() }
    }
  }

  /// Moves to the next field of the current message.
  ///
  /// - Returns: Whether there is one; its number and wire type are known then.
  @inlinable
  public mutating func nextField() throws(BytesError) -> Bool {
    guard index < end else { return false }
    let tag = try varint()
    guard tag >> 3 > 0, tag >> 3 < 1 << 29 else { throw isNoNumber(tag) }
    switch tag & 7 {
    case 0: wireType = .varint
    case 1: wireType = .fixed64
    case 2: wireType = .delimited
    case 5: wireType = .fixed32
    default: return try fieldAfterGroups(tag)
    }
    number = UInt32(truncatingIfNeeded: tag >> 3)
    isTaken = false
    return true
  }

  /// The number of the current field.
  @inlinable
  public var fieldNumber: UInt32 { number }

  /// The wire type of the current field.
  @inlinable
  public var fieldWireType: ProtobufWireType { wireType }

  /// Moves to the next field if it has this number, below 16, and this wire type.
  @inlinable
  @inline(__always)
  mutating func take(tag number: UInt32, _ type: ProtobufWireType) -> Bool {
    guard index < end, byte == UInt8(truncatingIfNeeded: number << 3) | type.rawValue else { return false }
    index &+= 1
    self.number = number
    wireType = type
    return true
  }

  /// Whether the current message has no further fields.
  @inlinable
  public var isAtEnd: Bool { index == end }

  /// Skips the value of the current field.
  public mutating func skip() throws(BytesError) {
    switch wireType {
    case .varint: _ = try varint()
    case .fixed64: try advance(8)
    case .fixed32: try advance(4)
    case .delimited: try advance(length())
    }
  }

  @usableFromInline
  mutating func advance(_ count: Int) throws(BytesError) {
    guard count <= end - index else { throw endsInside() }
    index += count
  }
}

extension ProtobufReader {
  /// Reads a varint of up to ten bytes; bits beyond 64 are dropped, as other readers do.
  @inlinable
  @inline(__always)
  public mutating func varint() throws(BytesError) -> UInt64 {
    if index < end {
      let first = byte
      if first < 0x80 {
        index &+= 1
        return UInt64(first)
      }
    }
    return try longVarint()
  }

  @usableFromInline
  mutating func longVarint() throws(BytesError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while index < end {
      let byte = byte
      index &+= 1
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
      guard shift < 70 else { throw malformed("a varint is longer than ten bytes") }
    }
    throw endsInside()
  }

  /// The next byte, which there has to be: no message ends after the bytes.
  @inlinable
  @inline(__always)
  var byte: UInt8 { bytes.span[unchecked: index] }

  /// Reads eight bytes, the lowest first.
  @inlinable
  public mutating func fixed64() throws(BytesError) -> UInt64 {
    guard end &- index >= 8 else { throw endsInside() }
    defer { index &+= 8 }
    return UInt64(littleEndian: bytes.span.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self))
  }

  /// Reads a length, and checks that as many bytes are left.
  @inlinable
  @inline(__always)
  public mutating func length() throws(BytesError) -> Int {
    let length = try varint()
    guard length <= UInt64(end &- index) else { throw isLonger() }
    return Int(length)
  }

  /// Reads a length and a string.
  ///
  /// - Throws: ``BytesError`` with `.malformed` for bytes that are not UTF-8.
  @inlinable
  public mutating func string() throws(BytesError) -> String {
    let count = try length()
    defer { index &+= count }
    // Unsafe pointer, used inside the closure only: a string is made of a buffer without a copy in between.
    let string = bytes.withUnsafeBufferPointer {
      UTF8Text.string(validating: UnsafeBufferPointer(rebasing: $0[index..<(index &+ count)]))
    }
    guard let string else { throw isNoUTF8() }
    return string
  }

  /// Reads a length and bytes.
  @inlinable
  public mutating func blob() throws(BytesError) -> [UInt8] {
    let count = try length()
    defer { index &+= count }
    return Array(bytes[index..<(index &+ count)])
  }

  /// Where a nested message was entered; see ``enter()``.
  @frozen
  public struct Outer: Sendable {
    @usableFromInline
    let end: Int

    @usableFromInline
    let number: UInt32

    @usableFromInline
    init(end: Int, number: UInt32) {
      self.end = end
      self.number = number
    }
  }

  /// Reads a length, and limits the reader to what is within it, until ``leave(_:)``.
  ///
  /// - Returns: Where the reader continues afterwards.
  /// - Throws: ``BytesError`` with `.limitExceeded` for messages that are nested too deep.
  @inlinable
  @inline(__always)
  public mutating func enter() throws(BytesError) -> Outer {
    // Nearly every message is short: what is wrong, or longer, is found apart.
    if index < end, depth > 0 {
      let count = Int(byte)
      let start = index &+ 1
      if count < 0x80, count <= end &- start {
        let outer = Outer(end: end, number: number)
        depth &-= 1
        index = start
        end = start &+ count
        return outer
      }
    }
    return try enterLong()
  }

  @usableFromInline
  @inline(never)
  mutating func enterLong() throws(BytesError) -> Outer {
    let count = try length()
    guard depth > 0 else { throw Self.isTooDeep() }
    let outer = Outer(end: end, number: number)
    depth -= 1
    end = index + count
    return outer
  }

  /// Continues after a nested message; bytes that are left in it are an error.
  @inlinable
  @inline(__always)
  public mutating func leave(_ outer: Outer) throws(BytesError) {
    guard index == end else { throw hasBytesLeft(outer) }
    // The end of another reader's message may be after these bytes, and bytes are read unchecked up to the end.
    precondition(outer.end <= bytes.count, "the message was entered by another reader")
    end = outer.end
    number = outer.number
    depth &+= 1
  }
}

extension ProtobufReader: ProtobufVisitor {
  /// Fields are read.
  @inlinable
  public var isReading: Bool { true }

  /// Reads a field.
  @inlinable
  public mutating func field<Kind: ProtobufKind>(
    _ number: UInt32, _ name: StaticString, _ value: inout Kind.Value, _ kind: Kind.Type
  ) throws(BytesError) {
    guard number == self.number, wireType == Kind.wireType else { return }
    try Kind.merge(&self, into: &value)
    isTaken = true
  }

  /// Reads a field.
  @inlinable
  public mutating func optional<Kind: ProtobufKind>(
    _ number: UInt32, _ name: StaticString, _ value: inout Kind.Value?, _ kind: Kind.Type
  ) throws(BytesError) {
    guard number == self.number, wireType == Kind.wireType else { return }
    value = try merged(value, kind)
    isTaken = true
  }

  /// Reads one value, or all values of a packed field.
  @inlinable
  public mutating func repeated<Kind: ProtobufKind>(
    _ number: UInt32, _ name: StaticString, _ values: inout [Kind.Value], _ kind: Kind.Type
  ) throws(BytesError) {
    guard number == self.number else { return }
    if wireType == .delimited, Kind.wireType != .delimited {
      let outer = try enter()
      while index < end { values.append(try Kind.read(&self)) }
      try leave(outer)
    } else if wireType == Kind.wireType {
      values.append(try Kind.read(&self))
    } else {
      return
    }
    isTaken = true
  }

  /// Reads a member of a oneof.
  @inlinable
  public mutating func member<Kind: ProtobufKind, Oneof>(
    _ number: UInt32, _ name: StaticString, _ oneof: inout Oneof, _ kind: Kind.Type,
    extract: (Oneof) -> Kind.Value?, embed: (Kind.Value) -> Oneof
  ) throws(BytesError) {
    guard number == self.number, wireType == Kind.wireType else { return }
    oneof = embed(try merged(extract(oneof), kind))
    isTaken = true
  }

  @inlinable
  mutating func merged<Kind: ProtobufKind>(
    _ value: Kind.Value?, _ kind: Kind.Type
  ) throws(BytesError) -> Kind.Value {
    guard var value else { return try Kind.read(&self) }
    try Kind.merge(&self, into: &value)
    return value
  }
}
