extension Evaluation {
  /// Asks the statements of all matches that apply, in the order of writing, until one allows the request.
  mutating func decide() -> RulesDecision {
    var refusals: [RulesDecision.Refusal] = []
    let method = request.method
    let bindings = code.table.bindings(of: path)
    for index in 0..<bindings.count {
      guard let binding = bindings[index] else { break }
      let match = code.table.matches[binding.match]
      self.match = match
      self.binding = binding
      for allow in match.allows where allow.names(method) {
        if let trace { trace.asked(allow, match, captures(of: match)) }
        let outcome = shortened(allow) ?? ask(allow)
        if case .value(.bool(true)) = outcome { return RulesDecision(.allowed, method) }
        if !needs.isEmpty {
          return RulesDecision(.needs(needs.map(\.function), needs.map(\.path)), method)
        }
        refusals.append(RulesDecision.Refusal(allow, outcome, failures, code))
        if isEnded { return RulesDecision(.denied, method, refusals, code) }
      }
    }
    return RulesDecision(.denied, method, refusals, code)
  }

  /// The outcome of a statement that is known without evaluating its condition, at the same cost of the budget.
  private mutating func shortened(_ allow: CompiledAllow) -> Operand? {
    guard !isRecorded, let shortcut = allow.shortcut, shortcut.cost <= budget.expressions,
      let holds = shortcut.holds(auth: request.auth)
    else { return nil }
    budget.expressions -= shortcut.cost
    return .value(.bool(holds))
  }

  /// The outcome of a statement: true, false or an error.
  private mutating func ask(_ allow: CompiledAllow) -> Operand {
    guard let condition = allow.condition else { return .yes }
    budget.expressions -= 1
    let outcome = evaluate(condition)
    switch outcome {
    case .value(.bool(let bool)): return isEnded && bool ? .no : outcome
    case .value(let value): return fail(.notBool(value), condition)
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
}

extension RulesDecision.Refusal {
  /// The refusal of a statement with an outcome.
  fileprivate init(_ allow: CompiledAllow, _ outcome: Operand, _ failures: [FailureRecord], _ code: RulesCode) {
    guard case .failure(let number) = outcome else {
      self.init(extent: allow.extent, failure: nil, failureSpan: nil)
      return
    }
    let record = failures[Int(number)]
    self.init(extent: allow.extent, failure: record.failure, failureSpan: record.span(in: code))
  }
}

extension FailureRecord {
  /// Where an error is: a lookup that failed is at the name of its function.
  func span(in code: RulesCode) -> Span {
    let spans = code.program.spans[step]
    if case .serviceCall = failure { return spans.name }
    return spans.anchor
  }
}
