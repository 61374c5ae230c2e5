/// Writes JSON without spaces, members in their order.
enum JSONWriter {
  /// The bytes of an object.
  static func write(_ object: JWTObject) throws(CryptoError) -> [UInt8] {
    var bytes: [UInt8] = []
    try append(.object(object), to: &bytes, depth: 0)
    return bytes
  }

  private static func append(_ value: JWTValue, to bytes: inout [UInt8], depth: Int) throws(CryptoError) {
    guard depth <= JSONReader.maximumDepth else {
      throw CryptoError(.limitExceeded, "JSON: nested deeper than \(JSONReader.maximumDepth) levels")
    }
    switch value {
    case .null: bytes += Array("null".utf8)
    case .bool(let flag): bytes += Array((flag ? "true" : "false").utf8)
    case .integer(let number): bytes += Array(String(number).utf8)
    case .number(let number):
      guard number.isFinite else { throw CryptoError(.invalidParameter, "JSON: a number is not finite") }
      bytes += Array(number.description.utf8)
    case .string(let text): append(text, to: &bytes)
    case .array(let list):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in list.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        try append(element, to: &bytes, depth: depth + 1)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let object):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in object.members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        append(member.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        try append(member.value, to: &bytes, depth: depth + 1)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
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
