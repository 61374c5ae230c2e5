/// A regular expression as a tree.
indirect enum PatternTree: Sendable {
  case empty
  case set(ScalarSet)
  case assertion(PatternAssertion)
  case sequence([PatternTree])
  case alternatives([PatternTree])
  case repetition(PatternTree, minimum: Int, maximum: Int?, isGreedy: Bool)
}

/// A condition on a place between two characters.
enum PatternAssertion: UInt8, Sendable {
  case textStart, textEnd, lineStart, lineEnd, wordBoundary, noWordBoundary
}

/// Reads the syntax of RE2.
struct PatternParser {
  struct Flags {
    var ignoresCase = false
    var dotIsAll = false
    var isMultiline = false
    var isUngreedy = false
  }

  private let scalars: [Unicode.Scalar]
  private var index = 0
  private var flags = Flags()
  private let limits: PatternLimits
  /// The ranges of the classes so far: text from outside may repeat large ones, and each of them costs time and memory.
  private var ranges = 0
  /// The steps that were taken so far.
  private var steps = 0
  private var depth = 0

  init(_ text: String, limits: PatternLimits) {
    scalars = Array(text.unicodeScalars)
    self.limits = limits
  }

  /// Reads an expression.
  ///
  /// - Returns: The tree, and the steps that it took.
  static func parse(
    _ text: String, limits: PatternLimits, ignoresCase: Bool
  ) throws(PatternError) -> (tree: PatternTree, steps: Int) {
    var parser = PatternParser(text, limits: limits)
    parser.flags.ignoresCase = ignoresCase
    do throws(PatternError) {
      try parser.take(text.utf8.count)
      let tree = try parser.alternatives()
      guard parser.index == parser.scalars.count else { throw parser.error("unexpected )") }
      return (tree, parser.steps)
    } catch {
      throw error.after(parser.steps)
    }
  }

  private mutating func take(_ count: Int) throws(PatternError) {
    steps += count
    guard steps <= limits.steps else { throw PatternError(.tooLarge, "the expression takes too long to read") }
  }

  private func error(_ text: String) -> PatternError { PatternError(.syntax, text) }

  private func peek(_ offset: Int = 0) -> Unicode.Scalar? {
    index + offset < scalars.count ? scalars[index + offset] : nil
  }

