import VestaPatterns

extension Evaluation {
  mutating func string(
    _ method: ValueMethod, _ text: String, _ count: Int, _ first: RulesValue?, _ second: RulesValue?, _ pattern: Int?,
    _ id: Int
  ) -> Operand? {
    let size = text.utf8.count
    guard budget.work.take(1 + size >> 4) else { return fail(.sizeLimit, id) }
    switch (method, first, second, count) {
    case (.size, nil, nil, 0): return .value(.int(Int64(text.utf16.count)))
    case (.lower, nil, nil, 0): return .value(.string(ASCIICase.lowered(text)))
    case (.upper, nil, nil, 0): return .value(.string(ASCIICase.raised(text)))
    case (.trim, nil, nil, 0): return .value(.string(ASCIICase.trimmed(text)))
    case (.toUtf8, nil, nil, 0): return .value(.bytes(Array(text.utf8)))
    case (.matches, .string(let expression)?, nil, 1):
      return withPattern(expression, pattern, size, id) { $0.matchesWhole(text) ? .yes : .no }
    case (.split, .string(let expression)?, nil, 1):
      let outcome = withPattern(expression, pattern, size, id) { pattern in
        guard let parts = pattern.parts(of: text) else { return .unset }
        return .value(.list(parts.map { .string($0) }))
      }
      if case .unset = outcome { return fail(.sizeLimit, id) }
      return outcome
    case (.replace, .string(let expression)?, .string(let replacement)?, 2):
      var work = budget.work
      let outcome = withPattern(expression, pattern, size, id) { pattern in
        pattern.replacing(in: text, with: replacement, &work).map { .value(.string($0)) } ?? .unset
      }
      budget.work.left = min(budget.work.left, work.left)
      if case .unset = outcome { return fail(.sizeLimit, id) }
      return outcome
    default: return nil
    }
  }

  /// Finds the compiled form of a pattern, and calls back with it when its work is paid for.
  private mutating func withPattern(
    _ expression: String, _ step: Int?, _ size: Int, _ id: Int, _ body: (Pattern) -> Operand
  ) -> Operand {
    let result: PatternResult
    if let step, let known = code.program.patterns[step] {
      result = known
    } else {
      guard budget.work.take(2_048 + expression.utf8.count) else { return fail(.sizeLimit, id) }
      result = PatternResult(expression, isReused: false)
    }
    switch result {
    case .failure(let reason): return fail(.invalidPattern(reason), id)
    case .pattern(let pattern):
      guard budget.work.take(pattern.cost(ofTextSize: size)) else { return fail(.sizeLimit, id) }
      return body(pattern)
    }
  }
}

/// The case of ASCII letters, which is all that `lower()` and `upper()` change.
enum ASCIICase {
  static func lowered(_ text: String) -> String {
    guard text.utf8.contains(where: { (65...90).contains($0) }) else { return text }
    return String(decoding: text.utf8.map { (65...90).contains($0) ? $0 | 32 : $0 }, as: UTF8.self)
  }

  static func raised(_ text: String) -> String {
    guard text.utf8.contains(where: { (97...122).contains($0) }) else { return text }
    return String(decoding: text.utf8.map { (97...122).contains($0) ? $0 & ~32 : $0 }, as: UTF8.self)
  }

  /// The text without control characters and blanks around it.
  static func trimmed(_ text: String) -> String {
    var rest = text.utf8[...]
    while let first = rest.first, first <= 32 { rest = rest.dropFirst() }
    while let last = rest.last, last <= 32 { rest = rest.dropLast() }
    return String(Substring(rest))
  }
}
