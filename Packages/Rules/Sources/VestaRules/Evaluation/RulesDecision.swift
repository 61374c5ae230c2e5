/// The answer of a ruleset to a request.
public struct RulesDecision: Sendable {
  /// The answer.
  public enum Verdict: Sendable, Equatable {
    /// The request is allowed.
    case allowed
    /// The request is denied.
    case denied
    /// Documents have to be read before it can be decided.
    case needs([RulesLookupFunction], [RulesPath])
  }

  /// A statement that names the method and did not allow the request.
  public struct Statement: Sendable {
    /// The place of the statement.
    public let position: RulesPosition
    /// The error of its condition; nil where the condition is false.
    public let failure: RulesFailure?
    /// The place of the error.
    public let failurePosition: RulesPosition?
  }

  /// The answer.
  public let verdict: Verdict
  /// The method that was asked about.
  public let method: RulesMethod
  /// A statement that did not allow the request, as places in the text.
  struct Refusal: Sendable {
    let extent: Span
    let failure: RulesFailure?
    let failureSpan: Span?
  }

  private let refusals: [Refusal]
  private let code: RulesCode?

  init(_ verdict: Verdict, _ method: RulesMethod, _ refusals: [Refusal] = [], _ code: RulesCode? = nil) {
    (self.verdict, self.method, self.refusals, self.code) = (verdict, method, refusals, code)
  }

  /// Of a request that is denied: the statements that were asked, in the order of writing.
  public var statements: [Statement] {
    guard let code else { return [] }
    return refusals.map { refusal in
      Statement(
        position: code.source.position(refusal.extent), failure: refusal.failure,
        failurePosition: refusal.failureSpan.map(code.source.position))
    }
  }

  /// Whether the request is allowed.
  public var isAllowed: Bool { verdict == .allowed }

  /// The message of a denial, a line for each statement, for developers and not for the caller that is denied.
  public var message: String {
    let statements = statements
    guard !statements.isEmpty else { return isAllowed ? "" : "No matching allow statements" }
    return statements.map { statement in
      let cause = statement.failure.map(\.description) ?? "false"
      return "\(cause) for '\(method.rawValue)' @ L\(statement.position.line)"
    }.joined(separator: "\n")
  }
}

extension RulesDecision {
  /// The decision about nothing at all, such as a commit without writes: allowed.
  public static let nothing = RulesDecision(.allowed, .update)
}
