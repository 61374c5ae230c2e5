/// Hears of every expression that is evaluated: for traces and coverage.
protocol EvaluationRecorder: AnyObject {
  func evaluated(_ step: Int, _ outcome: RecordedOutcome)
  func debugged(_ value: RulesValue, at step: Int)
  func lookedUp(_ function: RulesLookupFunction, _ path: RulesPath)
}

/// The outcome of an expression as a recorder hears of it.
enum RecordedOutcome {
  case value(RulesValue)
  /// An error, and the step where it arose.
  case failure(RulesFailure, at: Int)
  /// A part of a document that a query does not fix.
  case unknown
}

extension Evaluation {
  func record(_ step: Int, _ outcome: Operand) {
    switch outcome {
    case .value(let value): recorder?.evaluated(step, .value(value))
    case .failure(let number):
      let record = failures[Int(number)]
      recorder?.evaluated(step, .failure(record.failure, at: record.step))
    case .symbol, .unset: recorder?.evaluated(step, .unknown)
    }
  }
}
