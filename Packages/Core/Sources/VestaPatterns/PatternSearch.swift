/// The search for one expression in one text, in slices.
///
/// ```swift
/// var search = PatternSearch(try Pattern("b+$"), in: "aab")
/// var steps = 2
/// search.advance(&steps)  // nil: the steps are used up
/// steps = 100
/// search.advance(&steps)  // true
/// ```
public struct PatternSearch: Sendable {
  private var machine: PatternMachine

  /// A search from the beginning of a text, whose characters are read here.
  public init(_ pattern: Pattern, in text: String) { machine = PatternMachine(pattern.program, text, steps: 0) }

  /// Continues until it is known whether the expression matches a part of the text, or until the steps are used up.
  ///
  /// One step is one instruction of the expression at one character. They are counted after each character: the last
  /// one may take more than there are, as many as the expression has instructions, about.
  ///
  /// - Parameter steps: The number of steps that are left.
  /// - Returns: Whether there is a match; nil when there is more to do.
  public mutating func advance(_ steps: inout Int) -> Bool? { machine.search(&steps) }
}
