/// A token of a condition expression.
struct ConditionToken: Equatable, Sendable {
  enum Kind: Equatable, Sendable {
    /// A word such as `device` or `percent`.
    case word(String)
    /// A string in quotes.
    case string(String)
    case number(Double)
    /// A symbol such as `&&`, `<=` or `[`.
    case symbol(String)
    case end
  }

  var kind: Kind
  /// The index of its first byte.
  var start: Int
}

/// Reads the tokens of a condition expression.
///
/// Worked example: `app.version.>=(['2.0']) && percent <= 10` has the tokens `app` `.` `version` `.` `>=` `(` `[`
/// `'2.0'` `]` `)` `&&` `percent` `<=` `10` and the end.
struct ConditionLexer {
  private let bytes: [UInt8]
  private var index = 0

  /// The longest expression that is read.
  static let maximumLength = 10_000

  init(_ expression: String) { bytes = Array(expression.utf8) }

  /// All tokens, the end as the last one.
  static func tokens(of expression: String) throws(ConditionSyntaxError) -> [ConditionToken] {
    guard expression.utf8.count <= maximumLength else {
      throw ConditionSyntaxError(at: 0, "The expression is longer than \(maximumLength) bytes.")
    }
    var lexer = ConditionLexer(expression)
    var tokens: [ConditionToken] = []
    repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
    return tokens
  }

  private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func next() throws(ConditionSyntaxError) -> ConditionToken {
    while let byte = peek, isSpace(byte) { index += 1 }
    let start = index
    guard let byte = peek else { return ConditionToken(kind: .end, start: start) }
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "\""): return ConditionToken(kind: .string(try string()), start: start)
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
      return ConditionToken(kind: .number(try number()), start: start)
    case _ where isLetter(byte): return ConditionToken(kind: .word(word()), start: start)
    default: return ConditionToken(kind: .symbol(try symbol()), start: start)
    }
  }

  private func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      || byte == UInt8(ascii: "_")
  }

  private func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

  private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private mutating func word() -> String {
    let start = index
    while let byte = peek, isLetter(byte) || isDigit(byte) { index += 1 }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  private mutating func number() throws(ConditionSyntaxError) -> Double {
    let start = index
    index += 1
    while let byte = peek, isDigit(byte) || byte == UInt8(ascii: ".") {
      // `1.<` is not a number with a fraction.
      if byte == UInt8(ascii: "."), index + 1 >= bytes.count || !isDigit(bytes[index + 1]) { break }
      index += 1
    }
    guard let value = Double(String(decoding: bytes[start..<index], as: UTF8.self)) else {
      throw ConditionSyntaxError(at: start, "This is not a number.")
    }
    return value
  }

  private mutating func string() throws(ConditionSyntaxError) -> String {
    let start = index
    let quote = bytes[index]
    var text: [UInt8] = []
    index += 1
    while let byte = peek {
      index += 1
      if byte == quote { return String(decoding: text, as: UTF8.self) }
      if byte == UInt8(ascii: "\\"), let escaped = peek, escaped == quote || escaped == byte {
        index += 1
        text.append(escaped)
      } else {
        text.append(byte)
      }
    }
    throw ConditionSyntaxError(at: start, "The string that begins here does not end.")
  }

  private mutating func symbol() throws(ConditionSyntaxError) -> String {
    for symbol in ["&&", "||", "<=", ">=", "==", "!=", "<", ">", "!", "(", ")", "[", "]", ",", "."]
    where bytes[index...].starts(with: symbol.utf8) {
      if symbol == "&&", !isBetweenSpaces(symbol.utf8.count) {
        throw ConditionSyntaxError(at: index, "There has to be a space on both sides of \"&&\".")
      }
      index += symbol.utf8.count
      return symbol
    }
    throw ConditionSyntaxError(at: index, "This character is not part of the condition language.")
  }

  /// Whether the next bytes have a space, or an end of the expression, on both sides.
  private func isBetweenSpaces(_ count: Int) -> Bool {
    let end = index + count
    return (index == 0 || isSpace(bytes[index - 1])) && (end == bytes.count || isSpace(bytes[end]))
  }
}

/// Why an expression is not one, and where.
struct ConditionSyntaxError: Error, Equatable, Sendable {
  /// The index of the byte at which the mistake is.
  let position: Int
  let message: String

  init(at position: Int, _ message: String) {
    self.position = position
    self.message = message
  }

  /// The number of the character at which the mistake is, counted from 1.
  func column(in expression: String) -> Int {
    let bytes = expression.utf8
    let index = bytes.index(bytes.startIndex, offsetBy: position, limitedBy: bytes.endIndex) ?? bytes.endIndex
    return expression.distance(from: expression.startIndex, to: index) + 1
  }
}
