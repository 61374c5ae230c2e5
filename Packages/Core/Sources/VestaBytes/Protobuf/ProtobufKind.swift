/// One kind of field: how its value is written and read, in binary form and as JSON.
///
/// The scalar kinds are ``ProtobufInt64``, ``ProtobufString`` and their like; ``ProtobufMessage`` is the kind of a
/// message with a schema, ``ProtobufEnum`` that of an enumeration. A product writes a separate kind where a value is
/// on its hot path, or where protobuf's JSON has a special form for it, such as timestamps.
public protocol ProtobufKind: SendableMetatype {
  /// The Swift type of a value.
  associatedtype Value

  /// How the bytes of a value end; `.delimited` values begin with their length.
  static var wireType: ProtobufWireType { get }

  /// The value of a map entry that has none on the wire; `nil` when that is an error.
  static var absentEntry: Value? { get }

  /// Whether JSON's null is a value of this kind, and not the absence of one.
  static var acceptsNull: Bool { get }

  /// Whether a field without presence need not be written.
  static func isDefault(_ value: Value) -> Bool

  /// Writes a value, with its length and without its number.
  static func write(_ value: Value, to writer: inout ProtobufWriter) throws(BytesError)

  /// Writes an entry of a map with its number: a key and a value.
  static func write(
    _ number: UInt32, entry key: String, _ value: Value, to writer: inout ProtobufWriter) throws(BytesError)

  /// Reads a value.
  static func read(_ reader: inout ProtobufReader) throws(BytesError) -> Value

  /// Reads a value when the field had one already: a message is merged, every other value replaced.
  static func merge(_ reader: inout ProtobufReader, into value: inout Value) throws(BytesError)

  /// Writes a value as JSON.
  static func write(_ value: Value, to writer: inout ProtobufJSONWriter) throws(BytesError)

  /// Reads a value of JSON.
  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Value
}

extension ProtobufKind {
  /// An entry without a value is an error.
  @inlinable
  public static var absentEntry: Value? { nil }

  /// Null is the absence of a value.
  @inlinable
  public static var acceptsNull: Bool { false }

  /// Writes the key and the value.
  @inlinable
  public static func write(
    _ number: UInt32, entry key: String, _ value: Value, to writer: inout ProtobufWriter
  ) throws(BytesError) {
    try writer.write(number, entry: key, value, Self.self)
  }

  /// Replaces the value.
  @inlinable
  public static func merge(_ reader: inout ProtobufReader, into value: inout Value) throws(BytesError) {
    value = try read(&reader)
  }
}

/// The kind of a message with a schema.
public enum ProtobufMessage<Schema: ProtobufSchema>: ProtobufKind {
  /// A length and the fields.
  @inlinable
  public static var wireType: ProtobufWireType { .delimited }

  /// An entry without a value has the message without fields.
  @inlinable
  public static var absentEntry: Schema.Message? { Schema.empty }

  /// A message has presence.
  @inlinable
  public static func isDefault(_ value: Schema.Message) -> Bool { false }

  /// Writes the message.
  @inlinable
  public static func write(_ value: Schema.Message, to writer: inout ProtobufWriter) throws(BytesError) {
    let start = writer.begin()
    try writer.write(value, Schema.self)
    writer.close(start)
  }

  /// Reads the message.
  @inlinable
  public static func read(_ reader: inout ProtobufReader) throws(BytesError) -> Schema.Message {
    var message = Schema.empty
    try merge(&reader, into: &message)
    return message
  }

  /// Reads fields into the message.
  @inlinable
  public static func merge(_ reader: inout ProtobufReader, into value: inout Schema.Message) throws(BytesError) {
    let outer = try reader.enter()
    try reader.merge(into: &value, Schema.self)
    try reader.leave(outer)
  }

  /// Writes the message as an object.
  @inlinable
  public static func write(_ value: Schema.Message, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    try writer.write(value, Schema.self)
  }

  /// Reads the message from an object.
  @inlinable
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Schema.Message {
    var message = Schema.empty
    try reader.merge(json, into: &message, Schema.self)
    return message
  }
}

