/// Writes JSON without spaces, members in their order.
enum JSONWriter {
  /// The bytes of a value.
  static func write(_ value: JSONValue, maximumDepth: Int) throws(BytesError) -> [UInt8] {
    var bytes: [UInt8] = []
    try append(value, to: &bytes, depth: maximumDepth)
    return bytes
  }

  private static func append(_ value: JSONValue, to bytes: inout [UInt8], depth: Int) throws(BytesError) {
    guard depth >= 0 else { throw BytesError(.limitExceeded, "JSON: nested deeper than the limit") }
    switch value {
    case .null: bytes += Array("null".utf8)
    case .bool(let flag): bytes += Array((flag ? "true" : "false").utf8)
    case .integer(let number): bytes += Array(String(number).utf8)
    case .number(let number):
      guard number.isFinite else { throw BytesError(.invalidValue, "JSON: a number is not finite") }
      bytes += Array(number.description.utf8)
    case .string(let text): append(text, to: &bytes)
    case .array(let list):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in list.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        try append(element, to: &bytes, depth: depth - 1)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let object):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in object.members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        append(member.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        try append(member.value, to: &bytes, depth: depth - 1)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    guard text.utf8.contains(where: { $0 < 32 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) else {
      bytes.append(contentsOf: text.utf8)
      return bytes.append(UInt8(ascii: "\""))
    }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<32: bytes += Array("\\u00".utf8) + Array(Hex.encode([byte]).utf8)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
