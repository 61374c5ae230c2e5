import VestaBytes

/// An object without members.
struct Empty {
  enum Schema: ProtobufSchema {
    static var empty: Empty { Empty() }
    static func visit(_ empty: inout Empty, _ visitor: inout some ProtobufVisitor) throws(BytesError) {}
  }
}

/// A number of milliseconds since 1970 that is a time in JSON.
enum MillisecondTime: JSONKind {
  static func write(_ value: Int64, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    let (seconds, milliseconds) = value.quotientAndRemainder(dividingBy: 1_000)
    let isBefore = milliseconds < 0
    let nanoseconds = Int32(isBefore ? milliseconds + 1_000 : milliseconds) * 1_000_000
    guard let text = RFC3339.text(seconds: isBefore ? seconds - 1 : seconds, nanoseconds: nanoseconds) else {
      throw BytesError(.invalidValue, "a time is before the year 1 or after the year 9999")
    }
    writer.write(string: text)
  }

  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Int64 {
    guard let time = json.string.flatMap({ RFC3339.parse($0) }) else { throw reader.malformed("this is no time") }
    return time.seconds * 1_000 + Int64(time.nanoseconds / 1_000_000)
  }
}

extension ProtobufVisitor {
  /// Visits a member that is true in every message: it is written, and ignored when it is read.
  mutating func flag(_ number: UInt32, _ name: StaticString) throws(BytesError) {
    var flag: Bool? = isReading ? nil : true
    try optional(number, name, &flag, AnyFlag.self)
  }
}

extension ProtobufVisitor {
  /// Visits whether an address is verified: it is written, also when it is not, where there is an address.
  mutating func verification(_ number: UInt32, _ isVerified: inout Bool, of email: String?) throws(BytesError) {
    var flag: Bool? = email == nil && !isVerified ? nil : isVerified
    try optional(number, "emailVerified", &flag, ProtobufBool.self)
    isVerified = flag ?? false
  }
}

/// A boolean whose value is not used.
enum AnyFlag: JSONKind {
  static func write(_ value: Bool, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.write(raw: "\(value)")
  }

  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Bool { true }
}
