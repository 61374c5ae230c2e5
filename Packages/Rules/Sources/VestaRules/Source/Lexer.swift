/// Cuts a source into tokens.
///
/// A slash is a sign: whether it divides or begins a path is decided by the parser, which then reads the segment from
/// here.
struct Lexer {
  let source: SourceText
  private(set) var index = 0
  /// The range of a comment that does not end.
  private(set) var openComment: Span?

  init(_ source: SourceText) { self.source = source }

  private func byte(_ offset: Int = 0) -> UInt8? {
    index + offset < source.bytes.count ? source.bytes[index + offset] : nil
  }

  /// Continues at a byte.
  mutating func seek(to offset: Int) { index = offset }

  /// The next token; `.end` again and again at the end.
  mutating func next() -> Token {
    skipBlanks()
    let start = index
    guard let first = byte() else { return Token(kind: .end, span: Span(start, start)) }
    if Lexer.isNameStart(first) { return nameOrBytes(from: start, first) }
    if Lexer.isDigit(first) || first == UInt8(ascii: "."),
      byte(first == UInt8(ascii: ".") ? 1 : 0).map(Lexer.isDigit) ?? false
    {
      return number(from: start)
    }
    if Lexer.isQuote(first) { return string(from: start, kind: .string) }
    return sign(from: start, first)
  }

  /// Reads a name, or bytes where it is a `b` before a quote.
  private mutating func nameOrBytes(from start: Int, _ first: UInt8) -> Token {
    if first == UInt8(ascii: "b") || first == UInt8(ascii: "B"), let quote = byte(1), Lexer.isQuote(quote) {
      index += 1
      return string(from: start, kind: .bytes)
    }
    while let byte = byte(), Lexer.isNamePart(byte) { index += 1 }
    return Token(kind: .identifier, span: Span(start, index))
  }

  private mutating func skipBlanks() {
    while let first = byte() {
      switch first {
      case 32, 9, 10, 13, 12: index += 1
      case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"):
        while let byte = byte(), byte != 10 { index += 1 }
      case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"): skipBlockComment()
      default: return
      }
    }
  }

  private mutating func skipBlockComment() {
    let start = index
    index += 2
    while index < source.bytes.count {
      if byte() == UInt8(ascii: "*"), byte(1) == UInt8(ascii: "/") {
        index += 2
        return
      }
      index += 1
    }
    openComment = Span(start, start + 2)
  }

  private mutating func number(from start: Int) -> Token {
    var isFloat = false
    skipDigits()
    if byte() == UInt8(ascii: "."), byte(1).map(Lexer.isDigit) ?? false {
      isFloat = true
      index += 1
      skipDigits()
    }
    if byte() == UInt8(ascii: "e") || byte() == UInt8(ascii: "E") {
      let sign = byte(1) == UInt8(ascii: "+") || byte(1) == UInt8(ascii: "-") ? 1 : 0
      if byte(1 + sign).map(Lexer.isDigit) ?? false {
        isFloat = true
        index += 1 + sign
        skipDigits()
      }
    }
    return Token(kind: isFloat ? .float : .integer, span: Span(start, index))
  }

  private mutating func skipDigits() { while let byte = byte(), Lexer.isDigit(byte) { index += 1 } }

  /// Reads to the closing quote; a line end before it makes the token unknown.
  ///
  /// Escapes are looked at by the parser.
  private mutating func string(from start: Int, kind: Token.Kind) -> Token {
    let quote = byte()
    index += 1
    while let byte = byte(), byte != 10, byte != 13 {
      index += 1
      if byte == quote { return Token(kind: kind, span: Span(start, index)) }
      if byte == UInt8(ascii: "\\"), let next = self.byte(), next != 10, next != 13 { index += 1 }
    }
    return Token(kind: .unknown, span: Span(start, max(index, start + 1)))
  }

  private mutating func sign(from start: Int, _ first: UInt8) -> Token {
    if let second = byte(1), let sign = Lexer.twoByteSign(first, second) {
      index += 2
      return Token(kind: .sign(sign), span: Span(start, index))
    }
    index += 1
    if first < 0x80, let sign = Lexer.oneByteSigns[Int(first)] {
      return Token(kind: .sign(sign), span: Span(start, index))
    }
    while let byte = byte(), byte & 0xC0 == 0x80 { index += 1 }
    return Token(kind: .unknown, span: Span(start, index))
  }

  private static let oneByteSigns: [Token.Sign?] = (0..<128).map {
    Token.Sign(rawValue: String(Unicode.Scalar(UInt8($0))))
  }

  private static func twoByteSign(_ first: UInt8, _ second: UInt8) -> Token.Sign? {
    switch (first, second) {
    case (UInt8(ascii: "="), UInt8(ascii: "=")): .equal
    case (UInt8(ascii: "!"), UInt8(ascii: "=")): .notEqual
    case (UInt8(ascii: "<"), UInt8(ascii: "=")): .lessOrEqual
    case (UInt8(ascii: ">"), UInt8(ascii: "=")): .greaterOrEqual
    case (UInt8(ascii: "&"), UInt8(ascii: "&")): .and
    case (UInt8(ascii: "|"), UInt8(ascii: "|")): .or
    default: nil
    }
  }

  /// The slash and the first segment of a path whose slash is a token.
  func firstSegment(after slash: Token) -> Span {
    var ahead = self
    ahead.seek(to: Int(slash.span.end))
    let segment = ahead.pathSegment()
    return Span(Int(slash.span.start), Int(segment.end))
  }

  /// Reads the characters of a path segment after its slash; empty where there are none.
  ///
  /// Parentheses belong to a segment only as a pair around a name, as in `(default)`.
  mutating func pathSegment() -> Span {
    let start = index
    if byte() == UInt8(ascii: "(") {
      var end = index + 1
      while end < source.bytes.count, Lexer.isSegmentPart(source.bytes[end]) { end += 1 }
      guard end > index + 1, end < source.bytes.count, source.bytes[end] == UInt8(ascii: ")") else {
        return Span(start, start)
      }
      index = end + 1
    }
    while let byte = byte(), Lexer.isSegmentPart(byte) { index += 1 }
    return Span(start, index)
  }

  /// Whether the bytes from here on are a string.
  func isAt(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { source.bytes[index...].starts(with: $0) }
  }

  private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") }
  static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
  static func isNameStart(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) || byte == 95 }
  static func isNamePart(_ byte: UInt8) -> Bool { isNameStart(byte) || isDigit(byte) }

  private static func isSegmentPart(_ byte: UInt8) -> Bool {
    if isNamePart(byte) || byte >= 0x80 { return true }
    switch byte {
    case UInt8(ascii: "-"), UInt8(ascii: "%"), UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: ":"),
      UInt8(ascii: "@"),
      UInt8(ascii: "+"):
      return true
    default: return false
    }
  }
}
