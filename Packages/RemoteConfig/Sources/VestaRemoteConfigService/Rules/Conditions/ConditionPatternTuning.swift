import VestaPatterns

/// The bounds of the regular expressions in conditions: their authors are many, and all of them are read at once.
struct ConditionPatternTuning: Sendable {
  /// The most characters of an expression.
  var length = 1_000

  /// The bounds of the compiled form, which is kept for each expression of the current template.
  var limits = {
    var limits = PatternLimits()
    (limits.instructions, limits.repetitions, limits.depth) = (5_000, 100, 50)
    // About 170 different characters, or some classes such as `\pL`.
    (limits.alphabet, limits.classRanges, limits.steps) = (1 << 16, 1 << 12, 1 << 18)
    return limits
  }()

  /// The bounds for templates that are stored: one that was published under wider bounds is still evaluated.
  static let stored = {
    var tuning = ConditionPatternTuning()
    (tuning.limits.instructions, tuning.limits.alphabet) = (PatternLimits().instructions, 1 << 22)
    tuning.limits.steps = PatternLimits().steps
    return tuning
  }()

  /// Reads an expression.
  func pattern(_ source: String) throws(PatternError) -> Pattern {
    guard source.unicodeScalars.count <= length else {
      throw PatternError(.tooLarge, "it is longer than \(length) characters")
    }
    return try Pattern(source, isReused: false, limits: limits)
  }
}
