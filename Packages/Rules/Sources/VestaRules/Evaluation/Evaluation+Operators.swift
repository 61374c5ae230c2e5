extension BinaryOperator {
  static let all = Array(allCases)
}

extension Evaluation {
  mutating func negate(_ operand: Int, _ id: Int) -> Operand {
    switch evaluate(operand) {
    case .value(.int(let number)):
      let (value, overflow) = (0 as Int64).subtractingReportingOverflow(number)
      return overflow ? fail(.overflow, id) : .value(.int(value))
    case .value(.float(let number)): return .value(.float(-number))
    case .value(let value):
      return fail(.unsupportedOperation(received: "-\(value.typeName)", expected: ["-int", "-float"]), id)
    case .failure(let number): return .failure(number)
    case .symbol, .unset: return fail(.unknown, id)
    }
  }

  mutating func binary(_ number: Int, _ left: Int, _ right: Int, _ id: Int) -> Operand {
    let found = BinaryOperator.all[number]
    let (l, r): (Operand, Operand)
    if found == .contained {
      // The collection counts as the first operand.
      l = evaluate(left)
      r = evaluate(right)
      if case .failure = r { return r }
    } else {
      r = evaluate(right)
      l = evaluate(left)
    }
    if case .failure = l { return l }
    if case .failure = r { return r }
    guard case .value(let leftValue) = l, case .value(let rightValue) = r else {
      return QuerySymbols.binary(found, l, r, id, &self)
    }
    return finished(found.outcome(leftValue, rightValue, &budget.work), id)
  }
}
