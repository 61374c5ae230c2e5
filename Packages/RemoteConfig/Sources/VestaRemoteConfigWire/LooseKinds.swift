import VestaBytes

/// A string that is absent where it is empty; numbers, which the relaxed form has without quotes, are written out.
enum LooseText: JSONKind {
  static func isDefault(_ value: String?) -> Bool { value == nil }

  static func write(_ value: String?, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.write(string: value ?? "")
  }

  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> String? {
    switch json {
    case .string(let text): return text.isEmpty ? nil : text
    case .integer(let number): return "\(number)"
    default: throw reader.malformed("this is no string")
    }
  }
}

/// A time in microseconds since 1970, absent where it cannot be read.
enum LooseTime: JSONKind {
  static func isDefault(_ value: Int64?) -> Bool { value == nil }

  static func write(_ value: Int64?, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.write(string: RFC3339.text(microseconds: value ?? 0))
  }

  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Int64? {
    try LooseText.read(json, reader).flatMap { RFC3339.microseconds(of: $0) }
  }
}

/// A version of a template: a string of digits, as numbers of 64 bits are; zero where it is empty.
enum LooseVersion: JSONKind {
  static func write(_ value: Int64, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.write(string: "\(value)")
  }

  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Int64 {
    if json.string?.isEmpty == true { return 0 }
    let version = try ProtobufInt64.read(json, reader)
    guard version >= 0 else { throw reader.malformed("this is no version") }
    return version
  }
}
