extension Parser {
  mutating func invalidEscape(_ span: Span) -> Failure {
    issue("Invalid escape sequence in a literal.", span)
    return Failure()
  }
}

extension SourceText {
  /// The value of a token that is a float, a string or bytes; nil for other tokens, and for an unknown escape.
  func value(of token: Token) -> RulesValue? {
    switch token.kind {
    case .float:
      let digits = text(token.span)
      return Double(digits.hasPrefix(".") ? "0" + digits : digits).map { .float($0) }
    case .string: return stringValue(of: token).map { .string($0) }
    case .bytes: return bytesValue(of: token).map { .bytes($0) }
    default: return nil
    }
  }

  /// The string of a token; nil with an escape that there is not.
  func stringValue(of token: Token) -> String? {
    var units: [UInt16] = []
    var body = EscapedBytes(bytes[Int(token.span.start) + 1..<Int(token.span.end) - 1])
    while let part = body.next(allowsUnicode: true) {
      switch part {
      case .plain(let bytes): units += String(decoding: bytes, as: UTF8.self).utf16
      case .code(let code): units.append(code)
      case .invalid: return nil
      }
    }
    return String(decoding: units, as: UTF16.self)
  }

  /// The bytes of a token `b'..'`; nil with an escape that there is not.
  private func bytesValue(of token: Token) -> [UInt8]? {
    var content: [UInt8] = []
    var body = EscapedBytes(bytes[Int(token.span.start) + 2..<Int(token.span.end) - 1])
    while let part = body.next(allowsUnicode: false) {
      switch part {
      case .plain(let plain): content += plain
      case .code(let code): content.append(UInt8(truncatingIfNeeded: code))
      case .invalid: return nil
      }
    }
    return content
  }
}

/// The inside of a literal in parts: bytes as they stand, and escapes.
private struct EscapedBytes {
  enum Part {
    case plain(ArraySlice<UInt8>)
    case code(UInt16)
    case invalid
  }

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  mutating func next(allowsUnicode: Bool) -> Part? {
    guard let first = rest.first else { return nil }
    guard first == UInt8(ascii: "\\") else {
      let plain = rest.prefix { $0 != UInt8(ascii: "\\") }
      rest = rest[plain.endIndex...]
      return .plain(plain)
    }
    rest = rest.dropFirst()
    guard let kind = rest.popFirst() else { return .invalid }
    switch kind {
    case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""): return .code(UInt16(kind))
    case UInt8(ascii: "n"): return .code(10)
    case UInt8(ascii: "r"): return .code(13)
    case UInt8(ascii: "t"): return .code(9)
    case UInt8(ascii: "b"): return .code(8)
    case UInt8(ascii: "f"): return .code(12)
    case UInt8(ascii: "x"): return digits(2, radix: 16, value: 0)
    case UInt8(ascii: "u") where allowsUnicode: return digits(4, radix: 16, value: 0)
    case UInt8(ascii: "0")...UInt8(ascii: "3"): return digits(2, radix: 8, value: UInt16(kind - 48))
    default: return .invalid
    }
  }

  private mutating func digits(_ count: Int, radix: UInt16, value: UInt16) -> Part {
    var value = value
    for _ in 0..<count {
      guard let byte = rest.popFirst(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue, digit < radix else {
        return .invalid
      }
      value = value * radix + UInt16(digit)
    }
    return .code(value)
  }
}
