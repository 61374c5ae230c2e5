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
    let outer = try reader.enter()
    var timestamp = Timestamp(seconds: 0)
    while try reader.nextField() {
      switch reader.fieldNumber {
      case 1:
        try reader.expect(.varint)
        timestamp.seconds = Int64(bitPattern: try reader.varint())
      case 2:
        try reader.expect(.varint)
        timestamp.nanos = Int32(truncatingIfNeeded: try reader.varint())
      default: try reader.skip()
      }
    }
    try reader.leave(outer)
    return timestamp
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
    let (seconds, nanos) = parts(of: value)
    let sign = value < .zero ? "-" : ""
    let digits = String(nanos.magnitude)
    let fraction = nanos == 0 ? "" : "." + String(repeating: "0", count: 9 - digits.utf8.count) + digits
    writer.write(string: "\(sign)\(seconds.magnitude)\(fraction)s")
  }

  /// Reads a string.
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Duration {
    guard case .string(let text) = json, text.utf8.last == UInt8(ascii: "s"),
      let value = duration(of: text.dropLast())
    else { throw reader.malformed("this is no duration") }
    return value
  }

  /// The duration of a number of seconds with up to nine digits after the point.
  private static func duration(of text: Substring) -> Duration? {
    let isNegative = text.hasPrefix("-")
    let parts = text.dropFirst(isNegative ? 1 : 0).split(
      separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = parts.first, let seconds = UInt64(whole), seconds <= 315_576_000_000, !whole.hasPrefix("+") else {
      return nil
    }
    var nanos: UInt64 = 0
    if parts.count == 2 {
      let digits = parts[1]
      guard (1...9).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
      nanos = UInt64(digits + String(repeating: "0", count: 9 - digits.utf8.count)) ?? 0
    }
    let value = Duration.seconds(Int64(seconds)) + .nanoseconds(Int64(nanos))
    return isNegative ? .zero - value : value
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
