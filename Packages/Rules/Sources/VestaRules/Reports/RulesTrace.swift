/// How a decision was made: every statement that was asked, and every expression with its outcome.
///
/// It is for developers and tests; a caller that is denied learns no more than production tells.
public struct RulesTrace: Sendable {
  /// An expression that was evaluated, or that was not needed.
  public struct Expression: Sendable {
    /// The outcome of an expression.
    public enum Outcome: Sendable {
      /// The expression has a value.
      case value(RulesValue)
      /// The expression is an error.
      case failure(RulesFailure)
      /// The expression depends on what a query does not fix.
      case unknown
      /// The expression was not needed.
      case notEvaluated
    }

    let code: RulesCode
    let step: Int

    /// The text of the expression.
    public var source: String { code.source.text(code.program.spans[step].extent) }
    /// The place of the expression.
    public var position: RulesPosition { code.source.position(code.program.spans[step].extent) }
    /// The outcome.
    public internal(set) var outcome: Outcome
    /// The expressions below it, in the order of writing.
    public internal(set) var parts: [Expression]
  }

  /// An `allow` statement that was asked.
  public struct Statement: Sendable {
    /// The place of the statement.
    public let position: RulesPosition
    /// The captures of its match, with their values.
    public let captures: [(name: String, value: String)]
    /// The condition; nil where there is none.
    public internal(set) var condition: Expression?
  }

  /// The decision.
  public let decision: RulesDecision
  /// The statements that were asked, in their order.
  public let statements: [Statement]
  /// The documents that were looked up.
  public let lookups: [(function: RulesLookupFunction, path: RulesPath)]
  /// The values of `debug()`.
  public let debugged: [RulesValue]
  /// The number of expressions that counted.
  public let expressionCount: Int
}

/// Builds the trace of one decision.
final class TraceRecorder {
  private let code: RulesCode
  private(set) var statements: [RulesTrace.Statement] = []
  private(set) var lookups: [(function: RulesLookupFunction, path: RulesPath)] = []
  private(set) var debugged: [RulesValue] = []
  /// The expressions that began and have not ended, with their parts so far.
  private var open: [(step: Int, parts: [(step: Int, expression: RulesTrace.Expression)])] = []

  init(_ code: RulesCode) { self.code = code }

  func asked(_ allow: CompiledAllow, captures: [(name: String, value: String)]) {
    statements.append(
      RulesTrace.Statement(position: code.source.position(allow.extent), captures: captures, condition: nil))
  }

  func began(_ step: Int) { open.append((step, [])) }

  func ended(_ step: Int, _ outcome: RecordedOutcome) {
    guard let closed = open.popLast() else { return }
    let result: RulesTrace.Expression.Outcome =
      switch outcome {
      case .value(let value): .value(value)
      case .failure(let failure): .failure(failure)
      case .unknown: .unknown
      }
    let expression = expression(step, result, parts(of: step, closed.parts))
    if open.isEmpty {
      if !statements.isEmpty { statements[statements.count - 1].condition = expression }
    } else {
      open[open.count - 1].parts.append((step, expression))
    }
  }

  func debugged(_ value: RulesValue) { debugged.append(value) }
  func lookedUp(_ function: RulesLookupFunction, _ path: RulesPath) { lookups.append((function, path)) }

  private func expression(
    _ step: Int, _ outcome: RulesTrace.Expression.Outcome, _ parts: [RulesTrace.Expression]
  ) -> RulesTrace.Expression {
    RulesTrace.Expression(code: code, step: step, outcome: outcome, parts: parts)
  }

  /// The parts in the order of writing: those that were not needed are named, and a function's body comes last.
  private func parts(
    of step: Int, _ evaluated: [(step: Int, expression: RulesTrace.Expression)]
  ) -> [RulesTrace.Expression] {
    var rest = evaluated
    var ordered: [RulesTrace.Expression] = []
    for child in code.tree.children(of: step) {
      if let index = rest.firstIndex(where: { $0.step == child }) {
        ordered.append(rest.remove(at: index).expression)
      } else if code.program.isBranch(step) {
        ordered.append(expression(child, .notEvaluated, []))
      }
    }
    return ordered + rest.map(\.expression)
  }
}

extension Program {
  /// Whether a step evaluates only as many of its operands as it needs.
  fileprivate func isBranch(_ step: Int) -> Bool {
    switch steps[step].code {
    case .all, .any, .conditional: true
    default: false
    }
  }
}

extension Ruleset {
  /// Decides about a request, and records how.
  public func trace(_ request: RulesRequest, documents: any RulesDocuments = NoRulesDocuments()) -> RulesTrace {
    traced { budget, recorder in
      decide(request, request.path.segments.map(PathSegment.known), nil, documents, &budget, recorder: recorder)
    }
  }

  /// Decides about a query, and records how.
  public func trace(
    _ query: RulesQuery, auth: RulesValue?, time: RulesValue? = nil, documents: any RulesDocuments = NoRulesDocuments()
  ) -> RulesTrace {
    traced { budget, recorder in
      decide(query, auth: auth, time: time, documents: documents, budget: &budget, recorder: recorder)
    }
  }

  private func traced(
    _ decide: (inout RulesBudget, EvaluationRecorder) -> RulesDecision
  ) -> RulesTrace {
    var budget = self.budget
    let recorder = TraceRecorder(code)
    let before = budget.expressions
    let decision = decide(&budget, .trace(recorder))
    return RulesTrace(
      decision: decision, statements: recorder.statements, lookups: recorder.lookups, debugged: recorder.debugged,
      expressionCount: before - budget.expressions)
  }
}
