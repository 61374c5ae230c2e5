package import VestaFirestoreBackend

/// A filter as alternatives: a document matches when it satisfies all predicates of one of them.
///
/// `in` and `array-contains-any` become alternatives. Null and NaN are found by unary filters only: as operands of
/// other filters they match nothing, and `!=` and `not-in` take no notice of NaN. `or` and `and` are multiplied out,
/// and alternatives with the same predicates are one.
package struct DisjunctiveForm: Sendable, Hashable {
  /// The alternatives: one empty one where there is no filter, none where nothing can match.
  package let conjunctions: [[Predicate]]

  /// The alternatives of a filter.
  ///
  /// - Parameter filter: The filter; `nil` for none. `FilterRules` has found nothing wrong with it.
  /// - Throws: `INVALID_ARGUMENT` when there are too many of them, before they are all made.
  package init(_ filter: Filter?) throws(FirestoreServiceError) {
    guard let filter else {
      conjunctions = [[]]
      return
    }
    conjunctions = try DisjunctiveForm.unique(DisjunctiveForm.expand(filter))
  }

  /// Whether a document satisfies all predicates of an alternative.
  package func matches(_ document: Document) -> Bool {
    conjunctions.contains { $0.allSatisfy { $0.matches(document) } }
  }

  private static func expand(_ filter: Filter) throws(FirestoreServiceError) -> [[Predicate]] {
    switch filter {
    case .composite(.or, let filters):
      var sum: [[Predicate]] = []
      for filter in filters {
        sum += try expand(filter)
        try check(sum.count)
      }
      return sum
    case .composite(.and, let filters):
      var product: [[Predicate]] = [[]]
      for filter in filters {
        let factor = try expand(filter)
        try check(product.count * factor.count)
        product = product.flatMap { left in factor.map { left + $0 } }
      }
      return product
    case .unary, .field: return try alternatives(of: filter)
    }
  }

  /// The alternatives of a plain filter; none where it can match nothing.
  ///
  /// - Throws: `INVALID_ARGUMENT` for a field path that is none.
  static func alternatives(of filter: Filter) throws(FirestoreServiceError) -> [[Predicate]] {
    switch filter {
    case .composite: return try expand(filter)
    case .unary(let path, let operation): return [[unary(try FieldPath(parsing: path), operation)]]
    case .field(let path, let operation, let operand):
      return field(try FieldPath(parsing: path), operation, operand)
    }
  }

  private static func unary(_ path: FieldPath, _ operation: Filter.UnaryOperator) -> Predicate {
    switch operation {
    case .isNull: Predicate(path, .equal(.null))
    case .isNaN: Predicate(path, .equal(.double(.nan)))
    case .isNotNull: Predicate(path, .notIn([]))
    case .isNotNaN: Predicate(path, .notIn([.double(.nan)]))
    }
  }

  private static func field(_ path: FieldPath, _ operation: Filter.FieldOperator, _ operand: Value) -> [[Predicate]] {
    var values = [operand]
    if case .array(let elements) = operand { values = elements }
    func one(_ test: Predicate.Test) -> [[Predicate]] { isComparable(operand) ? [[Predicate(path, test)]] : [] }
    switch operation {
    case .lessThan: return one(.compare(.less, operand))
    case .lessThanOrEqual: return one(.compare(.lessOrEqual, operand))
    case .greaterThan: return one(.compare(.greater, operand))
    case .greaterThanOrEqual: return one(.compare(.greaterOrEqual, operand))
    case .equal: return one(.equal(operand))
    case .arrayContains: return one(.contains(operand))
    case .notEqual: return [[Predicate(path, .notIn(isNaN(operand) ? [] : [operand]))]]
    case .notIn: return [[Predicate(path, .notIn(values.filter { !isNaN($0) }))]]
    case .in: return values.filter(isComparable).map { [Predicate(path, .equal($0))] }
    case .arrayContainsAny: return values.filter(isComparable).map { [Predicate(path, .contains($0))] }
    }
  }

  /// Whether an operand can match anything.
  private static func isComparable(_ value: Value) -> Bool { value != .null && !isNaN(value) }

  private static func isNaN(_ value: Value) -> Bool {
    if case .double(let number) = value { return number.isNaN }
    return false
  }

  private static func check(_ count: Int) throws(FirestoreServiceError) {
    guard count <= FirestoreLimits.disjunctions else {
      throw .invalid("Too many disjunctions after normalization: \(count) > \(FirestoreLimits.disjunctions).")
    }
  }

  private static func unique(_ conjunctions: [[Predicate]]) -> [[Predicate]] {
    var seen: Set<Set<Predicate>> = []
    return conjunctions.filter { seen.insert(Set($0)).inserted }
  }
}
