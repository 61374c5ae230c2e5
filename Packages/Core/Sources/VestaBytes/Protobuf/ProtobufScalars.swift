/// The kind of `bool`.
public enum ProtobufBool: ProtobufKind {
  /// A varint.
  @inlinable
  public static var wireType: ProtobufWireType { .varint }

  /// An entry without a value has the default one.
  @inlinable
  public static var absentEntry: Bool? { false }

  /// Whether the value is false.
  @inlinable
  public static func isDefault(_ value: Bool) -> Bool { !value }

  /// Writes one byte.
  @inlinable
  public static func write(_ value: Bool, to writer: inout ProtobufWriter) { writer.write(varint: value ? 1 : 0) }

  /// Reads a varint; every number but zero is true.
  @inlinable
  public static func read(_ reader: inout ProtobufReader) throws(BytesError) -> Bool {
    try reader.varint() != 0
  }

  /// Writes `true` or `false`.
  public static func write(_ value: Bool, to writer: inout ProtobufJSONWriter) {
    writer.write(raw: value ? "true" : "false")
  }

  /// Reads a boolean.
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Bool {
    guard case .bool(let value) = json else { throw reader.malformed("this is no boolean") }
    return value
  }
}

/// The kind of `int32`.
public enum ProtobufInt32: ProtobufKind {
  /// A varint.
  @inlinable
  public static var wireType: ProtobufWireType { .varint }

  /// An entry without a value has the default one.
  @inlinable
  public static var absentEntry: Int32? { 0 }

  /// Whether the value is zero.
  @inlinable
  public static func isDefault(_ value: Int32) -> Bool { value == 0 }

  /// Writes a varint, of ten bytes for a negative number.
  @inlinable
  public static func write(_ value: Int32, to writer: inout ProtobufWriter) {
    writer.write(varint: UInt64(bitPattern: Int64(value)))
  }

  /// Reads a varint; bits beyond 32 are dropped.
  @inlinable
  public static func read(_ reader: inout ProtobufReader) throws(BytesError) -> Int32 {
    Int32(truncatingIfNeeded: try reader.varint())
  }

  /// Writes a number.
  public static func write(_ value: Int32, to writer: inout ProtobufJSONWriter) { writer.write(raw: String(value)) }

  /// Reads a number, or a string of one.
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Int32 {
    guard let value = Int32(exactly: try reader.integer(json)) else {
      throw reader.malformed("the integer is out of range")
    }
    return value
  }
}

/// The kind of `int64`; JSON has it as a string, because its numbers have fewer bits elsewhere.
public enum ProtobufInt64: ProtobufKind {
  /// A varint.
  @inlinable
  public static var wireType: ProtobufWireType { .varint }

  /// An entry without a value has the default one.
  @inlinable
  public static var absentEntry: Int64? { 0 }

  /// Whether the value is zero.
  @inlinable
  public static func isDefault(_ value: Int64) -> Bool { value == 0 }

  /// Writes a varint, of ten bytes for a negative number.
  @inlinable
  public static func write(_ value: Int64, to writer: inout ProtobufWriter) {
    writer.write(varint: UInt64(bitPattern: value))
  }

  /// Reads a varint.
  @inlinable
  public static func read(_ reader: inout ProtobufReader) throws(BytesError) -> Int64 {
    Int64(bitPattern: try reader.varint())
  }

  /// Writes a string of the number.
  public static func write(_ value: Int64, to writer: inout ProtobufJSONWriter) {
    writer.write(string: String(value))
  }

  /// Reads a string of a number, or a number.
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Int64 {
    try reader.integer(json)
  }
}

/// The kind of `double`.
public enum ProtobufDouble: ProtobufKind {
  /// Eight bytes.
  @inlinable
  public static var wireType: ProtobufWireType { .fixed64 }

  /// An entry without a value has the default one.
  @inlinable
  public static var absentEntry: Double? { 0 }

  /// Whether the value is a positive zero.
  @inlinable
  public static func isDefault(_ value: Double) -> Bool { value.bitPattern == 0 }

