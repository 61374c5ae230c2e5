public import VestaBytes

/// Reads the text of rules: JSON with comments, with line ends in strings, and with a comma after the last member of
/// an object.
///
/// Everything that the compiler of rules accepts is accepted, with the same meaning, so that rules in force always have
/// their indexes; of a name that occurs twice in an object the last value counts.
///
/// ```swift
/// let rules = try RulesText.read(#"{"rules": {".read": true, /* all */ "rooms": {".indexOn": "size"},}}"#)
/// ```
public struct RulesText {
  private let bytes: [UInt8]
  private var index = 0
  private var depth = 0

  /// The value of the text.
  ///
  /// - Throws: `BytesError` with `.malformed` and the offset of the first byte that cannot be read, or with
  ///   `.limitExceeded` for more than 100 levels.
  public static func read(_ text: String) throws(BytesError) -> JSONValue {
    var reader = RulesText(bytes: Array(text.utf8))
    let value = try reader.value()
    try reader.skipBlanks()
    guard reader.index == reader.bytes.count else { throw reader.failure() }
    return value
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }
  private var nextByte: UInt8? { index + 1 < bytes.count ? bytes[index + 1] : nil }

  private func failure() -> BytesError { BytesError(.malformed, "The rules cannot be read at byte \(index).") }

  // MARK: Blanks

  private mutating func skipBlanks() throws(BytesError) {
    while let next = byte {
      switch (next, nextByte) {
      case (9, _), (10, _), (13, _), (32, _): index += 1
      case (UInt8(ascii: "/"), UInt8(ascii: "/")):
        while let next = byte, next != 10 { index += 1 }
      case (UInt8(ascii: "/"), UInt8(ascii: "*")): try skipBlock()
      default: return
      }
    }
  }

  private mutating func skipBlock() throws(BytesError) {
    let start = index
    index += 2
    while byte != UInt8(ascii: "*") || nextByte != UInt8(ascii: "/") {
      guard index < bytes.count else {
        index = start
        throw failure()
      }
      index += 1
    }
    index += 2
  }

  private mutating func skip(_ wanted: UInt8) throws(BytesError) -> Bool {
    try skipBlanks()
    guard byte == wanted else { return false }
    index += 1
    return true
  }

  private mutating func expect(_ wanted: UInt8) throws(BytesError) {
    guard try skip(wanted) else { throw failure() }
  }

  // MARK: Values

  private mutating func value() throws(BytesError) -> JSONValue {
    try skipBlanks()
    switch byte {
    case UInt8(ascii: "{"): return .object(try members())
    case UInt8(ascii: "["): return .array(try elements())
    case UInt8(ascii: "\""): return .string(try string())
    default: return try word()
    }
  }

  private mutating func enter() throws(BytesError) {
    guard depth < 100 else { throw BytesError(.limitExceeded, "The rules have more than 100 levels.") }
    depth += 1
    index += 1
  }

  private mutating func members() throws(BytesError) -> JSONObject {
    try enter()
    var object = JSONObject()
    while try !skip(UInt8(ascii: "}")) {
      if !object.isEmpty {
        try expect(UInt8(ascii: ","))
        if try skip(UInt8(ascii: "}")) { break }
        try skipBlanks()
      }
      guard byte == UInt8(ascii: "\"") else { throw failure() }
      let name = try string()
      try expect(UInt8(ascii: ":"))
      object[name] = try value()
    }
    depth -= 1
    return object
  }

  private mutating func elements() throws(BytesError) -> [JSONValue] {
    try enter()
    var list: [JSONValue] = []
    while try !skip(UInt8(ascii: "]")) {
      if !list.isEmpty { try expect(UInt8(ascii: ",")) }
      list.append(try value())
    }
    depth -= 1
    return list
  }

  /// A literal or a number.
  private mutating func word() throws(BytesError) -> JSONValue {
    let start = index
    while let next = byte, Self.isPartOfWord(next) { index += 1 }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    switch text {
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "null": return .null
    default:
      if let first = text.utf8.first, first == UInt8(ascii: "-") || first &- 48 < 10, let number = Double(text) {
        return Int64(text).map { .integer($0) } ?? .number(number)
      }
      index = start
      throw failure()
    }
  }

  private static func isPartOfWord(_ byte: UInt8) -> Bool {
    byte &- 48 < 10 || (byte | 32) &- 97 < 26 || "_-+.".utf8.contains(byte)
  }

  // MARK: Strings

  private mutating func string() throws(BytesError) -> String {
    index += 1
    var text: [UInt8] = []
    while let next = byte {
      index += 1
      if next == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
      if next == UInt8(ascii: "\\") { text += try escape() } else { text.append(next) }
    }
    throw failure()
  }

  private mutating func escape() throws(BytesError) -> [UInt8] {
    guard let kind = byte else { throw failure() }
    index += 1
    switch kind {
    case UInt8(ascii: "n"): return [10]
    case UInt8(ascii: "r"): return [13]
    case UInt8(ascii: "t"): return [9]
    case UInt8(ascii: "b"): return [8]
    case UInt8(ascii: "f"): return [12]
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [kind]
    case UInt8(ascii: "u"): return try unicodeEscape()
    default:
      index -= 1
      throw failure()
    }
  }

  /// The character after `\u`, of two escapes where the first is the upper half of a surrogate pair.
  private mutating func unicodeEscape() throws(BytesError) -> [UInt8] {
    var units = [try unit()]
    if units[0] & 0xFC00 == 0xD800, byte == UInt8(ascii: "\\"), nextByte == UInt8(ascii: "u") {
      index += 2
      units.append(try unit())
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }

  private mutating func unit() throws(BytesError) -> UInt16 {
    // A sign is no digit, though a number may have one.
    guard index + 4 <= bytes.count, bytes[index] != UInt8(ascii: "+"), bytes[index] != UInt8(ascii: "-"),
      let value = UInt16(String(decoding: bytes[index..<(index + 4)], as: UTF8.self), radix: 16)
    else { throw failure() }
    index += 4
    return value
  }
}
