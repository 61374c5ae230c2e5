import VestaTesting

/// Makes regular expressions.
struct RandomPatterns {
  var random: SplitMix

  mutating func pattern(_ depth: Int, mayBeEmpty: Bool) -> NaivePattern {
    if depth == 0 || random.oneIn(4) { return single() }
    switch random.below(5) {
    case 0: return .either(pattern(depth - 1, mayBeEmpty: mayBeEmpty), pattern(depth - 1, mayBeEmpty: mayBeEmpty))
    case 1, 2:
      let rest = (0..<random.below(3)).map { _ in pattern(depth - 1, mayBeEmpty: true) }
      return .sequence([pattern(depth - 1, mayBeEmpty: mayBeEmpty)] + rest)
    default:
      let least = mayBeEmpty ? random.below(2) : 1
      let most = random.pick([nil, nil, 1, 2, 3])
      return .repeated(pattern(depth - 1, mayBeEmpty: false), least: least, most: most, isLazy: random.oneIn(3))
    }
  }

  private mutating func single() -> NaivePattern {
    switch random.below(5) {
    case 0: return .any
    case 1: return .oneOf(random.pick([["a", "b"], ["a"], [",", " "], ["é", "1"]]), isNegated: random.oneIn(2))
    default: return .character(random.pick(["a", "b", ",", " ", "é", "😀", "1", ".", "B"]))
    }
  }
}
