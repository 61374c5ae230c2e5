import VestaBytes

extension BinaryOperator {
  /// The outcome of the operator on two values.
  func outcome(_ left: RulesValue, _ right: RulesValue, _ work: inout WorkMeter) -> ValueOutcome {
    switch self {
    case .equal: return equal(left, right, &work, negated: false)
    case .notEqual: return equal(left, right, &work, negated: true)
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      guard work.take(left.compareCost) else { return .failure(.sizeLimit) }
      guard let order = Arithmetic.order(left, right) else { return .failure(unsupported(left, right)) }
      return .value(.bool(Arithmetic.holds(self, order)))
    case .contained: return contained(left, right, &work)
    default:
      if case .string(let l) = left, case .string(let r) = right, self == .add {
        guard work.take(1 + (l.utf8.count + r.utf8.count) >> 4) else { return .failure(.sizeLimit) }
        return .value(.string(l + r))
      }
      return Arithmetic.apply(self, left, right) ?? .failure(unsupported(left, right))
    }
  }

  private func equal(
    _ left: RulesValue, _ right: RulesValue, _ work: inout WorkMeter, negated: Bool
  ) -> ValueOutcome {
    let isEqual = ValueEquality.equal(left, right, .byValue, &work)
    guard work.left >= 0 else { return .failure(.sizeLimit) }
    return .value(.bool(isEqual != negated))
  }

  private func contained(_ left: RulesValue, _ right: RulesValue, _ work: inout WorkMeter) -> ValueOutcome {
    let found: Bool
    switch (left, right) {
    case (_, .list(let list)): found = contains(list, left, .byValue, &work)
    case (_, .set(let set)): found = contains(set.elements, left, .byValueAtAnyDepth, &work)
    case (.string(let name), .map(let map)): found = map[name] != nil
    default: return .failure(unsupported(left, right))
    }
    return work.left < 0 ? .failure(.sizeLimit) : .value(.bool(found))
  }

  private func contains(
    _ elements: [RulesValue], _ value: RulesValue, _ numbers: ValueEquality.Numbers, _ work: inout WorkMeter
  ) -> Bool {
    for element in elements where ValueEquality.equal(element, value, numbers, &work) { return true }
    return false
  }

  private func unsupported(_ left: RulesValue, _ right: RulesValue) -> RulesFailure {
    .unsupportedOperation(
      received: "\(left.typeName) \(rawValue) \(right.typeName)",
      expected: Arithmetic.overloads(self).map { "\($0.0) \(rawValue) \($0.1)" })
  }
}

/// Arithmetic and order of values.
enum Arithmetic {
  /// The pairs of types that an operator takes, in the order of production's messages.
  static func overloads(_ found: BinaryOperator) -> [(String, String)] {
    switch found {
    case .add:
      [
        ("int", "int"), ("float", "float"), ("string", "string"), ("duration", "duration"),
        ("duration", "timestamp"), ("timestamp", "duration"),
      ]
    case .subtract:
      [
        ("int", "int"), ("float", "float"), ("duration", "duration"), ("timestamp", "duration"),
        ("timestamp", "timestamp"),
      ]
    case .multiply, .divide, .remainder: [("int", "int"), ("float", "float")]
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      ["string", "bytes", "int", "float", "duration", "timestamp"].map { ($0, $0) }
        + [("constraint", "any"), ("any", "constraint")]
    case .contained: [("any", "list"), ("any", "set"), ("string", "map")]
    case .equal, .notEqual: [("any", "any")]
    }
  }

  static func apply(_ found: BinaryOperator, _ left: RulesValue, _ right: RulesValue) -> ValueOutcome? {
    switch (left, right) {
    case (.int(let l), .int(let r)): integers(found, l, r)
    case (.float(let l), .float(let r)): floats(found, l, r)
    case (.int(let l), .float(let r)): floats(found, Double(l), r)
    case (.float(let l), .int(let r)): floats(found, l, Double(r))
    default: times(found, left, right)
    }
  }

  private static func integers(_ found: BinaryOperator, _ left: Int64, _ right: Int64) -> ValueOutcome? {
    let result: (partialValue: Int64, overflow: Bool)
    switch found {
    case .add: result = left.addingReportingOverflow(right)
    case .subtract: result = left.subtractingReportingOverflow(right)
    case .multiply: result = left.multipliedReportingOverflow(by: right)
    case .divide:
      if right == 0 { return .failure(.divideByZero) }
      result = left.dividedReportingOverflow(by: right)
    case .remainder:
      if right == 0 { return .failure(.divideByZero) }
      result = right == -1 ? (0, false) : left.remainderReportingOverflow(dividingBy: right)
    default: return nil
    }
    return result.overflow ? .failure(.overflow) : .value(.int(result.partialValue))
  }

  private static func floats(_ found: BinaryOperator, _ left: Double, _ right: Double) -> ValueOutcome? {
    switch found {
    case .add: .value(.float(left + right))
    case .subtract: .value(.float(left - right))
    case .multiply: .value(.float(left * right))
    case .divide: right == 0 ? .failure(.divideByZero) : .value(.float(left / right))
    case .remainder:
      right == 0 ? .failure(.divideByZero) : .value(.float(left.truncatingRemainder(dividingBy: right)))
    default: nil
    }
  }

