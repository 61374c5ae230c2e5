/// How a decision about the Realtime Database was made: every rule that was asked, and every expression with its
/// outcome.
///
/// It is for developers and tests; a caller that is denied learns no more than in production.
public struct DatabaseRulesTrace: Sendable {
  /// An expression that was evaluated, or that was not needed.
  public struct Expression: Sendable {
    /// The outcome of an expression.
    public enum Outcome: Sendable, Hashable {
      /// The expression has a value, given as it would be written in a rule, or in words.
      case value(String)
      /// The expression is an error.
      case failure(DatabaseRulesFailure)
      /// The expression was not needed.
      case notEvaluated
    }

    let step: Int
    /// The text of the expression.
    public let source: String
    /// The place of the expression in the document.
    public let position: RulesPosition
    /// The outcome.
    public let outcome: Outcome
    /// The expressions below it, in the order of writing.
    public let parts: [Expression]
  }

  /// A rule that was asked.
  public struct Rule: Sendable {
    /// The path of the rule in the data.
    public let path: [String]
    /// `.read`, `.write` or `.validate`.
    public let rule: String
    /// The captures that the rule sees, with their values.
    public let captures: [(name: String, value: String)]
    /// The expression; `nil` for a rule that was not written as a text.
    public let condition: Expression?
  }

  /// The decision.
  public let decision: DatabaseDecision
  private let document: SourceText
  let records: [TraceRecord<Expression.Outcome>]
  let asked: [DatabaseTraceRecorder.Asked]

  fileprivate init(_ decision: DatabaseDecision, _ document: SourceText, _ recorder: DatabaseTraceRecorder) {
    self.decision = decision
    self.document = document
    records = recorder.records
    asked = recorder.asked
  }

  /// The rules that were asked, in their order.
  ///
  /// A decision only notes outcomes; the tree of its expressions is made here, each time anew.
  public var rules: [Rule] {
    asked.enumerated().map { index, asked in
      let end = index + 1 < self.asked.count ? self.asked[index + 1].record : records.count
      let own = Array(records[asked.record..<end])
      return Rule(
        path: asked.path, rule: asked.expression.origin?.kind.rawValue ?? "",
        captures: zip(asked.expression.origin?.captures ?? [], asked.captures).map { ($0, $1) },
        condition: expression(own, asked.record, asked.expression))
    }
  }

  private func expression(
    _ records: [TraceRecord<Expression.Outcome>], _ first: Int, _ rule: DatabaseExpression
  ) -> Expression? {
    guard let origin = rule.origin else { return nil }
    func make(_ step: Int, _ outcome: Expression.Outcome, _ parts: [Expression]) -> Expression {
      Expression(
        step: step, source: origin.source(of: step), position: document.position(origin.places[step]),
        outcome: outcome, parts: parts)
    }
    let own = records.map { TraceRecord(step: $0.step, outcome: $0.outcome, end: $0.end - Int32(first)) }
    return own.trees { step, outcome, below in
      let skipped: ((Int) -> Expression)? = rule.nodes[step].isBranch ? { make($0, .notEvaluated, []) } : nil
      return make(step, outcome, below.ordered(by: rule.nodes[step].children, step: \.step, skipped: skipped))
    }[0]
  }
}

extension DatabaseSyntax {
  /// Whether it evaluates only as many of its operands as it needs.
  fileprivate var isBranch: Bool {
    switch self {
    case .all, .any, .conditional: true
    default: false
    }
  }
}

/// Notes the course of one decision about the Realtime Database.
final class DatabaseTraceRecorder {
  /// A rule that was asked.
  struct Asked: Sendable {
    let expression: DatabaseExpression
    let path: [String]
    let captures: [String]
    /// The number of the first record of its expression.
    let record: Int
  }

  private(set) var records: [TraceRecord<DatabaseRulesTrace.Expression.Outcome>] = []
  private(set) var asked: [Asked] = []

  func asked(_ expression: DatabaseExpression, _ path: [String], _ captures: [String]) {
    asked.append(Asked(expression: expression, path: path, captures: captures, record: records.count))
  }

  /// An expression begins; returns the number of its record.
  func began(_ step: Int) -> Int {
    records.append(TraceRecord(step: Int32(step), outcome: .notEvaluated, end: 0))
    return records.count - 1
  }

  func ended(_ record: Int, _ outcome: DatabaseRulesTrace.Expression.Outcome) {
    records[record].outcome = outcome
    records[record].end = Int32(records.count)
  }
}

extension DatabaseRuleset {
  /// Decides whether a path may be read, and records how.
  ///
  /// - Parameters:
  ///   - path: The path that is read.
  ///   - auth: The caller as rules see it: null, or a map with `uid` and `token`.
  ///   - query: The order, bounds and limit of the read.
  ///   - now: The time, in milliseconds since 1970.
  ///   - data: The state of the tree; nothing of it has yet to be read.
  public func traceRead(
    _ path: [String], auth: RulesValue = .null, query: DatabaseRulesQuery = DatabaseRulesQuery(), now: Double = 0,
    data: any DatabaseRulesData
  ) -> DatabaseRulesTrace {
    traced { recorder in
      decideRead(
        path,
        DatabaseContext(auth: auth, now: now, query: query, before: data, after: data, recorder: recorder))
    }
  }

  /// Decides whether a write is allowed, and records how.
  ///
  /// - Parameters:
  ///   - paths: The paths that are written.
  ///   - auth: The caller as rules see it: null, or a map with `uid` and `token`.
  ///   - now: The time, in milliseconds since 1970.
  ///   - before: The state before the write.
  ///   - after: The state after it.
  public func traceWrite(
    _ paths: [[String]], auth: RulesValue = .null, now: Double = 0, before: any DatabaseRulesData,
    after: any DatabaseRulesData
  ) -> DatabaseRulesTrace {
    traced { recorder in
      decideWrite(paths, DatabaseContext(auth: auth, now: now, before: before, after: after, recorder: recorder))
    }
  }

  private func traced(_ decide: (DatabaseTraceRecorder) -> DatabaseDecision) -> DatabaseRulesTrace {
    let recorder = DatabaseTraceRecorder()
    return DatabaseRulesTrace(decide(recorder), code.document, recorder)
  }
}
