/// A regular expression in the syntax of RE2: without back-references and look-around, so that matching takes time
/// linear in the text, whatever the expression.
///
/// ```swift
/// let pattern = try Pattern("[a-z]+@example[.]com")
/// pattern.matchesWhole("ada@example.com")  // true
/// ```
///
/// Characters are Unicode scalars; `\d`, `\s`, `\w` and `\b` mean ASCII, as in RE2. General categories (`\p{Lu}`) and
/// scripts (`\p{Greek}`) have RE2's names. A pattern may be used by any number of threads at once.
public struct Pattern: Sendable {
  let program: PatternProgram
  private let table: PatternTable?
  /// The steps that reading the expression took.
  public let steps: Int

  /// Compiles an expression.
  ///
  /// - Parameters:
  ///   - expression: The expression.
  ///   - ignoresCase: Whether letters match in both cases, as after `(?i)`.
  ///   - isReused: Whether the expression is matched often enough to build a table for it.
  ///   - limits: The bounds of the compiled form.
  /// - Throws: ``PatternError`` with the reason why it cannot be read.
  public init(
    _ expression: String, ignoresCase: Bool = false, isReused: Bool = true, limits: PatternLimits = PatternLimits()
  ) throws(PatternError) {
    var (tree, steps) = try PatternParser.parse(expression, limits: limits, ignoresCase: ignoresCase)
    program = try PatternProgram(tree, limits: limits, steps: &steps)
    self.steps = steps
    table = isReused ? PatternTable(program, limits: limits) : nil
  }

  /// The units of work of one run over a text, about as long as copying 16 bytes each.
  public func cost(ofTextSize size: Int) -> Int {
    1 + (table != nil ? size >> 4 : (size * (4 + program.instructions.count)) >> 6)
  }

  /// Whether the expression matches the whole text.
  public func matchesWhole(_ text: String) -> Bool {
    if let table { return table.matches(text, program.alphabet) }
    var machine = PatternMachine(program, text, steps: .max)
    return machine.matchesWhole() ?? false
  }

  /// Whether the expression matches a part of the text.
  ///
  /// A ``PatternSearch`` does the same with pauses.
  public func isFound(in text: String) -> Bool {
    var (search, steps) = (PatternSearch(self, in: text), Int.max)
    return search.advance(&steps) ?? false
  }

  /// The steps of a search of an expression that follows all its ways at each character of a text.
  public func searchSteps(forCharacters count: Int) -> Int { program.instructions.count * (count + 1) }

  /// The parts of a text that match, from left to right: after each one the search continues behind it, after an empty
  /// one also behind the next character.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - maximumSteps: A bound on the time. Finding many parts may take longer than one run over the text.
  /// - Returns: Ranges of Unicode scalars; nil when the steps are used up.
  public func matches(in text: String, maximumSteps: Int) -> [Range<Int>]? {
    var machine = PatternMachine(program, text, steps: maximumSteps)
    var (found, position): ([Range<Int>], Int) = ([], 0)
    while position <= machine.count, let range = machine.find(from: position) {
      if machine.steps < 0 { return nil }
      found.append(range)
      position = range.isEmpty ? range.upperBound + 1 : range.upperBound
    }
    return machine.steps < 0 ? nil : found
  }
}
