package import VestaFirestoreBackend

/// The rules for filters.
package enum FilterRules {
  /// Checks the filters of a query one by one, before they are expanded.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - database: The database that references for `__name__` must be of.
  /// - Throws: `INVALID_ARGUMENT` that names the field or the operator.
  package static func check(_ query: StructuredQuery, database: DatabaseName) throws(FirestoreServiceError) {
    guard let filter = query.filter else { return }
    var leaves: [Filter] = []
    try collect(filter, into: &leaves, depth: 0)
    guard leaves.count + query.orderBy.count <= FirestoreLimits.filtersAndOrders else {
      throw .invalid(
        "The query has \(leaves.count + query.orderBy.count) filters and orders; "
          + "at most \(FirestoreLimits.filtersAndOrders) are allowed."
      )
    }
    for leaf in leaves { try check(leaf: leaf, database: database) }
    if leaves.count(where: isNegation) > 1 {
      throw .invalid("Only a single 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NAN', or 'IS_NOT_NULL' filter allowed per query.")
    }
    try checkNotIn(leaves, filter: filter)
  }

  /// Checks the combination of filters.
  ///
  /// - Parameters:
  ///   - form: The alternatives.
  ///   - fields: The fields with inequalities.
  package static func check(_ form: DisjunctiveForm, inequalities fields: [FieldPath]) throws(FirestoreServiceError) {
    guard fields.count <= FirestoreLimits.inequalityFields else {
      throw .invalid(
        "Cannot have inequality filters on more than \(FirestoreLimits.inequalityFields) properties: \(fields)"
      )
    }
    for conjunction in form.conjunctions where conjunction.count(where: isContains) > 1 {
      throw .invalid("A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction.")
    }
  }

  private static func isContains(_ predicate: Predicate) -> Bool {
    if case .contains = predicate.test { return true }
    return false
  }

  private static func collect(_ filter: Filter, into leaves: inout [Filter], depth: Int) throws(FirestoreServiceError) {
    guard case .composite(_, let filters) = filter else {
      leaves.append(filter)
      return
    }
    if filters.isEmpty { throw .invalid("A composite filter must have at least one filter in it.") }
    // Recursion follows the request, so it has to end somewhere.
    if depth > FirestoreLimits.filtersAndOrders { throw .invalid("Composite filters are nested too deeply.") }
    for filter in filters { try collect(filter, into: &leaves, depth: depth + 1) }
  }

  private static func isNegation(_ filter: Filter) -> Bool {
    switch filter {
    case .field(_, .notEqual, _), .field(_, .notIn, _), .unary(_, .isNotNaN), .unary(_, .isNotNull): true
    default: false
    }
  }

  private static func checkNotIn(_ leaves: [Filter], filter: Filter) throws(FirestoreServiceError) {
    let hasNotIn = leaves.contains { if case .field(_, .notIn, _) = $0 { true } else { false } }
    guard hasNotIn else { return }
    let hasIn = leaves.contains {
      switch $0 {
      case .field(_, .in, _), .field(_, .arrayContainsAny, _): true
      default: false
      }
    }
    if hasIn {
      throw .invalid("'NOT_IN' cannot be combined with 'IN' or 'ARRAY_CONTAINS_ANY' in the same query.")
    }
    if hasOr(filter) { throw .invalid("'NOT_IN' cannot be used in the same query as 'OR'.") }
  }

  private static func hasOr(_ filter: Filter) -> Bool {
    guard case .composite(let operation, let filters) = filter else { return false }
    return operation == .or && filters.count > 1 || filters.contains(where: hasOr)
  }

  private static func check(leaf: Filter, database: DatabaseName) throws(FirestoreServiceError) {
    switch leaf {
    case .composite: return
    case .unary(let text, let operation):
      let path = try FieldPath(parsing: text)
      try path.checkForComparison()
      if path.isDocumentName { throw .invalid("'\(operation.rawValue)' cannot be used with __name__.") }
    case .field(let text, let operation, let operand):
      let path = try FieldPath(parsing: text)
      try path.checkForComparison()
      try check(path, operation, operand, database: database)
    }
  }

  private static func check(
    _ path: FieldPath, _ operation: Filter.FieldOperator, _ operand: Value, database: DatabaseName
  ) throws(FirestoreServiceError) {
    var values = [operand]
    if operation == .in || operation == .arrayContainsAny || operation == .notIn {
      values = try elements(of: operand, operation)
    }
    let isElement = operation == .arrayContains || operation == .arrayContainsAny
    if isElement && path.isDocumentName { throw .invalid("the name __key__ is reserved") }
    for value in values {
      try DocumentRules.checkDepth(of: value, at: path)
      if IndexEncoder.truncates(value) {
        throw .invalid("value for \(path)\(isElement ? "[*]" : "") is too large to be used in a query")
      }
      if path.isDocumentName {
        try checkName(value, database: database)
      } else {
        try DocumentRules.check(operand: value, of: path)
      }
    }
  }

  private static func elements(
    of operand: Value, _ operation: Filter.FieldOperator
  ) throws(FirestoreServiceError) -> [Value] {
    let name = operation.rawValue
    guard case .array(let elements) = operand, !elements.isEmpty else {
      throw .invalid("'\(name)' requires an non-empty ArrayValue.")
    }
    let limit = operation == .notIn ? FirestoreLimits.notInValues : FirestoreLimits.comparisonValues
    guard elements.count <= limit else {
      throw .invalid("'\(name)' supports up to \(limit) comparison values.")
    }
    return elements
  }

  private static func checkName(_ value: Value, database: DatabaseName) throws(FirestoreServiceError) {
    guard case .reference(let text) = value else {
      throw .invalid("__key__ filter value must be a Key")
    }
    let name = try ResourceName(document: text)
    guard name.database == database else {
      throw .invalid("__key__ filter value is in a different partition than the query: \(text)")
    }
  }
}