  private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard peek() == scalar else { return false }
    index += 1
    return true
  }

  private mutating func skip(text: String) -> Bool {
    let wanted = Array(text.unicodeScalars)
    guard scalars[index...].starts(with: wanted) else { return false }
    index += wanted.count
    return true
  }

  // MARK: Structure

  private mutating func alternatives() throws(PatternError) -> PatternTree {
    var list = [try sequence()]
    while skip("|") { list.append(try sequence()) }
    return list.count == 1 ? list[0] : .alternatives(list)
  }

  private mutating func sequence() throws(PatternError) -> PatternTree {
    var list: [PatternTree] = []
    while let next = peek(), next != "|", next != ")" {
      try take(4)
      if skip(text: "\\Q") {
        list += try quoted()
        if let last = list.popLast() { list.append(try quantified(last)) }
      } else if let atom = try atom() {
        list.append(try quantified(atom))
      }
    }
    return list.count == 1 ? list[0] : list.isEmpty ? .empty : .sequence(list)
  }

  private mutating func quoted() throws(PatternError) -> [PatternTree] {
    var list: [PatternTree] = []
    while index < scalars.count, !skip(text: "\\E") {
      try take(4)
      list.append(try literal(scalars[index].value))
      index += 1
    }
    return list
  }

  private mutating func literal(_ value: UInt32) throws(PatternError) -> PatternTree {
    .set(try folded(ScalarSet(value)))
  }

  private mutating func folded(_ set: ScalarSet) throws(PatternError) -> ScalarSet {
    guard flags.ignoresCase else { return set }
    try take(set.foldingSteps)
    return set.caseFolded
  }

  /// A class whose ranges are counted.
  private mutating func counted(_ set: ScalarSet) throws(PatternError) -> ScalarSet {
    ranges += set.ranges.count
    try take(16 * set.ranges.count)
    guard ranges <= limits.classRanges else {
      throw PatternError(.tooLarge, "the classes of the expression have too many ranges of characters")
    }
    return set
  }

  private mutating func quantified(_ start: PatternTree) throws(PatternError) -> PatternTree {
    var (atom, count) = (start, 0)
    while let range = try quantifier() {
      // Two in a row (`a**`) are allowed only as a question mark that makes the first one lazy.
      count += 1
      guard count == 1 else { throw error("invalid nested repetition operator") }
      let isLazy = skip("?")
      atom = .repetition(
        atom, minimum: range.minimum, maximum: range.maximum, isGreedy: isLazy == flags.isUngreedy)
    }
    return atom
  }

  private mutating func quantifier() throws(PatternError) -> (minimum: Int, maximum: Int?)? {
    if skip("*") { return (0, nil) }
    if skip("+") { return (1, nil) }
    if skip("?") { return (0, 1) }
    guard peek() == "{" else { return nil }
    let start = index
    index += 1
    // A brace that is no repetition is a character.
    guard let minimum = number() else {
      index = start
      return nil
    }
    var maximum: Int? = minimum
    if skip(",") { maximum = number() }
    guard skip("}") else {
      index = start
      return nil
    }
    guard minimum <= limits.repetitions, (maximum ?? 0) <= limits.repetitions, (maximum ?? minimum) >= minimum else {
      throw error("invalid repetition count")
    }
    return (minimum, maximum)
  }

  private mutating func number() -> Int? {
    let start = index
    var value = 0
    while let digit = peek()?.value, (48...57).contains(digit) {
      value = min(value * 10 + Int(digit - 48), 1_000_000)
      index += 1
    }
    return index > start ? value : nil
  }

  // MARK: Atoms

  private mutating func atom() throws(PatternError) -> PatternTree? {
    guard let first = peek() else { return nil }
    switch first {
    case "(": return try group()
    case "[": return .set(try bracketed())
    case ".":
      index += 1
      return .set(flags.dotIsAll ? .all : .withoutNewline)
    case "^":
      index += 1
      return .assertion(flags.isMultiline ? .lineStart : .textStart)
    case "$":
      index += 1
      return .assertion(flags.isMultiline ? .lineEnd : .textEnd)
    case "*", "+", "?": throw error("missing argument to repetition operator")
    case "\\": return try escaped()
    case "{":
      if try quantifier() != nil { throw error("missing argument to repetition operator") }
      index += 1
      return try literal(first.value)
    default:
      index += 1
      return try literal(first.value)
    }
  }

  private mutating func group() throws(PatternError) -> PatternTree? {
    index += 1
    let outer = flags
    if skip("?") {
      if skip("P") || peek() == "<" && peek(1) != "=" && peek(1) != "!" {
        guard skip("<") else { throw error("invalid group") }
        try groupName()
      } else if try !flagGroup() {
        return nil
      }
    }
    depth += 1
    guard depth <= limits.depth else { throw PatternError(.tooLarge, "groups are nested too deeply") }
    let inner = try alternatives()
    depth -= 1
    guard skip(")") else { throw error("missing )") }
    flags = outer
    return inner
  }

  private mutating func groupName() throws(PatternError) {
    let start = index
    while let next = peek(), ScalarSet.words.contains(next.value) { index += 1 }
    guard index > start, skip(">") else { throw error("invalid group name") }
  }

  /// Reads flags after `(?`; whether a group follows, after a colon.
  private mutating func flagGroup() throws(PatternError) -> Bool {
    var isOn = true
    while let next = peek() {
      index += 1
      switch next {
      case "i": flags.ignoresCase = isOn
      case "s": flags.dotIsAll = isOn
      case "m": flags.isMultiline = isOn
      case "U": flags.isUngreedy = isOn
      case "-" where isOn: isOn = false
      case ":": return true
      case ")": return false
      default: throw error("invalid or unsupported group")
      }
    }
    throw error("missing )")
  }

  // MARK: Escapes

  private mutating func escaped() throws(PatternError) -> PatternTree {
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
  private mutating func escapedClass() throws(PatternError) -> ScalarSet? {
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

  private mutating func escapedScalar() throws(PatternError) -> UInt32 {
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

  // MARK: Bracketed classes

  private mutating func bracketed() throws(PatternError) -> ScalarSet {
    index += 1
    let isInverted = skip("^")
    var (ranges, classes): ([ClosedRange<UInt32>], [ClosedRange<UInt32>]) = ([], [])
    var isFirst = true
    while peek() != "]" || isFirst {
      guard let next = peek() else { throw error("missing ]") }
      isFirst = false
      try take(4)
      if next == "[", peek(1) == ":" {
        classes += try posix().ranges
        continue
      }
      if next == "\\", let set = try escapedClass() {
        classes += set.ranges
        continue
      }
      let low = try bracketedScalar()
      guard peek() == "-", let after = peek(1), after != "]" else {
        ranges.append(low...low)
        continue
      }
      index += 1
      let high = try bracketedScalar()
      guard low <= high else { throw error("invalid character class range") }
      ranges.append(low...high)
    }
    index += 1
    let set = try folded(ScalarSet(ranges)).union(ScalarSet(classes))
    try take(16 * set.ranges.count)
    return isInverted ? set.inverted : set
  }

  private mutating func bracketedScalar() throws(PatternError) -> UInt32 {
    guard let next = peek() else { throw error("missing ]") }
    if next == "\\" { return try escapedScalar() }
    index += 1
    return next.value
  }

  private mutating func posix() throws(PatternError) -> ScalarSet {
    index += 2
    let isInverted = skip("^")
    var name = ""
    while let next = peek(), next != ":" {
      name.unicodeScalars.append(next)
      index += 1
    }
    guard skip(text: ":]"), let set = ScalarSet.posix(name) else {
      throw error("invalid character class [:\(name.prefix(20)):]")
    }
    return try counted(isInverted ? try folded(set).inverted : try folded(set))
  }
}
