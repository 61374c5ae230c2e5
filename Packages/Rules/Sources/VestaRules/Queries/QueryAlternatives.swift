/// A condition on a field that holds for every document of an alternative.
struct QueryCondition: Sendable {
  let field: [String]
  let constraint: QueryFacts.Constraint
  /// Whether the value that it fixes counts in its comparisons alone.
  var isOpen = false
}

extension RulesQuery.Filter {
  /// The alternatives of the filter, each a list of conditions that hold together; nil when there are more than
  /// `limit`.
  func alternatives(limit: Int) -> [[QueryCondition]]? {
    switch self {
    case .field(let field, let comparison, let value): return alternatives(field, comparison, value)
    case .any(let filters):
      var all: [[QueryCondition]] = []
      for filter in filters {
        guard let next = filter.alternatives(limit: limit), all.count + next.count <= limit else { return nil }
        all += next
      }
      return all
    case .all(let filters):
      var all: [[QueryCondition]] = [[]]
      for filter in filters {
        guard let next = filter.alternatives(limit: limit), all.count * next.count <= limit else { return nil }
        all = all.flatMap { left in next.map { left + $0 } }
      }
      return all
    }
  }

  private func alternatives(
    _ field: [String], _ comparison: RulesQuery.Comparison, _ value: RulesValue
  ) -> [[QueryCondition]] {
    func condition(_ comparison: RulesQuery.Comparison, _ value: RulesValue) -> QueryCondition {
      QueryCondition(field: field, constraint: QueryFacts.Constraint(comparison: comparison, value: value))
    }
    switch (comparison, value) {
    // Null and NaN are found by `==` and `!=` alone: other comparisons with them find no document.
    case (.isIn, .list(let values)): return values.filter { !$0.isSpecial }.map { [condition(.equal, $0)] }
    case (.arrayContainsAny, .list(let values)):
      return values.filter { !$0.isSpecial }.map { [condition(.arrayContains, $0)] }
    case (.notIn, .list(let values)):
      return values.contains { $0.isNull } ? [] : [values.map { condition(.notEqual, $0) }]
    case (.less, _), (.lessOrEqual, _), (.greater, _), (.greaterOrEqual, _), (.arrayContains, _):
      return value.isSpecial ? [] : [[condition(comparison, value)]]
    default: return [[condition(comparison, value)]]
    }
  }
}

extension RulesValue {
  fileprivate var isNull: Bool { if case .null = self { true } else { false } }
}
