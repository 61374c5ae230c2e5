/// A regular expression as the oracle has it, which it tries by going back.
indirect enum NaivePattern {
  case character(Character)
  case any
  case oneOf([Character], isNegated: Bool)
  case sequence([NaivePattern])
  case either(NaivePattern, NaivePattern)
  /// A repetition; lazy ones take as little as they can.
  case repeated(NaivePattern, least: Int, most: Int?, isLazy: Bool)

  /// The expression in RE2's syntax.
  var text: String {
    switch self {
    case .character(let character):
      return #".*+?|()[]{}^$\"#.contains(character) ? "\\\(character)" : String(character)
    case .any: return "."
    case .oneOf(let characters, let isNegated): return "[\(isNegated ? "^" : "")\(String(characters))]"
    case .sequence(let parts): return parts.map { part in part.isEither ? "(\(part.text))" : part.text }.joined()
    case .either(let left, let right): return "\(left.text)|\(right.text)"
    case .repeated(let inner, let least, let most, let isLazy):
      let sign: String
      switch (least, most) {
      case (0, nil): sign = "*"
      case (1, nil): sign = "+"
      case (0, 1): sign = "?"
      case (_, nil): sign = "{\(least),}"
      case (_, let most?): sign = "{\(least),\(most)}"
      }
      return (inner.isSingle ? inner.text : "(\(inner.text))") + sign + (isLazy ? "?" : "")
    }
  }

  private var isEither: Bool { if case .either = self { true } else { false } }

  private var isSingle: Bool {
    switch self {
    case .character, .any, .oneOf: true
    default: false
    }
  }

  /// Tries to match from a position on, and calls back with each end, the preferred one first, until one is taken.
  private func match(_ text: [Character], _ start: Int, _ then: (Int) -> Bool) -> Bool {
    switch self {
    case .character(let character): return start < text.count && text[start] == character && then(start + 1)
    case .any: return start < text.count && text[start] != "\n" && then(start + 1)
    case .oneOf(let characters, let isNegated):
      return start < text.count && characters.contains(text[start]) != isNegated && then(start + 1)
    case .sequence(let parts):
      guard let first = parts.first else { return then(start) }
      return first.match(text, start) { NaivePattern.sequence(Array(parts.dropFirst())).match(text, $0, then) }
    case .either(let left, let right): return left.match(text, start, then) || right.match(text, start, then)
    case .repeated(let inner, let least, let most, let isLazy):
      func more() -> Bool {
        guard most != 0 else { return false }
        let rest = NaivePattern.repeated(inner, least: max(0, least - 1), most: most.map { $0 - 1 }, isLazy: isLazy)
        // A repetition that matches the empty text is not tried again.
        return inner.match(text, start) { ($0 > start || least > 0) && rest.match(text, $0, then) }
      }
      if least > 0 { return more() }
      return isLazy ? then(start) || more() : more() || then(start)
    }
  }

  /// Whether the whole text matches.
  func matchesWhole(_ text: [Character]) -> Bool { match(text, 0) { $0 == text.count } }

  /// The matches from left to right; the expression matches no empty text.
  func matches(_ text: [Character]) -> [Range<Int>] {
    var (all, start): ([Range<Int>], Int) = ([], 0)
    while start < text.count {
      var end = start
      if match(
        text, start,
        { found in
          end = found
          return found > start
        })
      {
        all.append(start..<end)
        start = end
      } else {
        start += 1
      }
    }
    return all
  }
}