/// The statement of the cases of a protobuf enumeration.
public protocol ProtobufEnumSchema: SendableMetatype {
  /// The Swift type of a case.
  associatedtype Value: Equatable

  /// The number, the name and the value of each case; the first one is the default.
  static var cases: [(number: Int32, name: StaticString, value: Value)] { get }
}

/// The kind of an enumeration.
///
/// A number or a name that the schema does not have is an error: there is no value for it.
public enum ProtobufEnum<Schema: ProtobufEnumSchema>: ProtobufKind {
  /// A varint.
  @inlinable
  public static var wireType: ProtobufWireType { .varint }

  /// An entry without a value has the first case.
  @inlinable
  public static var absentEntry: Schema.Value? { Schema.cases[0].value }

  /// Whether the value is the first case, and that has the number zero.
  @inlinable
  public static func isDefault(_ value: Schema.Value) -> Bool {
    Schema.cases[0].number == 0 && Schema.cases[0].value == value
  }

  /// Writes the number of the case.
  @inlinable
  public static func write(_ value: Schema.Value, to writer: inout ProtobufWriter) throws(BytesError) {
    guard let known = Schema.cases.first(where: { $0.value == value }) else { throw unknown("\(value)") }
    writer.write(varint: UInt64(bitPattern: Int64(known.number)))
  }

  /// Reads the number of a case.
  @inlinable
  public static func read(_ reader: inout ProtobufReader) throws(BytesError) -> Schema.Value {
    let number = Int32(truncatingIfNeeded: try reader.varint())
    guard let known = Schema.cases.first(where: { $0.number == number }) else { throw unknown("\(number)") }
    return known.value
  }

  /// Writes the name of the case.
  @inlinable
  public static func write(_ value: Schema.Value, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    guard let known = Schema.cases.first(where: { $0.value == value }) else { throw unknown("\(value)") }
    writer.write(string: "\(known.name)")
  }

  /// Reads the name or the number of a case.
  @inlinable
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Schema.Value {
    let known =
      switch json {
      case .string(let name): Schema.cases.first { reader.matches($0.name, name) }
      case .integer(let number): Schema.cases.first { $0.number == number }
      default: nil as (number: Int32, name: StaticString, value: Schema.Value)?
      }
    guard let known else { throw reader.malformed("this is no \(Schema.Value.self)") }
    return known.value
  }

  @usableFromInline
  static func unknown(_ value: String) -> BytesError {
    BytesError(.malformed, "protobuf: \(value) is no \(Schema.Value.self)")
  }
}

/// The kind of a message that wraps one value to give it presence, such as `google.protobuf.Int32Value`.
public enum ProtobufWrapper<Kind: ProtobufKind>: ProtobufKind {
  /// A length and one field.
  @inlinable
  public static var wireType: ProtobufWireType { .delimited }

  /// An entry without a value has that of the wrapped kind.
  @inlinable
  public static var absentEntry: Kind.Value? { Kind.absentEntry }

  /// A message has presence.
  @inlinable
  public static func isDefault(_ value: Kind.Value) -> Bool { false }

  /// Writes the wrapper.
  @inlinable
  public static func write(_ value: Kind.Value, to writer: inout ProtobufWriter) throws(BytesError) {
    var value = value
    let start = writer.begin()
    try writer.field(1, "value", &value, Kind.self)
    writer.close(start)
  }

  /// Reads the wrapper.
  @inlinable
  public static func read(_ reader: inout ProtobufReader) throws(BytesError) -> Kind.Value {
    let outer = try reader.enter()
    var value = Kind.absentEntry
    while try reader.nextField() {
      try reader.optional(1, "value", &value, Kind.self)
      if !reader.isTaken { try reader.skip() }
    }
    guard let value else { throw reader.malformed("a wrapper has no value") }
    try reader.leave(outer)
    return value
  }

  /// Writes the value without the wrapper.
  @inlinable
  public static func write(_ value: Kind.Value, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    try Kind.write(value, to: &writer)
  }

  /// Reads the value without the wrapper.
  @inlinable
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Kind.Value {
    try Kind.read(json, reader)
  }
}
