/// Escapes: assertions, classes such as `\d` and `\p{L}`, and characters by number.
extension PatternParser {
  mutating func escaped() throws(PatternError) -> PatternTree {
    guard let next = peek(1) else { throw error("trailing \\") }
    switch next {
    case "A", "z", "b", "B":
      index += 2
      return .assertion(
        next == "A" ? .textStart : next == "z" ? .textEnd : next == "b" ? .wordBoundary : .noWordBoundary)
    default:
      if let set = try escapedClass() { return .set(set) }
      return try literal(try escapedScalar())
    }
  }

  /// A class such as `\d` or `\p{L}` at the current backslash.
  ///
  /// Where case is ignored, it has both cases, and its negation (`\W`) neither.
  mutating func escapedClass() throws(PatternError) -> ScalarSet? {
    guard let next = peek(1) else { throw error("trailing \\") }
    switch next {
    case "d", "D", "s", "S", "w", "W":
      index += 2
      let set: ScalarSet = next == "d" || next == "D" ? .digits : next == "s" || next == "S" ? .spaces : .words
      return try counted(next.properties.isUppercase ? try folded(set).inverted : try folded(set))
    case "p", "P":
      index += 2
      return try category(isInverted: next == "P")
    default: return nil
    }
  }

  private mutating func category(isInverted: Bool) throws(PatternError) -> ScalarSet {
    var name = ""
    var isInverted = isInverted
    if skip("{") {
      if skip("^") { isInverted.toggle() }
      while let next = peek(), next != "}" {
        name.unicodeScalars.append(next)
        index += 1
      }
      guard skip("}") else { throw error("invalid character class range") }
    } else if let next = peek() {
      name = String(next)
      index += 1
    }
    guard let set = ScalarSet.category(name) else {
      throw error("unknown character class \(name.prefix(20))")
    }
    return try counted(isInverted ? try folded(set).inverted : try folded(set))
  }

  mutating func escapedScalar() throws(PatternError) -> UInt32 {
    guard let next = peek(1) else { throw error("trailing \\") }
    index += 2
    switch next {
    case "a": return 7
    case "f": return 12
    case "t": return 9
    case "n": return 10
    case "r": return 13
    case "v": return 11
    case "x": return try hexadecimal()
    case "0"..."7": return try octal(next.value - 48)
    default:
      guard next.value < 128, !ScalarSet.words.contains(next.value) || next == "_" else {
        throw error("invalid escape sequence: \\\(next)")
      }
      return next.value
    }
  }

  private mutating func octal(_ first: UInt32) throws(PatternError) -> UInt32 {
    // A single digit other than zero would be a back-reference.
    guard first == 0 || peek().map({ ("0"..."7").contains($0) }) ?? false else {
      throw error("invalid escape sequence: back-references are not supported")
    }
    var value = first
    for _ in 0..<2 {
      guard let digit = peek(), ("0"..."7").contains(digit) else { break }
      value = value * 8 + digit.value - 48
      index += 1
    }
    return value
  }

  private mutating func hexadecimal() throws(PatternError) -> UInt32 {
    let isBraced = skip("{")
    var (value, count): (UInt32, Int) = (0, 0)
    while let digit = peek().flatMap({ Character($0).hexDigitValue }), isBraced || count < 2 {
      value = min(value * 16 + UInt32(digit), 0x110000)
      count += 1
      index += 1
    }
    guard isBraced ? count > 0 && skip("}") : count == 2, value <= ScalarSet.maximum else {
      throw error("invalid escape sequence: \\x")
    }
    return value
  }
}
