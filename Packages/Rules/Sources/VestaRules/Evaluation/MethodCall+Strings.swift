import VestaPatterns

extension MethodCall {
  mutating func string(_ text: String) -> ValueOutcome? {
    let size = text.utf8.count
    guard work.take(1 + size >> 4) else { return .failure(.sizeLimit) }
    switch (method, first, second, count) {
    case (.size, nil, nil, 0): return .value(.int(Int64(text.utf16.count)))
    case (.lower, nil, nil, 0): return .value(.string(ASCIICase.lowered(text)))
    case (.upper, nil, nil, 0): return .value(.string(ASCIICase.raised(text)))
    case (.trim, nil, nil, 0): return .value(.string(ASCIICase.trimmed(text)))
    case (.toUtf8, nil, nil, 0): return .value(.bytes(Array(text.utf8)))
    case (.matches, .string(let expression)?, nil, 1):
      return withPattern(expression, size) { pattern, _ in pattern.matchesWhole(text) ? .yes : .no }
    case (.split, .string(let expression)?, nil, 1):
      return withPattern(expression, size) { pattern, work in
        guard let parts = pattern.parts(of: text, &work) else { return .failure(.sizeLimit) }
        return .value(.list(parts.map { .string($0) }))
      }
    case (.replace, .string(let expression)?, .string(let replacement)?, 2):
      return withPattern(expression, size) { pattern, work in
        pattern.replacing(in: text, with: replacement, &work).map { .value(.string($0)) } ?? .failure(.sizeLimit)
      }
    default: return nil
    }
  }

  /// Finds the compiled form of a pattern, and calls back with it when its work is paid for.
  private mutating func withPattern(
    _ expression: String, _ size: Int, _ body: (Pattern, inout WorkMeter) -> ValueOutcome
  ) -> ValueOutcome {
    let result: PatternResult
    if let pattern {
      result = pattern
    } else {
      result = PatternResult(expression, steps: work.left)
      guard work.take(1_024 + result.steps) else { return .failure(.sizeLimit) }
    }
    switch result {
    case .failure(let reason, _): return .failure(.invalidPattern(reason))
    case .pattern(let pattern):
      guard work.take(pattern.cost(ofTextSize: size)) else { return .failure(.sizeLimit) }
      return body(pattern, &work)
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
