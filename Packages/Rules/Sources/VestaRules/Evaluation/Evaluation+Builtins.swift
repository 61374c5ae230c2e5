extension Builtin {
  static let all = Array(allCases)
}

extension Evaluation {
  mutating func builtin(_ builtin: Builtin, _ list: Int, _ id: Int) -> Operand {
    let start = stack.count
    let failure = arguments(list)
    defer { stack.drop(to: start) }
    if let failure { return failure }
    if builtin == .debug, !dialect.hasDebug, code.debugged == nil {
      return fail(.functionNotFound(builtin.rawValue), id)
    }
    let count = stack.count - start
    guard count == builtin.arity else { return fail(.incorrectArguments(builtin.rawValue), id) }
    // A part of a document that a query returns is one behind it too.
    if builtin == .debug, case .symbol = stack[start] { return stack[start] }
    guard case .value(let first) = stack[start] else { return fail(.unknown, id) }
    if let function = builtin.lookup { return lookUp(function, builtin, first, id) }
    if builtin == .debug {
      trace?.debugged(first)
      debugged?(first, code.source.position(code.program.spans[id].anchor))
      return .value(first)
    }
    var call = BuiltinCall(builtin: builtin, work: budget.work)
    let outcome: ValueOutcome
    if count == 1 {
      outcome = call.outcome(of: first)
    } else {
      var values: [RulesValue] = []
      for operand in stack[start...] {
        guard case .value(let value) = operand else { return fail(.unknown, id) }
        values.append(value)
      }
      outcome = call.outcome(of: values)
    }
    budget.work = call.work
    return finished(outcome, id)
  }

  private mutating func lookUp(
    _ function: RulesLookupFunction, _ builtin: Builtin, _ value: RulesValue, _ id: Int
  ) -> Operand {
    guard case .path(let path) = value else {
      return fail(BuiltinCall(builtin: builtin, work: budget.work).unsupported([value]), id)
    }
    let answer = budget.lookUp(function, path, in: documents)
    trace?.lookedUp(function, path)
    switch answer {
    case .found(let document): return function.isExistence ? .yes : .value(.map(document))
    // A document that is missing is null: a member of it is an error.
    case .missing: return function.isExistence ? .no : .value(.null)
    case .unavailable: return fail(.serviceCall(function: builtin.rawValue, path: path), id)
    case .noSuchFunction: return fail(.functionNotFound(builtin.rawValue), id)
    case .notYetRead:
      needs.append((function, path))
      return fail(.notYetRead, id)
    }
  }
}

extension Builtin {
  /// The lookup that the function is; nil for all others.
  fileprivate var lookup: RulesLookupFunction? {
    switch self {
    case .get, .firestoreGet: .get
    case .exists, .firestoreExists: .exists
    case .getAfter: .getAfter
    case .existsAfter: .existsAfter
    default: nil
    }
  }
}
