/// How a decision was made: every statement that was asked, and every expression with its outcome.
///
/// It is for developers and tests; a caller that is denied learns no more than in production.
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
    public let outcome: Outcome
    /// The expressions below it, in the order of writing.
    public let parts: [Expression]
  }

  /// An `allow` statement that was asked.
  public struct Statement: Sendable {
    /// The place of the statement.
    public let position: RulesPosition
    /// The captures of its match, with their values.
    public let captures: [(name: String, value: String)]
    /// The condition; nil where there is none.
    public let condition: Expression?
  }

  /// The decision.
  public let decision: RulesDecision
  let code: RulesCode
  /// The expressions in the order in which their evaluation began.
  let records: [TraceRecorder.Record]
  let asked: [TraceRecorder.Asked]
  /// The documents that were looked up.
  public let lookups: [(function: RulesLookupFunction, path: RulesPath)]
  /// The values of `debug()`, in the dialect ``RulesDialect/emulator``; production does not know the function.
  public let debugged: [RulesValue]
  /// The number of expressions that counted.
  public let expressionCount: Int

  /// The statements that were asked, in their order.
  ///
  /// A decision only notes outcomes; the tree of its expressions is made here, each time anew.
  public var statements: [Statement] {
    let conditions = expressions()
    return asked.map { asked in
      Statement(
        position: code.source.position(asked.allow.extent),
        captures: zip(asked.match.captureNames, asked.captures).map { ($0, $1?.description ?? "any") },
        condition: asked.record.flatMap { conditions[$0] })
    }
  }

  private func expressions() -> [Int: Expression] {
    records.trees { step, outcome, below in
      let skipped: ((Int) -> Expression)? =
        code.program.isBranch(step) ? { Expression(code: code, step: $0, outcome: .notEvaluated, parts: []) } : nil
      return Expression(
        code: code, step: step, outcome: Expression.Outcome(outcome),
        parts: below.ordered(by: code.tree.children(of: step), step: \.step, skipped: skipped))
    }
  }
}

/// Notes the course of one decision.
///
/// It only appends to lists: the trace makes a tree of them when it is read.
final class TraceRecorder {
  typealias Record = TraceRecord<RecordedOutcome>

  /// A statement that was asked.
  struct Asked: Sendable {
    let allow: CompiledAllow
    let match: CompiledMatch
    let captures: [RulesValue?]
    /// The number of the first record of its condition; nil where there is none.
    let record: Int?
  }

  private(set) var records: [Record] = []
  private(set) var asked: [Asked] = []
  private(set) var lookups: [(function: RulesLookupFunction, path: RulesPath)] = []
  private(set) var debugged: [RulesValue] = []

  init() { records.reserveCapacity(32) }

  func asked(_ allow: CompiledAllow, _ match: CompiledMatch, _ captures: [RulesValue?]) {
    asked.append(
      Asked(allow: allow, match: match, captures: captures, record: allow.condition.map { _ in records.count }))
  }

  /// An expression begins; returns the number of its record.
  func began(_ step: Int) -> Int {
    records.append(Record(step: Int32(step), outcome: .unknown, end: 0))
    return records.count - 1
  }

  func ended(_ record: Int, _ outcome: RecordedOutcome) {
    records[record].outcome = outcome
    records[record].end = Int32(records.count)
  }

  func debugged(_ value: RulesValue) { debugged.append(value) }
  func lookedUp(_ function: RulesLookupFunction, _ path: RulesPath) { lookups.append((function, path)) }
}

extension RulesTrace.Expression.Outcome {
  fileprivate init(_ outcome: RecordedOutcome) {
    switch outcome {
    case .value(let value): self = .value(value)
    case .failure(let failure): self = .failure(failure)
    case .unknown: self = .unknown
    }
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
    var budget = self.budget
    return trace(request, documents: documents, budget: &budget)
  }

  /// Decides about a request with the budget of a caller, and records how.
  public func trace(
    _ request: RulesRequest, documents: any RulesDocuments, budget: inout RulesBudget
  ) -> RulesTrace {
    traced(&budget) { budget, recorder in
      decide(request, request.path.matched, nil, documents, &budget, recorder: recorder)
    }
  }

  /// Decides about a query, and records how.
  public func trace(
    _ query: RulesQuery, auth: RulesValue?, time: RulesValue? = nil, documents: any RulesDocuments = NoRulesDocuments()
  ) -> RulesTrace {
    var budget = self.budget
    return traced(&budget) { budget, recorder in
      decide(query, auth: auth, time: time, documents: documents, budget: &budget, recorder: recorder)
    }
  }

  private func traced(
    _ budget: inout RulesBudget, _ decide: (inout RulesBudget, EvaluationRecorder) -> RulesDecision
  ) -> RulesTrace {
    let recorder = TraceRecorder()
    let before = budget.expressions
    let decision = decide(&budget, .trace(recorder))
    return RulesTrace(
      decision: decision, code: code, records: recorder.records, asked: recorder.asked, lookups: recorder.lookups,
      debugged: recorder.debugged, expressionCount: before - budget.expressions)
  }
}
