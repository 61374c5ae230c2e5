import VestaBytes

extension Ruleset {
  /// Whether the quick forms of the rules allow a query; `false` also where the rules have to be evaluated in full.
  ///
  /// Most rules compare the user with a field that the filter fixes: they are proved without the state of an
  /// evaluation.
  func allowsQuickly(
    _ query: RulesQuery, _ path: MatchedPath, auth: RulesValue?, _ budget: inout RulesBudget
  ) -> Bool {
    guard let auth, !query.isGroup, service == .firestore, budget.work.left >= limits.tuning.quickWork,
      query.filter?.isConjunction ?? true
    else { return false }
    // Conditions that ask whether there is a resource have no quick form for queries.
    let isSignedIn = if case .null = auth { false } else { true }
    let bindings = code.table.bindings(of: path)
    var left = budget.expressions
    for index in 0..<bindings.count {
      guard let binding = bindings[index], let statements = code.quickLists[binding.match],
        let isAllowed = statements.allow(
          isSignedIn: isSignedIn, hasResource: false, "", SegmentPlaces(), left: &left,
          upTo: limits.tuning.quickString,
          { question in
            switch question {
            case .uid: Self.member("uid", of: auth)
            case .claim(let name): Self.member("token", of: auth).flatMap { Self.member(name, of: $0) }
            // The filter fixes the known fields of the query's documents.
            case .field(let name): query.filter?.fixedValue(of: name)
            case .writtenField: .none
            }
          })
      else { return false }
      if isAllowed {
        budget.expressions = left
        return true
      }
    }
    return false
  }

  private static func member(_ name: String, of value: RulesValue) -> RulesValue? {
    guard case .map(let map) = value else { return .none }
    return map[name]
  }
}

extension RulesQuery.Filter {
  /// Whether the filter is one alternative.
  fileprivate var isConjunction: Bool {
    switch self {
    case .field(_, let comparison, _): comparison != .isIn && comparison != .arrayContainsAny
    case .all(let filters): filters.allSatisfy(\.isConjunction)
    case .any: false
    }
  }

  /// The value that a field has in every document of a conjunction; none where the filter does not fix it.
  fileprivate func fixedValue(of name: String) -> RulesValue? {
    // No `nil` here: it would be the literal for the value null, which is a fact.
    switch self {
    case .field(let field, .equal, let value):
      guard field.count == 1, UTF8Order.equal(field[0], name) else { return .none }
      return value
    case .field, .any: return .none
    case .all(let filters):
      for filter in filters { if let value = filter.fixedValue(of: name) { return value } }
      return .none
    }
  }

  /// The filter as one alternative in which a field has one of several values, with the number of alternatives that it
  /// stands for; `nil` for a filter that has to be taken apart.
  ///
  /// - Parameter limit: The largest number of alternatives.
  func joined(limit: Int) -> (conditions: [QueryCondition], count: Int)? {
    var (conditions, count) = ([QueryCondition](), 1)
    guard join(&conditions, &count, limit), count > 1, let open = conditions.withOpenValues else { return nil }
    return (open, count)
  }

  private func join(_ conditions: inout [QueryCondition], _ count: inout Int, _ limit: Int) -> Bool {
    switch self {
    case .field(let field, .isIn, .list(let values)):
      // The list itself where it has neither null nor NaN.
      let found = values.contains { $0.isSpecial } ? values.filter { !$0.isSpecial } : values
      guard !found.isEmpty, count * found.count <= limit else { return false }
      count *= found.count
      let constraint = QueryFacts.Constraint(comparison: .isIn, value: .list(found))
      conditions.append(QueryCondition(field: field, constraint: constraint))
    case .field:
      guard let alternatives = alternatives(limit: 1), let only = alternatives.first, alternatives.count == 1 else {
        return false
      }
      conditions += only
    case .all(let filters):
      for filter in filters { guard filter.join(&conditions, &count, limit) else { return false } }
    case .any: return false
    }
    return true
  }
}
