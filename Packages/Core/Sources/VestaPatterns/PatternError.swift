/// The reason why a regular expression cannot be read.
public struct PatternError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of a reason.
  public enum Code: Sendable, Hashable {
    /// The syntax is wrong, or not supported (back-references, look-around).
    case syntax
    /// The expression is too large or too deep.
    case tooLarge
  }

  /// The kind.
  public let code: Code
  /// A sentence without its period.
  public let description: String
  /// The steps that were taken until then.
  public internal(set) var steps = 0

  /// A reason.
  ///
  /// - Parameters:
  ///   - code: The kind.
  ///   - description: A sentence without its period.
  public init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  /// The error with the steps that were taken until then.
  func after(_ steps: Int) -> PatternError {
    var error = self
    error.steps = steps
    return error
  }
}

/// The bounds of regular expressions.
public struct PatternLimits: Sendable, Hashable {
  /// The number of instructions of the compiled form.
  public var instructions = 10_000
  /// The largest number in a repetition such as `{3,5}`.
  public var repetitions = 1_000
  /// The nesting of groups.
  public var depth = 200
  /// The states of the table with which whole strings are matched; beyond them the slower machine is used.
  public var states = 128

  /// The steps that building the table may take.
  public var tableSteps = 1 << 17
  /// The number of different characters and classes, times the places where they begin and end.
  public var alphabet = 1 << 19
  /// The ranges of characters that all classes such as `\pL` have together.
  public var classRanges = 1 << 16

  /// The steps of reading the expression and making its instructions, each some tens of nanoseconds.
  ///
  /// Text from outside is read with few of them, so that it cannot take a long time by large classes in large numbers.
  public var steps = 1 << 23

  /// The default bounds.
  public init() {}
}
