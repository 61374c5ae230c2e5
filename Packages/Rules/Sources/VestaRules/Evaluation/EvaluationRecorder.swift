/// Is told of every expression that is evaluated: for traces and coverage.
protocol EvaluationRecorder: AnyObject {
  /// A statement is asked.
  func asked(_ allow: CompiledAllow, captures: [(name: String, value: String)])
  /// An expression begins; those that it needs follow.
  func began(_ step: Int)
  /// The expression that began last has an outcome.
  func ended(_ step: Int, _ outcome: RecordedOutcome)
  func debugged(_ value: RulesValue, at step: Int)
  func lookedUp(_ function: RulesLookupFunction, _ path: RulesPath)
}

/// The outcome of an expression as a recorder learns it.
enum RecordedOutcome: Sendable {
  case value(RulesValue)
  /// An error, and where it is.
  case failure(RulesFailure, at: Span)
  /// A part of a document that a query does not fix.
  case unknown
}

extension Evaluation {
  func recorded(_ outcome: Operand) -> RecordedOutcome {
    switch outcome {
    case .value(let value): .value(value)
    case .failure(let number): .failure(failures[Int(number)].failure, at: span(of: failures[Int(number)]))
    case .symbol, .unset: .unknown
    }
  }
}
