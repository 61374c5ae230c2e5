extension RulesTrace {
  /// Of a query that is denied: filters that would have proved what it leaves open, as `owner == 'ada'`.
  ///
  /// Each is for one comparison of the rules that was looked at; whether the whole is allowed then, the rules decide.
  public var provingFilters: [String] {
    guard decision.method == .list, !decision.isAllowed else { return [] }
    var filters: [String] = []
    var waiting = statements.reversed().compactMap(\.condition)
    while let expression = waiting.popLast() {
      if let filter = filter(proving: expression), !filters.contains(filter) { filters.append(filter) }
      waiting += expression.parts.reversed()
    }
    return filters
  }

  private func filter(proving expression: Expression) -> String? {
    guard expression.outcome.isUnknown,
      case .binary(let found, let left, let right) = code.tree.nodes[expression.step].kind
    else { return nil }
    if let field = field(left), let value = value(of: right, in: expression) {
      let sign = found == .contained ? "in" : found.rawValue
      return found.isComparison || found == .contained ? "\(field) \(sign) \(value)" : nil
    }
    guard let field = field(right), let value = value(of: left, in: expression) else { return nil }
    if found == .contained { return "\(field) array-contains \(value)" }
    return found.isComparison ? "\(field) \(found.mirrored.rawValue) \(value)" : nil
  }

  private func value(of node: NodeID, in expression: Expression) -> RulesValue? {
    guard case .value(let value)? = expression.parts.first(where: { $0.step == node })?.outcome else { return nil }
    return value
  }

  /// The path of the field that an expression such as `resource.data.a.b` names.
  private func field(_ node: NodeID) -> String? {
    var (names, current): ([String], NodeID) = ([], node)
    while case .member(let target, let name) = code.tree.nodes[current].kind {
      names.append(name)
      current = target
    }
    guard case .name("resource") = code.tree.nodes[current].kind, names.count > 1, names.last == "data" else {
      return nil
    }
    return names.dropLast().reversed().joined(separator: ".")
  }
}

extension RulesTrace.Expression.Outcome {
  /// Whether it depends on what the query does not fix.
  fileprivate var isUnknown: Bool {
    switch self {
    case .unknown, .failure(.unknown): true
    case .value, .failure, .notEvaluated: false
    }
  }
}

extension BinaryOperator {
  /// Whether filters have it as well.
  fileprivate var isComparison: Bool {
    switch self {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: true
    default: false
    }
  }
}
