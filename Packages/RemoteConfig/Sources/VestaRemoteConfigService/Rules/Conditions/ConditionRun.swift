import VestaPatterns

/// The evaluation of one condition for one instance, in slices.
struct ConditionRun {
  private let expression: ConditionExpression
  private var test = 0
  private var pattern = 0
  private var search: PatternSearch?

  init(_ expression: ConditionExpression) { self.expression = expression }

  /// Continues until it is known whether the condition holds, or until the units are used up.
  ///
  /// - Parameters:
  ///   - evaluator: The instance.
  ///   - units: Less what was used.
  /// - Returns: Whether the condition holds; `nil` when there is more to do.
  mutating func advance(_ evaluator: ConditionEvaluator, _ units: inout Int) -> Bool? {
    while test < expression.tests.count {
      guard units > 0 else { return nil }
      if case .matches(let attribute, let patterns) = expression.tests[test] {
        guard let holds = matches(evaluator.value(of: attribute), patterns, &units) else { return nil }
        guard holds else { return false }
      } else {
        units -= ConditionWork.units(of: expression.tests[test], evaluator)
        guard evaluator.holds(expression.tests[test]) else { return false }
      }
      test += 1
    }
    return true
  }

  /// Whether a string matches one of some patterns.
  private mutating func matches(_ value: String?, _ patterns: [Pattern], _ units: inout Int) -> Bool? {
    guard let value else { return false }
    while pattern < patterns.count {
      var next = search ?? PatternSearch(patterns[pattern], in: value)
      search = nil
      guard let isMatch = next.advance(&units) else {
        search = next
        return nil
      }
      pattern = isMatch ? 0 : pattern + 1
      if isMatch { return true }
    }
    pattern = 0
    return false
  }
}

/// The work of tests, in units of some nanoseconds.
enum ConditionWork {
  /// The work of a test for one instance; that of patterns is counted while they are matched.
  static func units(of test: ConditionTest, _ evaluator: ConditionEvaluator) -> Int {
    switch test {
    case .text(let attribute, _, let targets): 1 + targets.count * (evaluator.value(of: attribute)?.utf8.count ?? 0)
    default: units(of: test, longest: 1)
    }
  }

  /// The most work of a condition for an instance whose strings have some length.
  static func units(of expression: ConditionExpression, longest: Int) -> Int {
    expression.tests.reduce(0) { $0 + units(of: $1, longest: longest) }
  }

  private static func units(of test: ConditionTest, longest: Int) -> Int {
    switch test {
    case .constant, .equals, .number, .time, .localTime, .firstOpen: 1
    case .isOneOf(_, let targets), .language(let targets), .audiences(_, let targets): 1 + targets.count
    case .text(_, _, let targets): 1 + targets.count * longest
    // Reading a pattern with large classes such as `\pL` takes longer than looking for it.
    case .matches(_, let patterns): patterns.reduce(1) { $0 + $1.steps + $1.searchSteps(forCharacters: longest) }
    case .version(_, _, let targets): 1 + 10 * targets.count
    case .percent: 100
    case .system(_, let tests): tests.reduce(1) { $0 + 2 + 10 * ($1.versions?.targets.count ?? 0) }
    }
  }
}
