extension Evaluation {
  /// Calls a method.
  ///
  /// Methods have at most two arguments.
  mutating func method(_ target: Int, _ method: ValueMethod, _ list: Int, _ id: Int) -> Operand {
    let steps = code.program.lists[list]
    var arguments = Arguments(count: steps.count)
    for index in steps.indices.reversed() {
      let outcome = evaluate(Int(steps[index]))
      if case .failure = outcome { arguments.failure = outcome }
      if index == 0 { arguments.first = outcome } else if index == 1 { arguments.second = outcome }
    }
    if method.takesPattern, let literal = steps.first { arguments.pattern = code.program.patterns[Int(literal)] }
    if method.comparesElements, steps.count == 1, !isRecorded, !isEnded, budget.expressions > 0,
      let map = code.program.mapOfNames(target)
    {
      budget.expressions -= 1
      return names(of: evaluate(map), target, method, arguments, id)
    }
    return apply(method, to: evaluate(target), arguments, id)
  }

  /// The outcomes of the arguments of a method.
  private struct Arguments {
    let count: Int
    var first = Operand.unset
    var second = Operand.unset
    /// The first failure in the order of writing.
    var failure: Operand?
    /// The compiled form of the first one, where it is a literal.
    var pattern: PatternResult?
  }

  private mutating func apply(
    _ method: ValueMethod, to target: Operand, _ arguments: Arguments, _ id: Int
  ) -> Operand {
    let receiver: RulesValue
    switch target {
    case .value(let value): receiver = value
    case .failure(let number): return .failure(number)
    case .symbol(let symbol):
      return arguments.failure
        ?? QuerySymbols.method(symbol, method, arguments.first, count: arguments.count, id, &self)
    case .unset: return arguments.failure ?? fail(.unknown, id)
    }
    if let failure = arguments.failure { return failure }
    if case .null = receiver { return fail(.nullValue, id) }
    var values: (RulesValue?, RulesValue?) = (nil, nil)
    if arguments.count > 0 {
      guard case .value(let value) = arguments.first else { return fail(.unknown, id) }
      values.0 = value
    }
    if arguments.count > 1 {
      guard case .value(let value) = arguments.second else { return fail(.unknown, id) }
      values.1 = value
    }
    var call = MethodCall(
      method: method, count: arguments.count, first: values.0, second: values.1, pattern: arguments.pattern,
      work: budget.work)
    let outcome = call.outcome(on: receiver)
    budget.work = call.work
    return finished(outcome, id)
  }

  // MARK: Names of maps

  private mutating func names(
    of map: Operand, _ keys: Int, _ method: ValueMethod, _ arguments: Arguments, _ id: Int
  ) -> Operand {
    if case .value(.map(let members)) = map, case .value(let other) = arguments.first,
      let outcome = members.names(method, other, &budget.work)
    {
      return finished(outcome, id)
    }
    return apply(method, to: apply(.keys, to: map, Arguments(count: 0), keys), arguments, id)
  }

  /// The outcome of an operation on values, at a step.
  mutating func finished(_ outcome: ValueOutcome, _ id: Int) -> Operand {
    switch outcome {
    case .value(let value): .value(value)
    case .failure(let failure): fail(failure, id)
    }
  }
}
