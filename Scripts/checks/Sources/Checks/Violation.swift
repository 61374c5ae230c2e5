/// One place in the repository that breaks a rule.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
  /// The file, relative to the root of the repository.
  public let path: String
  /// The line, counted from 1.
  public let line: Int
  /// The rule that is broken, such as `law 1` or `manifest`.
  public let rule: String
  /// A sentence that says what to do.
  public let message: String

  /// Makes a violation.
  ///
  /// - Parameters:
  ///   - path: The file, relative to the root.
  ///   - line: The line, counted from 1.
  ///   - rule: The name of the rule.
  ///   - message: A sentence that says what to do.
  public init(_ path: String, _ line: Int, _ rule: String, _ message: String) {
    self.path = path
    self.line = line
    self.rule = rule
    self.message = message
  }

  /// The form that editors and people can follow: `path:line: rule: message`.
  public var description: String { "\(path):\(line): \(rule): \(message)" }
}
