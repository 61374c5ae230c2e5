extension Evaluation {
  /// Asks the statements of all matches that apply, in the order of writing, until one allows the request.
  mutating func decide() -> RulesDecision {
    var statements: [RulesDecision.Statement] = []
    let method = request.method
    for binding in code.table.bindings(of: path) {
      let match = code.table.matches[binding.match]
      self.match = match
      self.binding = binding
      for allow in match.allows where allow.names(method) {
        if let trace { trace.asked(allow, match, captures(of: match)) }
        let outcome = ask(allow)
        if case .value(.bool(true)) = outcome {
          return RulesDecision(verdict: .allowed, method: method, statements: [])
        }
        if !needs.isEmpty {
          return RulesDecision(
            verdict: .needs(needs.map(\.function), needs.map(\.path)), method: method, statements: [])
        }
        statements.append(statement(allow, outcome))
        if isEnded { return RulesDecision(verdict: .denied, method: method, statements: statements) }
      }
    }
    return RulesDecision(verdict: .denied, method: method, statements: statements)
  }

  /// The outcome of a statement: true, false or an error.
  private mutating func ask(_ allow: CompiledAllow) -> Operand {
    guard let condition = allow.condition else { return .yes }
    budget.expressions -= 1
    let outcome = evaluate(condition)
    switch outcome {
    case .value(.bool(let bool)): return isEnded && bool ? .no : outcome
    case .value(let value): return notBool(value, condition)
    case .failure: return outcome
    case .symbol, .unset: return fail(.unknown, condition)
    }
  }

  /// The values of the captures of the current match, for a trace; nil for what a query does not fix.
  private mutating func captures(of match: CompiledMatch) -> [RulesValue?] {
    match.captureNames.indices.map { number in
      let count = failures.count
      let outcome = capture(number, 0)
      failures.removeLast(failures.count - count)
      if case .value(let value) = outcome { return .some(value) }
      return .none
    }
  }

  private func statement(_ allow: CompiledAllow, _ outcome: Operand) -> RulesDecision.Statement {
    let position = code.source.position(allow.extent)
    guard case .failure(let number) = outcome else {
      return RulesDecision.Statement(position: position, failure: nil, failurePosition: nil)
    }
    let record = failures[Int(number)]
    return RulesDecision.Statement(
      position: position, failure: record.failure,
      failurePosition: code.source.position(span(of: record)))
  }

  /// Where an error is: a lookup that failed is at the name of its function.
  func span(of record: FailureRecord) -> Span {
    let spans = code.program.spans[record.step]
    if case .serviceCall = record.failure { return spans.name }
    return spans.anchor
  }
}