  private static func times(_ found: BinaryOperator, _ left: RulesValue, _ right: RulesValue) -> ValueOutcome? {
    switch (found, left, right) {
    case (.add, .duration(let l), .duration(let r)):
      sum(l.seconds, l.nanoseconds, r.seconds, r.nanoseconds) { .duration(RulesDuration(seconds: $0, nanoseconds: $1)) }
    case (.add, .duration(let l), .timestamp(let r)):
      sum(l.seconds, l.nanoseconds, r.seconds, r.nanoseconds) {
        .timestamp(RulesTimestamp(seconds: $0, nanoseconds: $1))
      }
    case (.add, .timestamp(let l), .duration(let r)):
      sum(l.seconds, l.nanoseconds, r.seconds, r.nanoseconds) {
        .timestamp(RulesTimestamp(seconds: $0, nanoseconds: $1))
      }
    case (.subtract, .duration(let l), .duration(let r)):
      difference(l.seconds, l.nanoseconds, r.seconds, r.nanoseconds) {
        .duration(RulesDuration(seconds: $0, nanoseconds: $1))
      }
    case (.subtract, .timestamp(let l), .duration(let r)):
      difference(l.seconds, l.nanoseconds, r.seconds, r.nanoseconds) {
        .timestamp(RulesTimestamp(seconds: $0, nanoseconds: $1))
      }
    case (.subtract, .timestamp(let l), .timestamp(let r)):
      difference(l.seconds, l.nanoseconds, r.seconds, r.nanoseconds) {
        .duration(RulesDuration(seconds: $0, nanoseconds: $1))
      }
    default: nil
    }
  }

  private static func sum(
    _ s1: Int64, _ n1: Int32, _ s2: Int64, _ n2: Int32, _ make: (Int64, Int64) -> RulesValue
  ) -> ValueOutcome {
    let (seconds, overflow) = s1.addingReportingOverflow(s2)
    guard !overflow, seconds.magnitude < TimeBounds.computed else { return .failure(.overflow) }
    return .value(make(seconds, Int64(n1) + Int64(n2)))
  }

  private static func difference(
    _ s1: Int64, _ n1: Int32, _ s2: Int64, _ n2: Int32, _ make: (Int64, Int64) -> RulesValue
  ) -> ValueOutcome {
    let (seconds, overflow) = s1.subtractingReportingOverflow(s2)
    guard !overflow, seconds.magnitude < TimeBounds.computed else { return .failure(.overflow) }
    return .value(make(seconds, Int64(n1) - Int64(n2)))
  }

  /// The order of two values.
  enum Order { case before, same, after, none }

  /// The order of two values of types that have one; nil for other pairs.
  static func order(_ left: RulesValue, _ right: RulesValue) -> Order? {
    switch (left, right) {
    case (.string(let l), .string(let r)): sign(UTF8Order.compare(l, r))
    case (.bytes(let l), .bytes(let r)): sign(UTF8Order.compare(bytes: l, r))
    case (.int(let l), .int(let r)): l < r ? .before : l == r ? .same : .after
    case (.float(let l), .float(let r)): floats(l, r)
    case (.int(let l), .float(let r)): mixed(l, r)
    case (.float(let l), .int(let r)): mirrored(mixed(r, l))
    case (.duration(let l), .duration(let r)): pairs(l.seconds, l.nanoseconds, r.seconds, r.nanoseconds)
    case (.timestamp(let l), .timestamp(let r)): pairs(l.seconds, l.nanoseconds, r.seconds, r.nanoseconds)
    default: nil
    }
  }

  private static func sign(_ number: Int) -> Order { number < 0 ? .before : number == 0 ? .same : .after }

  private static func floats(_ left: Double, _ right: Double) -> Order {
    left < right ? .before : left == right ? .same : left > right ? .after : .none
  }

  /// The exact order, as `==` is exact: 2^53 + 1 is after 2^53 as a float.
  private static func mixed(_ left: Int64, _ right: Double) -> Order {
    let rounded = Double(left)
    guard rounded == right else { return floats(rounded, right) }
    // Rounded up to 2^63, which no integer reaches.
    guard let exact = Int64(exactly: right) else { return .before }
    return left < exact ? .before : left == exact ? .same : .after
  }

  private static func mirrored(_ order: Order) -> Order {
    switch order {
    case .before: .after
    case .after: .before
    case .same, .none: order
    }
  }

  private static func pairs(_ s1: Int64, _ n1: Int32, _ s2: Int64, _ n2: Int32) -> Order {
    (s1, n1) < (s2, n2) ? .before : (s1, n1) == (s2, n2) ? .same : .after
  }

  static func holds(_ found: BinaryOperator, _ order: Order) -> Bool {
    switch found {
    case .less: order == .before
    case .lessOrEqual: order == .before || order == .same
    case .greater: order == .after
    case .greaterOrEqual: order == .after || order == .same
    default: false
    }
  }
}

extension RulesValue {
  /// The units of work of comparing the value.
  fileprivate var compareCost: Int {
    switch self {
    case .string(let text): 1 + text.utf8.count >> 4
    case .bytes(let bytes): 1 + bytes.count >> 4
    default: 1
    }
  }
}
