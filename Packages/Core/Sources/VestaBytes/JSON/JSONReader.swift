/// A strict and total reader of JSON (RFC 8259): every input results in a value or an error, within known limits.
///
/// Refused, beyond what the grammar forbids: a name that occurs twice in an object (two readers could see different
/// values), bytes that are not UTF-8, numbers that no `Double` holds, nesting beyond the limit.
///
/// Half of a surrogate pair is read as U+FFFD: JavaScript writes it for a text that was cut within a character, and a
/// connection of which one message is refused would be lost to all others.
struct JSONReader {
  private let maximumDepth: Int
  private let bytes: ArraySlice<UInt8>
  private var index: Int
  private var depth = 0

  private init(_ bytes: ArraySlice<UInt8>, maximumDepth: Int) {
    self.bytes = bytes
    self.maximumDepth = maximumDepth
    index = bytes.startIndex
  }

  /// Reads one value and nothing after it but white space.
  static func read(_ bytes: ArraySlice<UInt8>, limits: JSONLimits) throws(BytesError) -> JSONValue {
    guard bytes.count <= limits.maximumSize else {
      throw BytesError(.limitExceeded, "JSON: the text is longer than \(limits.maximumSize) bytes")
    }
    var reader = JSONReader(bytes, maximumDepth: limits.maximumDepth)
    reader.skipSpace()
    let value = try reader.value()
    reader.skipSpace()
    guard reader.peek == nil else { throw reader.error("there is something after the value") }
    return value
  }

  private var peek: UInt8? { index < bytes.endIndex ? bytes[index] : nil }

  private func error(_ message: String) -> BytesError {
    BytesError(.malformed, "JSON at byte \(index - bytes.startIndex): \(message)")
  }

  private mutating func skipSpace() {
    while let byte = peek, byte == 32 || byte == 10 || byte == 13 || byte == 9 { index += 1 }
  }

  private mutating func skip(_ byte: UInt8) -> Bool {
    guard peek == byte else { return false }
    index += 1
    return true
  }

  private mutating func value() throws(BytesError) -> JSONValue {
    switch peek {
    case UInt8(ascii: "{"): return .object(try nested { reader throws(BytesError) in try reader.object() })
    case UInt8(ascii: "["): return .array(try nested { reader throws(BytesError) in try reader.array() })
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func nested<Result>(
    _ read: (inout JSONReader) throws(BytesError) -> Result
  ) throws(BytesError) -> Result {
    guard depth < maximumDepth else {
      throw BytesError(.limitExceeded, "JSON: nested deeper than \(maximumDepth) levels")
    }
    depth += 1
    index += 1
    skipSpace()
    let result = try read(&self)
    depth -= 1
    return result
  }

  private mutating func array() throws(BytesError) -> [JSONValue] {
    var list: [JSONValue] = []
    if skip(UInt8(ascii: "]")) { return list }
    while true {
      list.append(try value())
      skipSpace()
      if skip(UInt8(ascii: "]")) { return list }
      guard skip(UInt8(ascii: ",")) else { throw error("expected a comma or the end of the array") }
      skipSpace()
    }
  }

  private mutating func object() throws(BytesError) -> JSONObject {
    var object = JSONObject()
    if skip(UInt8(ascii: "}")) { return object }
    while true {
      let name = try string()
      skipSpace()
      guard skip(UInt8(ascii: ":")) else { throw error("expected a colon") }
      skipSpace()
      guard object.insert(JSONObject.Member(name: name, value: try value())) else {
        throw error("a name occurs twice in one object")
      }
      skipSpace()
      if skip(UInt8(ascii: "}")) { return object }
      guard skip(UInt8(ascii: ",")) else { throw error("expected a comma or the end of the object") }
      skipSpace()
    }
  }

  private mutating func word(_ word: StaticString, _ value: JSONValue) throws(BytesError) -> JSONValue {
    let expected = Array(word.description.utf8)
    guard bytes[index...].starts(with: expected) else { throw error("expected a value") }
    index += expected.count
    return value
  }

  private mutating func digits() -> Int {
    let start = index
    while let byte = peek, (48...57).contains(byte) { index += 1 }
    return index - start
  }

  private mutating func number() throws(BytesError) -> JSONValue {
    let start = index
    _ = skip(UInt8(ascii: "-"))
    let leadingZero = peek == UInt8(ascii: "0")
    let whole = digits()
    guard whole > 0, !leadingZero || whole == 1 else { throw error("expected a value") }
    var isWhole = true
    if skip(UInt8(ascii: ".")) {
      isWhole = false
      guard digits() > 0 else { throw error("expected a digit after the point") }
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      isWhole = false
      index += 1
      if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
      guard digits() > 0 else { throw error("expected a digit in the exponent") }
    }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    if isWhole, let integer = Int64(text) { return .integer(integer) }
    guard let number = Double(text), number.isFinite else { throw error("the number is out of range") }
    return .number(number)
  }

  private mutating func string() throws(BytesError) -> String {
    guard skip(UInt8(ascii: "\"")) else { throw error("expected a string") }
    let start = index
    // Most strings have no escapes: they are taken from the input in one piece.
    while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 32 { index += 1 }
    if peek == UInt8(ascii: "\"") {
      defer { index += 1 }
      return try validated(bytes[start..<index])
    }
    return try string(after: bytes[start..<index])
  }

  private func validated(_ text: ArraySlice<UInt8>) throws(BytesError) -> String {
    // Unsafe pointer, used inside the closure only: the string is made from contiguous bytes.
    guard let string = text.withUnsafeBufferPointer({ UTF8Text.string(validating: $0) }) else {
      throw error("a string is not valid UTF-8")
    }
    return string
  }

  /// Reads the rest of a string with escapes.
  private mutating func string(after start: ArraySlice<UInt8>) throws(BytesError) -> String {
    var text = Array(start)
    while let byte = peek {
      index += 1
      switch byte {
      case UInt8(ascii: "\""):
        return try validated(text[...])
      case UInt8(ascii: "\\"): try escape(into: &text)
      case 0..<32: throw error("a control character stands unescaped in a string")
      default: text.append(byte)
      }
    }
    throw error("the string does not end")
  }

  private mutating func escape(into text: inout [UInt8]) throws(BytesError) {
    guard let byte = peek else { throw error("the string does not end") }
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "u"):
      guard let character = TextEscape.unicode(bytes, at: &index) else {
        throw error("expected four hexadecimal digits")
      }
      text += character
    default:
      guard let control = TextEscape.control(byte) else { throw error("unknown escape") }
      text.append(control)
    }
  }
}
