/// A kind of field for messages that are JSON alone, and have no binary form.
///
/// Such messages are stated like any other, with numbers that nothing uses:
///
/// ```swift
/// enum TokenSchema: ProtobufSchema {
///   static var empty: Token { Token() }
///
///   static func visit(_ token: inout Token, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
///     try visitor.field(1, "token", &token.text, ProtobufString.self)
///     try visitor.optional(2, "expiresIn", &token.lifetime, JSONDuration.self)
///   }
/// }
/// ```
///
/// A value is always written; to leave out a default one, visit it as an optional.
public protocol JSONKind: ProtobufKind {}

extension JSONKind {
  /// There are no bytes that could end in any way.
  public static var wireType: ProtobufWireType { .delimited }

  /// A value is always written.
  public static func isDefault(_ value: Value) -> Bool { false }

  /// - Throws: `BytesError` with `.invalidValue`.
  public static func write(_ value: Value, to writer: inout ProtobufWriter) throws(BytesError) {
    throw BytesError(.invalidValue, "this message has no binary form")
  }

  /// - Throws: `BytesError` with `.invalidValue`.
  public static func read(_ reader: inout ProtobufReader) throws(BytesError) -> Value {
    throw BytesError(.invalidValue, "this message has no binary form")
  }
}

/// A whole number that is a number in JSON, and not a string as ``ProtobufInt64`` is; strings are read as well.
public enum JSONInteger: JSONKind {
  /// Writes digits.
  public static func write(_ value: Int64, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.write(raw: "\(value)")
  }

  /// Reads a number, or a string of digits.
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Int64 {
    try reader.integer(json)
  }
}

/// A duration in JSON: a string of seconds with up to nine digits after the point, such as `1.500s`.
public enum JSONDuration: JSONKind {
  /// Writes the seconds, and nine digits where there is a fraction.
  public static func write(_ value: Duration, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    let (seconds, attoseconds) = value.components
    let nanos = attoseconds / 1_000_000_000
    let sign = value < .zero ? "-" : ""
    let digits = String(nanos.magnitude)
    let fraction = nanos == 0 ? "" : "." + String(repeating: "0", count: 9 - digits.utf8.count) + digits
    writer.write(string: "\(sign)\(seconds.magnitude)\(fraction)s")
  }

  /// Reads a duration of up to 10,000 years.
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
}

/// A time in microseconds since 1970 that is a string in the format of RFC 3339.
public enum JSONTime: JSONKind {
  /// Writes as many digits after the point as the time has.
  public static func write(_ value: Int64, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.write(string: RFC3339.text(microseconds: value))
  }

  /// Reads a time.
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Int64 {
    guard let time = json.string.flatMap({ RFC3339.microseconds(of: $0) }) else {
      throw reader.malformed("this is no time")
    }
    return time
  }
}

/// Strings by their names: an object, which is written in the order of the names and left out where it is empty.
///
/// Numbers and booleans are read as their text, and null as no string.
public enum JSONTexts: JSONKind {
  /// Whether there are none.
  public static func isDefault(_ value: [String: String]) -> Bool { value.isEmpty }

  /// Writes an object.
  public static func write(_ value: [String: String], to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.open(UInt8(ascii: "{"))
    for (name, text) in value.sorted(by: { $0.key < $1.key }) {
      writer.name(key: name)
      writer.write(string: text)
    }
    writer.close(UInt8(ascii: "}"))
  }

  /// Reads an object.
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> [String: String] {
    guard case .object(let object) = json else { throw reader.malformed("this is no object") }
    var texts: [String: String] = [:]
    for member in object.members { texts[member.name] = try text(of: member, reader) }
    return texts
  }

  /// The text of a member; `nil` for null.
  ///
  /// - Throws: `BytesError` with `.malformed` for an array and an object.
  public static func text(
    of member: JSONObject.Member, _ reader: ProtobufJSONReader
  ) throws(BytesError) -> String? {
    switch member.value {
    case .null: nil
    case .string(let text): text
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)"
    case .bool(let flag): "\(flag)"
    case .array, .object: throw reader.malformed("the value of \(member.name) is no string")
    }
  }
}

/// A string that is written and whose value is not used when it is read, of whatever type it is then.
private enum JSONConstant: JSONKind {
  static func write(_ value: String, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.write(string: value)
  }

  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> String { "" }
}

extension ProtobufVisitor {
  /// Visits a member that has the same string in every message: it is written, and ignored when it is read.
  public mutating func constant(_ number: UInt32, _ name: StaticString, _ text: String) throws(BytesError) {
    var text: String? = isReading ? nil : text
    try optional(number, name, &text, JSONConstant.self)
  }
}
