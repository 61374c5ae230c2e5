extension Evaluation {
  /// Calls a method.
  ///
  /// Methods have at most two arguments.
  mutating func method(_ target: Int, _ method: ValueMethod, _ list: Int, _ id: Int) -> Operand {
    let count = code.program.lists[list].count
    var (first, second) = (Operand.unset, Operand.unset)
    var failure: Operand?
    for index in stride(from: count - 1, through: 0, by: -1) {
      let outcome = evaluate(Int(code.program.lists[list][index]))
      if case .failure = outcome { failure = outcome }
      if index == 0 { first = outcome } else if index == 1 { second = outcome }
    }
    let receiver: RulesValue
    switch evaluate(target) {
    case .value(let value): receiver = value
    case .failure(let number): return .failure(number)
    case .symbol(let symbol):
      return failure ?? self.method(symbol: symbol, method, first, count: count, id)
    case .unset: return failure ?? fail(.unknown, id)
    }
    if let failure { return failure }
    if case .null = receiver { return fail(.nullValue, id) }
    var values: (RulesValue?, RulesValue?) = (nil, nil)
    if count > 0 {
      guard case .value(let value) = first else { return fail(.unknown, id) }
      values.0 = value
    }
    if count > 1 {
      guard case .value(let value) = second else { return fail(.unknown, id) }
      values.1 = value
    }
    let literal = method.takesPattern ? code.program.lists[list].first : nil
    var call = MethodCall(
      method: method, count: count, first: values.0, second: values.1,
      pattern: literal.flatMap { code.program.patterns[Int($0)] }, work: budget.work)
    let outcome = call.outcome(on: receiver)
    budget.work = call.work
    return finished(outcome, id)
  }

  /// The outcome of an operation on values, at a step.
  mutating func finished(_ outcome: ValueOutcome, _ id: Int) -> Operand {
    switch outcome {
    case .value(let value): .value(value)
    case .failure(let failure): fail(failure, id)
    }
  }
}
