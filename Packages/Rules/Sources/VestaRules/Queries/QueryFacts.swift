import VestaBytes

/// The facts that one alternative of a query's filter states about every document that it returns.
struct QueryFacts: Sendable {
  struct Constraint: Sendable {
    let comparison: RulesQuery.Comparison
    let value: RulesValue
  }

  enum Fact: Sendable {
    /// A map of which some members are known.
    case object([(name: String, fact: Int)])
    case constant(RulesValue)
    case constrained([Constraint])
  }

  /// The meaning of a symbol: a part of a document, or the result of a method on the names of its members.
  ///
  /// The number of a symbol is that of the part's fact and, above it, that of its form.
  enum Form: Int32, Sendable {
    case part
    /// The list of the names.
    case names
    /// The names as a set.
    case nameSet
    /// The difference from an empty map.
    case difference
  }

  /// The number of the variable `resource`.
  static let resource: Int32 = 0
  private static let data = 1
  private static let formShift: Int32 = 24

  private(set) var facts: [Fact] = [.object([("data", data)]), .object([])]

  /// The number of readings of a value that are compared one by one.
  private let limit: Int
  /// Whether no document satisfies the filter: every comparison with a part of its documents is proved then.
  private let isUnsatisfiable: Bool

  init(_ conditions: [QueryCondition], _ limits: RulesLimits) {
    (limit, isUnsatisfiable) = (limits.readings, false)
    for condition in conditions { add(condition) }
  }

  /// The facts about a filter that no document satisfies.
  init(unsatisfiable limits: RulesLimits) { (limit, isUnsatisfiable) = (limits.readings, true) }

  private mutating func add(_ condition: QueryCondition) {
    guard let place = place(of: condition.field), case .constrained(let constraints) = facts[place] else { return }
    if condition.constraint.comparison == .equal, !condition.isOpen {
      facts[place] = .constant(condition.constraint.value)
    } else {
      facts[place] = .constrained(constraints + [condition.constraint])
    }
  }

  /// The index of the fact of a field, which is added if it is missing; nil below a field that is no object.
  private mutating func place(of field: [String]) -> Int? {
    var place = QueryFacts.data
    for (depth, name) in field.enumerated() {
      guard case .object(var members) = facts[place] else { return nil }
      if let known = members.first(where: { UTF8Order.equal($0.name, name) }) {
        place = known.fact
      } else {
        facts.append(depth == field.count - 1 ? .constrained([]) : .object([]))
        members.append((name, facts.count - 1))
        facts[place] = .object(members)
        place = facts.count - 1
      }
    }
    return place
  }

  /// The outcome of a member; nil where nothing is known about it.
  func member(_ symbol: Int32, _ name: String) -> Operand? {
    if isUnsatisfiable { return .symbol(symbol) }
    guard let place = members(of: symbol)?.first(where: { UTF8Order.equal($0.name, name) })?.fact else { return nil }
    if case .constant(let value) = facts[place] { return .value(value) }
    return .symbol(Int32(place))
  }

  /// The form of a symbol.
  func form(of symbol: Int32) -> Form { Form(rawValue: symbol >> QueryFacts.formShift) ?? .part }

  /// The same part in another form; nil where it is not known to be a map.
  func symbol(_ symbol: Int32, as form: Form) -> Int32? {
    let place = symbol & (1 << QueryFacts.formShift - 1)
    guard case .object = facts[Int(place)] else { return nil }
    return place | form.rawValue << QueryFacts.formShift
  }

  /// Whether a map is known to have a member; its symbol may be in any form.
  func has(_ symbol: Int32, _ name: RulesValue) -> Bool {
    guard case .string(let name) = name,
      case .object(let members) = facts[Int(symbol & (1 << QueryFacts.formShift - 1))]
    else { return false }
    return members.contains { UTF8Order.equal($0.name, name) }
  }

  /// Whether a part is known to be a map.
  func isMap(_ symbol: Int32) -> Bool { members(of: symbol) != nil }

  private func members(of symbol: Int32) -> [(name: String, fact: Int)]? {
    guard form(of: symbol) == .part, case .object(let members) = facts[Int(symbol)] else { return nil }
    return members
  }

  /// Whether a part is a list that has one of several values for certain.
  func hasAny(_ symbol: Int32, of values: [RulesValue]) -> Bool {
    guard form(of: symbol) == .part, case .constrained(let constraints) = facts[Int(symbol)] else { return false }
    return constraints.contains { known in
      known.comparison == .arrayContains
        && QueryFacts.allReadings(of: known.value, limit) { values.contains($0) } == true
    }
  }

  /// Whether a comparison of a part with a value is proved (true), disproved (false) or neither.
  func decides(_ symbol: Int32, _ comparison: BinaryOperator, _ value: RulesValue) -> Bool? {
    if isUnsatisfiable { return value.isUnordered && comparison.isOrder ? nil : true }
    if comparison == .contained, form(of: symbol) != .difference, has(symbol, value) { return true }
    guard form(of: symbol) == .part else { return nil }
    // A map differs from null and from every other value that is none.
    if isMap(symbol), comparison == .equal || comparison == .notEqual {
      if case .map = value { return nil }
      return comparison == .notEqual
    }
    guard case .constrained(let constraints) = facts[Int(symbol)] else { return nil }
    for constraint in constraints {
      if let decided = decides(constraint, comparison, value) { return decided }
    }
    return nil
  }

