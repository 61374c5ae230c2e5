/// Operations of which an operand is a part of a document that a query returns.
enum QuerySymbols {
  /// A member of a part of a document that a query returns.
  static func member(_ symbol: Int32, _ name: String, _ id: Int, _ evaluation: inout Evaluation) -> Operand {
    evaluation.facts?.member(symbol, name) ?? evaluation.fail(.unknown, id)
  }

  /// An operator of which an operand is a part of a document that a query returns.
  static func binary(
    _ found: BinaryOperator, _ left: Operand, _ right: Operand, _ id: Int, _ evaluation: inout Evaluation
  ) -> Operand {
    let facts = evaluation.facts
    let decided: Bool?
    switch (left, right) {
    case (.symbol(let symbol), .value(let value)):
      decided = found == .contained ? nil : facts?.decides(symbol, found, value)
    case (.value(let value), .symbol(let symbol)): decided = facts?.decides(symbol, found.mirrored, value)
    default: decided = nil
    }
    return decided.map { .value(.bool($0)) } ?? evaluation.fail(.unknown, id)
  }

  /// The type test of a part of a document that a query returns.
  static func isType(_ symbol: Int32, _ type: String, _ id: Int, _ evaluation: inout Evaluation) -> Operand {
    guard evaluation.facts?.isMap(symbol) == true else { return evaluation.fail(.unknown, id) }
    return .value(.bool(type == RulesValue.Kind.map.rawValue))
  }

  /// A method of a part of a document that a query returns.
  ///
  /// What a filter says of a field says also that the field is there. Only what holds for every document is known: of
  /// the names of the members that there are some, and of a list that it has some values.
  static func method(
    _ symbol: Int32, _ method: ValueMethod, _ first: Operand, count: Int, _ id: Int, _ evaluation: inout Evaluation
  ) -> Operand {
    guard let facts = evaluation.facts else { return evaluation.fail(.unknown, id) }
    var known: Operand?
    switch (method, facts.form(of: symbol), first, count) {
    case (.get, .part, .value(.string(let name)), 2): known = facts.member(symbol, name)
    case (.get, .part, .value(.list(let names)), 2): known = nested(symbol, names, facts)
    case (.keys, .part, _, 0): known = facts.symbol(symbol, as: .names).map(Operand.symbol)
    case (.diff, .part, .value(.map(let other)), 1) where other.count == 0:
      known = facts.symbol(symbol, as: .difference).map(Operand.symbol)
    case (.addedKeys, .difference, _, 0), (.affectedKeys, .difference, _, 0), (.toSet, .names, _, 0):
      known = facts.symbol(symbol, as: .nameSet).map(Operand.symbol)
    case (.hasAny, let form, .value(let value), 1):
      guard let values = value.elements, evaluation.budget.work.take(values.count) else { break }
      if form == .names || form == .nameSet {
        known = values.contains { facts.has(symbol, $0) } ? .yes : nil
      } else if case .list = value {
        known = facts.hasAny(symbol, of: values) ? .yes : nil
      }
    case (.hasAll, .names, .value(let value), 1), (.hasAll, .nameSet, .value(let value), 1):
      guard let values = value.elements, evaluation.budget.work.take(values.count) else { break }
      known = values.allSatisfy { facts.has(symbol, $0) } ? .yes : nil
    default: break
    }
    return known ?? evaluation.fail(.unknown, id)
  }

  /// The member that a list of names leads to.
  private static func nested(_ symbol: Int32, _ names: [RulesValue], _ facts: QueryFacts) -> Operand? {
    var current = Operand.symbol(symbol)
    for name in names {
      guard case .string(let name) = name else { return nil }
      switch current {
      case .symbol(let symbol):
        guard let member = facts.member(symbol, name) else { return nil }
        current = member
      case .value(.map(let map)):
        guard let value = map[name] else { return nil }
        current = .value(value)
      default: return nil
      }
    }
    return current
  }
}

extension RulesValue {
  /// The elements of a list or a set.
  fileprivate var elements: [RulesValue]? {
    switch self {
    case .list(let list): list
    case .set(let set): set.elements
    default: nil
    }
  }
}
