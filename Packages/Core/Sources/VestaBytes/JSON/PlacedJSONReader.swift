/// Reads the text of a placed value.
struct PlacedJSONReader {
  private typealias Failure = PlacedJSON.Failure

  private let bytes: [UInt8]
  private var index = 0
  private var depth = 0

  static func read(_ bytes: [UInt8]) throws(PlacedJSON.Failure) -> PlacedJSON {
    var reader = PlacedJSONReader(bytes: bytes)
    let value = try reader.value()
    try reader.skipBlanks()
    guard reader.index == bytes.count else { throw Failure(at: reader.index) }
    return value
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func skipBlanks() throws(Failure) {
    while let next = byte {
      if next == 32 || next == 9 || next == 10 || next == 13 {
        index += 1
      } else if next == UInt8(ascii: "/"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "/") {
        while let next = byte, next != 10 { index += 1 }
      } else if next == UInt8(ascii: "/"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "*") {
        let start = index
        index += 2
        while index + 1 < bytes.count, bytes[index] != UInt8(ascii: "*") || bytes[index + 1] != UInt8(ascii: "/") {
          index += 1
        }
        guard index + 1 < bytes.count else { throw Failure(at: start) }
        index += 2
      } else {
        return
      }
    }
  }

  private mutating func expect(_ wanted: UInt8) throws(Failure) {
    try skipBlanks()
    guard byte == wanted else { throw Failure(at: index) }
    index += 1
  }

  private mutating func skip(_ wanted: UInt8) throws(Failure) -> Bool {
    try skipBlanks()
    guard byte == wanted else { return false }
    index += 1
    return true
  }

  private mutating func value() throws(Failure) -> PlacedJSON {
    try skipBlanks()
    let start = index
    switch byte {
    case UInt8(ascii: "{"): return .object(try members(), at: start)
    case UInt8(ascii: "["): return .array(try elements(), at: start)
    case UInt8(ascii: "\""):
      let text = try string()
      return .string(text.bytes, places: text.places, at: start)
    default: return try word(start)
    }
  }

  private mutating func enter() throws(Failure) {
    guard depth < 100 else { throw Failure(at: index) }
    depth += 1
    index += 1
  }

  private mutating func members() throws(Failure) -> [PlacedJSON.Member] {
    try enter()
    var list: [PlacedJSON.Member] = []
    while try !skip(UInt8(ascii: "}")) {
      if !list.isEmpty { try expect(UInt8(ascii: ",")) }
      // A comma may stand before the closing brace.
      if !list.isEmpty, try skip(UInt8(ascii: "}")) { break }
      try skipBlanks()
      let start = index
      guard byte == UInt8(ascii: "\"") else { throw Failure(at: index) }
      let name = String(decoding: try string().bytes, as: UTF8.self)
      try expect(UInt8(ascii: ":"))
      list.append(PlacedJSON.Member(name: name, at: start, value: try value()))
    }
    depth -= 1
    return list
  }

  private mutating func elements() throws(Failure) -> [PlacedJSON] {
    try enter()
    var list: [PlacedJSON] = []
    while try !skip(UInt8(ascii: "]")) {
      if !list.isEmpty { try expect(UInt8(ascii: ",")) }
      list.append(try value())
    }
    depth -= 1
    return list
  }

  private mutating func word(_ start: Int) throws(Failure) -> PlacedJSON {
    while let next = byte, Self.isPartOfWord(next) { index += 1 }
    switch String(decoding: bytes[start..<index], as: UTF8.self) {
    case "true": return .bool(true, at: start)
    case "false": return .bool(false, at: start)
    case "null": return .other(.null, at: start)
    case let text:
      guard let first = text.utf8.first, first == UInt8(ascii: "-") || first &- 48 < 10, let number = Double(text)
      else { throw Failure(at: start) }
      return .other(Int64(text).map { .integer($0) } ?? .number(number), at: start)
    }
  }

  private static func isPartOfWord(_ byte: UInt8) -> Bool {
    byte &- 48 < 10 || (byte | 32) &- 97 < 26 || "_-+.".utf8.contains(byte)
  }

  private mutating func string() throws(Failure) -> (bytes: [UInt8], places: [Int32]) {
    index += 1
    var (text, places): ([UInt8], [Int32]) = ([], [])
    while let next = byte {
      let start = index
      index += 1
      if next == UInt8(ascii: "\"") { return (text, places) }
      let part = next == UInt8(ascii: "\\") ? try escape() : [next]
      text += part
      places += part.map { _ in Int32(start) }
    }
    throw Failure(at: index)
  }

  private mutating func escape() throws(Failure) -> [UInt8] {
    guard let kind = byte else { throw Failure(at: index) }
    index += 1
    switch kind {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [kind]
    case UInt8(ascii: "u"):
      guard let character = TextEscape.unicode(bytes[...], at: &index) else { throw Failure(at: index) }
      return character
    default:
      guard let control = TextEscape.control(kind) else { throw Failure(at: index - 1) }
      return [control]
    }
  }
}
