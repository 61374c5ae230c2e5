/// A place in a rules file.
public struct RulesPosition: Sendable, Hashable {
  /// The line, from 1.
  public let line: Int
  /// The column, from 1, in Unicode scalars.
  public let column: Int
  /// The offset of the first character, from 0, in Unicode scalars.
  public let startOffset: Int
  /// The offset of the last character; one less than ``startOffset`` at the end of the file.
  public let endOffset: Int

  /// A place.
  public init(line: Int, column: Int, startOffset: Int, endOffset: Int) {
    self.line = line
    self.column = column
    self.startOffset = startOffset
    self.endOffset = endOffset
  }
}

/// An error or a warning that the compiler found in a rules file.
public struct RulesIssue: Sendable, Hashable, CustomStringConvertible {
  /// The severity of an issue.
  public enum Severity: String, Sendable {
    /// The ruleset cannot be used.
    case error = "ERROR"
    /// The ruleset can be used.
    case warning = "WARNING"
  }

  /// The severity.
  public let severity: Severity
  /// The text, as the production service writes it where it is known.
  public let message: String
  /// The place, unless the issue concerns the whole file.
  public let position: RulesPosition?

  /// An issue.
  public init(_ severity: Severity, _ message: String, at position: RulesPosition?) {
    self.severity = severity
    self.message = message
    self.position = position
  }

  /// The issue on one line: severity, line, column, text.
  public var description: String {
    guard let position else { return "\(severity.rawValue): \(message)" }
    return "\(severity.rawValue) \(position.line):\(position.column): \(message)"
  }

  /// Whether this issue stands before another one in a list: by line, column and text, without a place first.
  static func precedes(_ left: RulesIssue, _ right: RulesIssue) -> Bool {
    let (l, r) = (left.position, right.position)
    if (l?.line ?? 0) != (r?.line ?? 0) { return (l?.line ?? 0) < (r?.line ?? 0) }
    if (l?.column ?? 0) != (r?.column ?? 0) { return (l?.column ?? 0) < (r?.column ?? 0) }
    return left.message < right.message
  }
}
