package import VestaFirestoreBackend

/// The target of a listener: a document, or the results of a query with its implicit parts.
///
/// Queries that differ in nothing but the side that their limit counts from share a target: `limit` and `limitToLast`
/// over the opposite orders. Equality compares the written form, so the order of filters counts.
package struct QueryTarget: Sendable, Hashable {
  /// The database.
  package let database: DatabaseName
  /// A document, a collection, or what a collection group is below.
  package let path: ResourcePath
  /// The identifier of the collections; `nil` for a document or one collection.
  package let collectionGroup: CollectionID?
  /// The filters, all of which documents must match.
  package let filters: [Filter]
  /// The orders with the implicit ones; the last one is by name.
  package let orders: [NormalQuery.Order]
  /// The maximum number of results.
  package let limit: Int?
  /// The position at which results begin.
  package let startAt: StructuredQuery.Cursor?
  /// The position at which results end.
  package let endAt: StructuredQuery.Cursor?

  /// A target of its parts.
  package init(
    database: DatabaseName, path: ResourcePath, collectionGroup: CollectionID? = nil, filters: [Filter] = [],
    orders: [NormalQuery.Order] = [NormalQuery.Order(.documentName)], limit: Int? = nil,
    startAt: StructuredQuery.Cursor? = nil, endAt: StructuredQuery.Cursor? = nil
  ) {
    self.database = database
    self.path = path
    self.collectionGroup = collectionGroup
    self.filters = filters
    self.orders = orders
    self.limit = limit
    self.startAt = startAt
    self.endAt = endAt
  }

  /// Whether the target is one document.
  package var isDocument: Bool { path.isDocument && collectionGroup == nil && filters.isEmpty }

  /// The query as the service takes it; of a document target, its collection.
  package var structured: StructuredQuery {
    StructuredQuery(
      from: [
        .init(collectionID: (collectionGroup ?? path.collectionID).rawValue, allDescendants: collectionGroup != nil)
      ],
      filter: filters.count > 1 ? .composite(.and, filters) : filters.first,
      orderBy: orders.map { .init(fieldPath: $0.path.description, $0.descending ? .descending : .ascending) },
      startAt: startAt, endAt: endAt, limit: limit.map(Int32.init(clamping:)))
  }

  /// The full name of what the collections are below.
  package var parent: String {
    ResourceName(database: database, path: collectionGroup == nil ? path.parent : path).description
  }

  /// The subject that the service follows.
  package var subject: Target.Subject {
    if isDocument { return .documents([ResourceName(database: database, path: path).description]) }
    return .query(parent: parent, structured)
  }

  /// The query as planners take it, with everything checked that the service checks.
  ///
  /// - Throws: `INVALID_ARGUMENT` for what the service would refuse.
  package func normalized() throws(FirestoreServiceError) -> NormalQuery { try NormalQuery(structured, parent: parent) }

  /// A string that is equal for equal targets and different for others.
  package var canonicalID: String {
    var parts = [path.description]
    if let collectionGroup { parts.append("cg:\(collectionGroup)") }
    parts.append("f:" + filters.map(CanonicalForm.text).joined(separator: ","))
    parts.append("ob:" + orders.map { "\($0.path)\($0.descending ? "desc" : "asc")" }.joined())
    if let limit { parts.append("l:\(limit)") }
    if let startAt {
      parts.append("lb:" + (startAt.before ? "b:" : "a:") + CanonicalForm.text(of: .array(startAt.values)))
    }
    if let endAt { parts.append("ub:" + (endAt.before ? "b:" : "a:") + CanonicalForm.text(of: .array(endAt.values))) }
    return parts.joined(separator: "|")
  }
}

extension CanonicalForm {
  /// The form of a filter as it is written: conjunctions of plain filters are joined, others are named.
  static func text(of filter: Filter) -> String {
    switch filter {
    case .unary(let path, let operation): return path + operation.rawValue
    case .field(let path, let operation, let operand): return path + symbol(of: operation) + text(of: operand)
    case .composite(.and, let filters) where filters.allSatisfy(isPlain):
      return filters.map { text(of: $0) }.joined(separator: ",")
    case .composite(let operation, let filters):
      let name = operation == .and ? "and" : "or"
      return name + "(" + filters.map { text(of: $0) }.joined(separator: ",") + ")"
    }
  }

  private static func isPlain(_ filter: Filter) -> Bool {
    if case .composite = filter { return false }
    return true
  }

  private static func symbol(of operation: Filter.FieldOperator) -> String {
    switch operation {
    case .lessThan: "<"
    case .lessThanOrEqual: "<="
    case .greaterThan: ">"
    case .greaterThanOrEqual: ">="
    case .equal: "=="
    case .notEqual: "!="
    case .arrayContains: "array-contains"
    case .in: "in"
    case .arrayContainsAny: "array-contains-any"
    case .notIn: "not-in"
    }
  }
}
