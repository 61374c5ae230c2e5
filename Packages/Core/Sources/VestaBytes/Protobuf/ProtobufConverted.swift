/// A message whose Swift type has another shape than its fields: an enumeration with payloads, say, of a oneof and of
/// fields next to it.
///
/// The parts have the statement; a conversion says how they become a value, and what is wrong when they cannot.
public protocol ProtobufConversion: SendableMetatype {
  /// The statement of the parts.
  associatedtype Schema: ProtobufSchema

  /// The Swift type of the message.
  associatedtype Value

  /// The parts of a value.
  static func parts(of value: Value) -> Schema.Message

  /// The value of parts.
  ///
  /// - Throws: ``BytesError`` with `.malformed` for parts that make no value.
  static func value(of parts: Schema.Message) throws(BytesError) -> Value
}

/// The kind of a message with a conversion.
public enum ProtobufConverted<Conversion: ProtobufConversion>: ProtobufKind {
  /// A length and the fields.
  @inlinable
  public static var wireType: ProtobufWireType { .delimited }

  /// A message has presence.
  @inlinable
  public static func isDefault(_ value: Conversion.Value) -> Bool { false }

  /// Writes the parts.
  @inlinable
  public static func write(_ value: Conversion.Value, to writer: inout ProtobufWriter) throws(BytesError) {
    try ProtobufMessage<Conversion.Schema>.write(Conversion.parts(of: value), to: &writer)
  }

  /// Reads the parts, and makes the value of them.
  @inlinable
  public static func read(_ reader: inout ProtobufReader) throws(BytesError) -> Conversion.Value {
    try Conversion.value(of: ProtobufMessage<Conversion.Schema>.read(&reader))
  }

  /// Reads further parts, and makes the value of all of them.
  @inlinable
  public static func merge(_ reader: inout ProtobufReader, into value: inout Conversion.Value) throws(BytesError) {
    var parts = Conversion.parts(of: value)
    try ProtobufMessage<Conversion.Schema>.merge(&reader, into: &parts)
    value = try Conversion.value(of: parts)
  }

  /// Writes the parts as an object.
  @inlinable
  public static func write(_ value: Conversion.Value, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    try writer.write(Conversion.parts(of: value), Conversion.Schema.self)
  }

  /// Reads the parts from an object, and makes the value of them.
  @inlinable
  public static func read(
    _ json: JSONValue, _ reader: ProtobufJSONReader
  ) throws(BytesError) -> Conversion.Value {
    let parts = try ProtobufMessage<Conversion.Schema>.read(json, reader)
    do {
      return try Conversion.value(of: parts)
    } catch {
      throw reader.malformed(error.message)
    }
  }
}

extension ProtobufConversion {
  /// The value as bytes.
  @inlinable
  public static func bytes(of value: Value) throws(BytesError) -> [UInt8] { try Schema.bytes(of: parts(of: value)) }

  /// Reads a value.
  @inlinable
  public static func value(
    from bytes: [UInt8], limits: ProtobufLimits = ProtobufLimits()
  ) throws(BytesError) -> Value {
    try value(of: Schema.message(from: bytes, limits: limits))
  }

  /// The value as JSON.
  @inlinable
  public static func json(of value: Value) throws(BytesError) -> [UInt8] { try Schema.json(of: parts(of: value)) }

  /// Reads a value from JSON.
  @inlinable
  public static func value(json: JSONValue, ignoresUnknownNames: Bool = false) throws(BytesError) -> Value {
    try value(of: Schema.message(json: json, ignoresUnknownNames: ignoresUnknownNames))
  }
}