  /// Writes eight bytes.
  @inlinable
  public static func write(_ value: Double, to writer: inout ProtobufWriter) {
    writer.write(fixed64: value.bitPattern)
  }

  /// Reads eight bytes.
  @inlinable
  public static func read(_ reader: inout ProtobufReader) throws(BytesError) -> Double {
    Double(bitPattern: try reader.fixed64())
  }

  /// Writes a number, or one of the strings `NaN`, `Infinity` and `-Infinity`.
  public static func write(_ value: Double, to writer: inout ProtobufJSONWriter) {
    if value.isNaN { return writer.write(string: "NaN") }
    if value.isInfinite { return writer.write(string: value < 0 ? "-Infinity" : "Infinity") }
    // A whole number is written without its fraction, as other writers do; a negative zero keeps its sign.
    if let whole = Int64(exactly: value), whole.magnitude < 1 << 53, whole != 0 || value.sign == .plus {
      return writer.write(raw: String(whole))
    }
    writer.write(raw: value.description)
  }

  /// Reads a number, a string of one, or one of the three names.
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Double {
    switch json {
    case .integer(let number): return Double(number)
    case .number(let number): return number
    case .string("NaN"): return .nan
    case .string("Infinity"): return .infinity
    case .string("-Infinity"): return -.infinity
    case .string(let text):
      guard let number = JSONValue.number(of: text)?.double else { throw reader.malformed("this is no number") }
      return number
    default: throw reader.malformed("this is no number")
    }
  }
}

/// The kind of `string`.
public enum ProtobufString: ProtobufKind {
  /// A length and UTF-8.
  @inlinable
  public static var wireType: ProtobufWireType { .delimited }

  /// An entry without a value has the default one.
  @inlinable
  public static var absentEntry: String? { "" }

  /// Whether the value is empty.
  @inlinable
  public static func isDefault(_ value: String) -> Bool { value.isEmpty }

  /// Writes a length and UTF-8.
  @inlinable
  public static func write(_ value: String, to writer: inout ProtobufWriter) { writer.write(string: value) }

  /// Reads a length and UTF-8.
  @inlinable
  public static func read(_ reader: inout ProtobufReader) throws(BytesError) -> String {
    try reader.string()
  }

  /// Writes a string.
  public static func write(_ value: String, to writer: inout ProtobufJSONWriter) { writer.write(string: value) }

  /// Reads a string.
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> String {
    guard case .string(let value) = json else { throw reader.malformed("this is no string") }
    return value
  }
}

/// The kind of `bytes`; JSON has it in base64.
public enum ProtobufBytes: ProtobufKind {
  /// A length and bytes.
  @inlinable
  public static var wireType: ProtobufWireType { .delimited }

  /// An entry without a value has the default one.
  @inlinable
  public static var absentEntry: [UInt8]? { [] }

  /// Whether there are no bytes.
  @inlinable
  public static func isDefault(_ value: [UInt8]) -> Bool { value.isEmpty }

  /// Writes a length and bytes.
  @inlinable
  public static func write(_ value: [UInt8], to writer: inout ProtobufWriter) { writer.write(blob: value) }

  /// Reads a length and bytes.
  @inlinable
  public static func read(_ reader: inout ProtobufReader) throws(BytesError) -> [UInt8] {
    try reader.blob()
  }

  /// Writes base64 with padding.
  public static func write(_ value: [UInt8], to writer: inout ProtobufJSONWriter) {
    writer.write(string: Base64.standard.encode(value))
  }

  /// Reads base64 of either alphabet, with or without padding.
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> [UInt8] {
    guard case .string(let text) = json else { throw reader.malformed("this is no base64") }
    var letters = text.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? 47 : $0 }
    while letters.last == UInt8(ascii: "=") { letters.removeLast() }
    do {
      return try Base64.unpadded.decode(String(decoding: letters, as: UTF8.self))
    } catch {
      throw reader.malformed("this is no base64")
    }
  }
}
