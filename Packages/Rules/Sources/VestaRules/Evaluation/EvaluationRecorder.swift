/// Where every expression that is evaluated is recorded.
enum EvaluationRecorder {
  case trace(TraceRecorder)
  /// A table that outlives the evaluation.
  case coverage(CoverageTable)
}

/// The outcome of an expression as a trace records it.
enum RecordedOutcome: Sendable {
  case value(RulesValue)
  case failure(RulesFailure)
  /// A part of a document that a query does not fix.
  case unknown
}

extension Operand {
  /// The outcome as a trace records it.
  func recorded(_ failures: [FailureRecord]) -> RecordedOutcome {
    switch self {
    case .value(let value): .value(value)
    case .failure(let number): .failure(failures[Int(number)].failure)
    case .symbol, .unset: .unknown
    }
  }
}

extension Evaluation {
  /// Counts an outcome.
  ///
  /// Booleans, which most are, only add one to a number.
  @inline(__always)
  func count(_ outcome: Operand, _ step: Int, in table: CoverageTable) {
    switch outcome {
    case .value(.bool(let bool)): table.count(bool, step)
    case .value(let value): table.count(value, step)
    case .failure(let number):
      let record = failures[Int(number)]
      table.count(record.failure, record.span(in: code), step)
    case .symbol, .unset: table.count(.unknown, code.program.spans[step].anchor, step)
    }
  }
}