  private func decides(_ known: Constraint, _ asked: BinaryOperator, _ value: RulesValue) -> Bool? {
    switch (known.comparison, asked) {
    case (.notEqual, .notEqual): return known.value == value ? true : nil
    case (.notEqual, .equal): return known.value == value ? false : nil
    // The element of the document is one of the readings, and all of them have to be equal to the value.
    case (.arrayContains, .contained):
      return QueryFacts.allReadings(of: known.value, limit) { $0 == value } == true ? true : nil
    case (.equal, _): return QueryFacts.open(known.value, asked, value)
    case (.isIn, _): return QueryFacts.oneOf(known.value, asked, value)
    case (.greater, .greater), (.greater, .greaterOrEqual), (.greaterOrEqual, .greaterOrEqual):
      return Arithmetic.order(known.value, value).map { $0 == .after || $0 == .same } == true ? true : nil
    case (.greaterOrEqual, .greater): return Arithmetic.order(known.value, value) == .after ? true : nil
    case (.less, .less), (.less, .lessOrEqual), (.lessOrEqual, .lessOrEqual):
      return Arithmetic.order(known.value, value).map { $0 == .before || $0 == .same } == true ? true : nil
    case (.lessOrEqual, .less): return Arithmetic.order(known.value, value) == .before ? true : nil
    // No value outside of a range is equal to one in it.
    case (.greater, .equal), (.greater, .notEqual), (.greaterOrEqual, .equal), (.greaterOrEqual, .notEqual),
      (.less, .equal), (.less, .notEqual), (.lessOrEqual, .equal), (.lessOrEqual, .notEqual):
      return excludes(known, value) ? asked == .notEqual : nil
    default: return nil
    }
  }

  /// Whether a value is outside of a range.
  private func excludes(_ range: Constraint, _ value: RulesValue) -> Bool {
    let order = Arithmetic.order(range.value, value)
    switch range.comparison {
    case .greater: return order == .after || order == .same
    case .greaterOrEqual: return order == .after
    case .less: return order == .before || order == .same
    case .lessOrEqual: return order == .before
    default: return false
    }
  }

  /// The answer of a comparison with a number that is equal to a known one, whatever its type: both compare by value.
  private static func open(_ known: RulesValue, _ asked: BinaryOperator, _ value: RulesValue) -> Bool? {
    switch known {
    case .int, .float: break
    default: return nil
    }
    switch asked {
    case .equal: return known == value
    case .notEqual: return known != value
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      return Arithmetic.order(known, value).map { Arithmetic.holds(asked, $0) }
    default: return nil
    }
  }

  /// The answer of a comparison with one of several values; nil where it is not the same for all of them.
  static func oneOf(_ known: RulesValue, _ asked: BinaryOperator, _ value: RulesValue) -> Bool? {
    guard case .list(let values) = known else { return nil }
    if case .int(let number) = value, case .answer(let answer) = integers(values, asked, number) { return answer }
    return each(values, asked, value)
  }

  private enum OfIntegers {
    /// True or false for all of them; nil where they differ.
    case answer(Bool?)
    /// Some are no integers, or the question is no comparison of integers.
    case unknown
  }

  /// The answer for integers, which need not be looked at as values: lists of ids and numbers are the usual ones.
  private static func integers(_ values: [RulesValue], _ asked: BinaryOperator, _ number: Int64) -> OfIntegers {
    var (holds, fails) = (0, 0)
    for one in values {
      guard case .int(let known) = one else { return .unknown }
      let isTrue: Bool
      switch asked {
      case .equal: isTrue = known == number
      case .notEqual: isTrue = known != number
      case .less: isTrue = known < number
      case .lessOrEqual: isTrue = known <= number
      case .greater: isTrue = known > number
      case .greaterOrEqual: isTrue = known >= number
      default: return .unknown
      }
      if isTrue { holds += 1 } else { fails += 1 }
    }
    return .answer(holds > 0 && fails > 0 || values.isEmpty ? nil : holds > 0)
  }

  /// The answer for values of any types, one by one.
  static func each(_ values: [RulesValue], _ asked: BinaryOperator, _ value: RulesValue) -> Bool? {
    var answer: Bool?
    for one in values {
      let found: Bool?
      switch (one, asked) {
      case (.int, _), (.float, _): found = open(one, asked, value)
      case (.list, _), (.map, _): found = nil
      case (_, .equal): found = one == value
      case (_, .notEqual): found = one != value
      default: found = nil
      }
      guard let found, answer == nil || answer == found else { return nil }
      answer = found
    }
    return answer
  }

  /// The verdict of a condition on all readings of a value; nil where they differ or are too many.
  private static func allReadings(
    of value: RulesValue, _ limit: Int, _ condition: (RulesValue) -> Bool
  ) -> Bool? {
    guard let readings = NumberReadings.of(value, limit: limit), let first = readings.first.map(condition) else {
      return nil
    }
    return readings.dropFirst().allSatisfy { condition($0) == first } ? first : nil
  }
}

extension RulesValue {
  /// Whether it is null or NaN.
  var isSpecial: Bool {
    switch self {
    case .null: true
    case .float(let number): number.isNaN
    default: false
    }
  }

  /// Whether an order comparison with it is an error of types.
  fileprivate var isUnordered: Bool {
    switch self {
    case .null, .bool: true
    default: false
    }
  }
}

extension BinaryOperator {
  fileprivate var isOrder: Bool {
    switch self {
    case .less, .lessOrEqual, .greater, .greaterOrEqual: true
    default: false
    }
  }

  /// The operator with its operands exchanged.
  ///
  /// Of `in` the right operand is the one that is asked about.
  var mirrored: BinaryOperator {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    default: self
    }
  }
}
