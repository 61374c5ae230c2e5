extension [QueryCondition] {
  /// The number of conditions of which every combination is tried.
  private static let combined = 3

  /// The same conditions with their numbers as the other type.
  ///
  /// A filter `f == 5` also returns documents whose `f` is 5.0, and the other way round, while rules can tell them
  /// apart (`is int`, `5 / 2`). So what a filter fixes has to prove the rules in both readings. Of more numbers than a
  /// few each one alone is changed, and all of them together.
  var numberVariants: [[QueryCondition]] {
    let changed = map { condition -> QueryCondition? in
      guard condition.constraint.comparison == .equal, let value = condition.constraint.value.asOtherNumber else {
        return nil
      }
      return QueryCondition(
        field: condition.field, constraint: QueryFacts.Constraint(comparison: .equal, value: value))
    }
    let places = changed.indices.filter { changed[$0] != nil }
    guard !places.isEmpty else { return [] }
    func variant(_ chosen: some Sequence<Int>) -> [QueryCondition] {
      var conditions = self
      for place in chosen { if let other = changed[place] { conditions[place] = other } }
      return conditions
    }
    guard places.count <= Self.combined else { return places.map { variant([$0]) } + [variant(places)] }
    return (1..<(1 << places.count)).map { bits in
      variant(places.enumerated().filter { bits & 1 << $0.offset != 0 }.map(\.element))
    }
  }
}

extension RulesValue {
  /// The value with its numbers as integers where they were floats and as floats where they were integers; nil where
  /// there is no such number.
  fileprivate var asOtherNumber: RulesValue? {
    switch self {
    case .int(let number):
      guard let float = Double(exactly: number) else { return nil }
      return .float(float)
    case .float(let number):
      guard let int = Int64(exactly: number) else { return nil }
      return .int(int)
    case .list(let list):
      let changed = list.map(\.asOtherNumber)
      guard changed.contains(where: { $0 != nil }) else { return nil }
      return .list(zip(changed, list).map { $0 ?? $1 })
    case .map(let map):
      let changed = map.members.map { ($0, $0.value.asOtherNumber) }
      guard changed.contains(where: { $0.1 != nil }) else { return nil }
      return .map(RulesMap(changed.map { RulesMap.Member($0.0.name, $0.1 ?? $0.0.value) }))
    default: return nil
    }
  }
}
