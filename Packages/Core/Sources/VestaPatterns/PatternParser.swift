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

  let scalars: [Unicode.Scalar]
  var index = 0
  private var flags = Flags()
  let limits: PatternLimits
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

  mutating func take(_ count: Int) throws(PatternError) {
    steps += count
    guard steps <= limits.steps else { throw PatternError(.tooLarge, "the expression takes too long to read") }
  }

  func error(_ text: String) -> PatternError { PatternError(.syntax, text) }

  func peek(_ offset: Int = 0) -> Unicode.Scalar? {
    index + offset < scalars.count ? scalars[index + offset] : nil
  }

  mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard peek() == scalar else { return false }
    index += 1
    return true
  }

  mutating func skip(text: String) -> Bool {
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

  mutating func literal(_ value: UInt32) throws(PatternError) -> PatternTree {
    .set(try folded(ScalarSet(value)))
  }

  mutating func folded(_ set: ScalarSet) throws(PatternError) -> ScalarSet {
    guard flags.ignoresCase else { return set }
    try take(set.foldingSteps)
    return set.caseFolded
  }

  /// A class whose ranges are counted.
  mutating func counted(_ set: ScalarSet) throws(PatternError) -> ScalarSet {
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
}
