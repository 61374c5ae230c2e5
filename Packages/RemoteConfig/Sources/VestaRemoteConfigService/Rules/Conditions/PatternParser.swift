/// Parses the source of a ``LinearPattern``.
struct PatternParser {
  private let scalars: [Unicode.Scalar]
  private var index = 0
  private var depth = 0

  private typealias CharacterSet = LinearPattern.CharacterSet
  private typealias SyntaxError = LinearPattern.SyntaxError

  init(_ source: String) { scalars = Array(source.unicodeScalars) }

  mutating func parse() throws(LinearPattern.SyntaxError) -> LinearPattern.Node {
    guard scalars.count <= 1000 else { throw SyntaxError("It is longer than 1000 characters.") }
    let node = try choice()
    guard index == scalars.count else { throw SyntaxError("There is a \")\" without its \"(\".") }
    return node
  }

  private var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  private mutating func accept(_ scalar: Unicode.Scalar) -> Bool {
    guard peek == scalar else { return false }
    index += 1
    return true
  }

  private mutating func choice() throws(LinearPattern.SyntaxError) -> LinearPattern.Node {
    var nodes = [try sequence()]
    while accept("|") { nodes.append(try sequence()) }
    return nodes.count == 1 ? nodes[0] : .choice(nodes)
  }

  private mutating func sequence() throws(LinearPattern.SyntaxError) -> LinearPattern.Node {
    var nodes: [LinearPattern.Node] = []
    while let scalar = peek, scalar != "|", scalar != ")" { nodes.append(try repeated()) }
    return nodes.isEmpty ? .empty : .sequence(nodes)
  }

  private mutating func repeated() throws(LinearPattern.SyntaxError) -> LinearPattern.Node {
    let node = try atom()
    guard let (minimum, maximum) = try repetition() else { return node }
    // Reluctant repetition finds the same texts.
    _ = accept("?")
    // Other engines read a second one as possessive, or refuse it.
    if let scalar = peek, "*+?{".unicodeScalars.contains(scalar) {
      throw SyntaxError("A \"\(scalar)\" follows another repetition. Put the first one into a group.")
    }
    return .repeated(node, minimum: minimum, maximum: maximum)
  }

  private mutating func repetition() throws(LinearPattern.SyntaxError) -> (Int, Int?)? {
    if accept("*") { return (0, nil) }
    if accept("+") { return (1, nil) }
    if accept("?") { return (0, 1) }
    return peek == "{" ? try counts() : nil
  }

  /// `{2}`, `{2,}` or `{2,5}`; leaves the index after the closing bracket.
  private mutating func counts() throws(LinearPattern.SyntaxError) -> (Int, Int?) {
    guard let close = scalars[index...].firstIndex(of: "}") else { throw SyntaxError("A \"{\" does not end.") }
    let text = String(String.UnicodeScalarView(scalars[(index + 1)..<close]))
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard let minimum = parts.first.flatMap({ Int($0) }), parts.count <= 2, (0...100).contains(minimum) else {
      throw SyntaxError("Counts are between 0 and 100, as in {2,5}.")
    }
    index = close + 1
    guard parts.count == 2 else { return (minimum, minimum) }
    if parts[1].isEmpty { return (minimum, nil) }
    guard let maximum = Int(parts[1]), (minimum...100).contains(maximum) else {
      throw SyntaxError("Counts are between 0 and 100, as in {2,5}.")
    }
    return (minimum, maximum)
  }

  private mutating func atom() throws(LinearPattern.SyntaxError) -> LinearPattern.Node {
    guard let scalar = peek else { return .empty }
    index += 1
    switch scalar {
    case "(": return try group()
    case "[": return .character(try characterClass())
    case ".": return .character(CharacterSet(ranges: [10...10], isNegated: true))
    case "^": return .start
    case "$": return .end
    case "\\": return .character(try escape())
    case "*", "+", "?": throw SyntaxError("A \"\(scalar)\" has nothing to repeat.")
    default: return .character(CharacterSet(ranges: [scalar.value...scalar.value]))
    }
  }

  private mutating func group() throws(LinearPattern.SyntaxError) -> LinearPattern.Node {
    guard depth < 50 else { throw SyntaxError("Groups are nested deeper than 50 levels.") }
    depth += 1
    if accept("?"), !accept(":") { throw SyntaxError("Groups of this kind are not supported; use (?:…) or (…).") }
    let node = try choice()
    guard accept(")") else { throw SyntaxError("A \"(\" does not end.") }
    depth -= 1
    return node
  }

  private mutating func escape() throws(LinearPattern.SyntaxError) -> LinearPattern.CharacterSet {
    guard let scalar = peek else { throw SyntaxError("It ends with a \"\\\".") }
    index += 1
    switch scalar {
    case "d": return Self.digits
    case "D": return negated(Self.digits)
    case "w": return Self.letters
    case "W": return negated(Self.letters)
    case "s": return Self.spaces
    case "S": return negated(Self.spaces)
    case "t": return CharacterSet(ranges: [9...9])
    case "n": return CharacterSet(ranges: [10...10])
    case "r": return CharacterSet(ranges: [13...13])
    case _ where scalar.isASCII && (Self.letters.contains(scalar.value)) && scalar != "_":
      throw SyntaxError("\"\\\(scalar)\" is not supported.")
    default: return CharacterSet(ranges: [scalar.value...scalar.value])
    }
  }

  private func negated(_ set: LinearPattern.CharacterSet) -> LinearPattern.CharacterSet {
    CharacterSet(ranges: set.ranges, isNegated: !set.isNegated)
  }

  private mutating func characterClass() throws(LinearPattern.SyntaxError) -> LinearPattern.CharacterSet {
    var set = CharacterSet(ranges: [], isNegated: accept("^"))
    var isFirst = true
    while let scalar = peek, scalar != "]" || isFirst {
      isFirst = false
      if scalar == "[", index + 1 < scalars.count, ":.=".unicodeScalars.contains(scalars[index + 1]) {
        throw SyntaxError("Named classes such as [:alpha:] are not supported; use a range such as a-z.")
      }
      let members = try classMember()
      guard !members.isNegated else { throw SyntaxError("\\D, \\W and \\S are not supported in brackets.") }
      set.ranges += members.ranges
    }
    guard accept("]") else { throw SyntaxError("A \"[\" does not end.") }
    return set
  }

  /// A character, a range of them, or an escape.
  private mutating func classMember() throws(LinearPattern.SyntaxError) -> LinearPattern.CharacterSet {
    guard let lower = try single() else { return try escape() }
    guard peek == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
      return CharacterSet(ranges: [lower.value...lower.value])
    }
    index += 1
    guard let upper = try single(), lower <= upper else { throw SyntaxError("The range in brackets is not one.") }
    return CharacterSet(ranges: [lower.value...upper.value])
  }

  /// One literal character; `nil` before an escape that matches several, with the index after its backslash.
  private mutating func single() throws(LinearPattern.SyntaxError) -> Unicode.Scalar? {
    guard let scalar = peek else { throw SyntaxError("A \"[\" does not end.") }
    index += 1
    guard scalar == "\\" else { return scalar }
    guard let escaped = peek, "\\]-^[.".unicodeScalars.contains(escaped) else { return nil }
    index += 1
    return escaped
  }

  private static let digits = LinearPattern.CharacterSet(ranges: [48...57])
  private static let letters = LinearPattern.CharacterSet(ranges: [48...57, 65...90, 95...95, 97...122])
  private static let spaces = LinearPattern.CharacterSet(ranges: [9...13, 32...32])
}
