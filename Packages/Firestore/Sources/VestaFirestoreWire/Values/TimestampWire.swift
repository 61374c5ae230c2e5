public import VestaBytes
public import VestaFirestoreBackend

/// The kind of `google.protobuf.Timestamp`; JSON has it as a string in the format of RFC 3339.
public enum TimestampWire: ProtobufKind {
  /// A length and the fields.
  public static var wireType: ProtobufWireType { .delimited }

  /// An entry without a value has the start of 1970.
  public static var absentEntry: Timestamp? { Timestamp(seconds: 0) }

  /// A timestamp has presence.
  public static func isDefault(_ value: Timestamp) -> Bool { false }

  /// Writes the fields.
  public static func write(_ value: Timestamp, to writer: inout ProtobufWriter) throws(BytesError) {
    writer.write(messageOfNumbers: value.seconds, Int64(value.nanos))
  }

  /// Reads the fields.
  public static func read(_ reader: inout ProtobufReader) throws(BytesError) -> Timestamp {
    let (seconds, nanos) = try reader.messageOfNumbers()
    return Timestamp(seconds: seconds, nanos: Int32(truncatingIfNeeded: nanos))
  }

  /// Writes a string.
  ///
  /// - Throws: `BytesError` with `.invalidValue` for a timestamp before the year 1 or after 9999.
  public static func write(_ value: Timestamp, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    guard let text = RFC3339.text(seconds: value.seconds, nanoseconds: value.nanos) else {
      throw BytesError(.invalidValue, "a timestamp is before the year 1 or after 9999")
    }
    writer.write(string: text)
  }

  /// Reads a string.
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Timestamp {
    guard case .string(let text) = json, let time = RFC3339.parse(text) else {
      throw reader.malformed("this is no timestamp")
    }
    return Timestamp(seconds: time.seconds, nanos: time.nanoseconds)
  }
}

/// The kind of `google.protobuf.Duration`; JSON has it as a string of seconds, such as `1.500s`.
public enum DurationWire: ProtobufKind {
  /// A length and the fields.
  public static var wireType: ProtobufWireType { .delimited }

  /// An entry without a value has zero.
  public static var absentEntry: Duration? { .zero }

  /// A duration has presence.
  public static func isDefault(_ value: Duration) -> Bool { false }

  /// Writes the fields.
  public static func write(_ value: Duration, to writer: inout ProtobufWriter) throws(BytesError) {
    try ProtobufMessage<SecondsWire>.write(parts(of: value), to: &writer)
  }

  /// Reads the fields.
  public static func read(_ reader: inout ProtobufReader) throws(BytesError) -> Duration {
    let parts = try ProtobufMessage<SecondsWire>.read(&reader)
    return .seconds(parts.seconds) + .nanoseconds(Int64(parts.nanos))
  }

  /// Writes a string.
  public static func write(_ value: Duration, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    try JSONDuration.write(value, to: &writer)
  }

  /// Reads a string.
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Duration {
    try JSONDuration.read(json, reader)
  }

  private static func parts(of value: Duration) -> (seconds: Int64, nanos: Int32) {
    (value.components.seconds, Int32(value.components.attoseconds / 1_000_000_000))
  }
}

/// The statement that timestamps and durations share.
enum SecondsWire: ProtobufSchema {
  static var empty: (seconds: Int64, nanos: Int32) { (0, 0) }

  static func visit(
    _ parts: inout (seconds: Int64, nanos: Int32), _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "seconds", &parts.seconds, ProtobufInt64.self)
    try visitor.field(2, "nanos", &parts.nanos, ProtobufInt32.self)
  }
}
