package import VestaFirestoreBackend

/// A query that has been checked and has everything implicit in it.
///
/// ```swift
/// let query = try NormalQuery(request.query, parent: request.parent)
/// let results = query.results(in: documents)
/// ```
package struct NormalQuery: Sendable, Hashable {
  /// A field to order by.
  package struct Order: Sendable, Hashable {
    /// The field.
    package let path: FieldPath
    /// Whether larger values are first.
    package let descending: Bool

    /// An order by a field.
    package init(_ path: FieldPath, descending: Bool = false) {
      self.path = path
      self.descending = descending
    }
  }

  /// The document or root that the collections are below.
  package let parent: ResourceName
  /// The identifier of the collections; `nil` for all.
  package let collectionID: CollectionID?
  /// Whether collections at any depth count.
  package let allDescendants: Bool
  /// The filter that documents must match.
  package let filter: DisjunctiveForm
  /// The orders; the last one is by the name of the document.
  package private(set) var orders: [Order]
  /// The position at which results begin.
  package private(set) var startAt: StructuredQuery.Cursor?
  /// The position at which results end.
  package private(set) var endAt: StructuredQuery.Cursor?
  /// The number of results to leave out.
  package private(set) var offset: Int
  /// The maximum number of results.
  package private(set) var limit: Int?
  /// The last result of the page before; results follow it in the order of the query.
  package private(set) var after: Document?
  /// The fields to return; `nil` for all.
  package let select: [FieldPath]?
  /// Takes the nearest of the results.
  package let findNearest: FindNearest?

  /// Checks a query and completes it.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - parent: The name of the root or of a document.
  /// - Throws: `INVALID_ARGUMENT` that names what is wrong.
  package init(_ query: StructuredQuery, parent: String) throws(FirestoreServiceError) {
    self.parent = try ResourceName(parent: parent)
    (collectionID, allDescendants) = try NormalQuery.selector(of: query)
    try FilterRules.check(query, database: self.parent.database)
    filter = try DisjunctiveForm(query.filter)
    let inequalities = try query.filter?.inequalityFields ?? []
    try FilterRules.check(filter, inequalities: inequalities)
    orders = try NormalQuery.orders(of: query, inequalities: inequalities)
    startAt = query.startAt
    endAt = query.endAt
    offset = Int(query.offset)
    limit = query.limit.map(Int.init)
    let selected = query.select.flatMap { $0.isEmpty ? nil : $0 }
    select = try selected.map { (paths) throws(FirestoreServiceError) in try FieldMaskRules.paths(paths) }
    findNearest = query.findNearest
    try QueryRules.check(self)
  }

  /// The query of the results that follow.
  ///
  /// - Parameters:
  ///   - last: The last document that was looked at, in the order of the query; it need not be a result.
  ///   - count: How many results there have been up to it.
  ///   - skipped: How many more the offset has left out.
  package func continued(after last: Document, returned count: Int, skipped: Int = 0) -> NormalQuery {
    var result = self
    result.after = last
    result.offset = max(0, offset - skipped)
    result.limit = limit.map { max(0, $0 - count) }
    return result
  }

  /// Whether a document sorts after the one at which the query continues.
  package func begins(before document: Document) -> Bool { after.map { compare($0, document) < 0 } ?? true }

  /// The query of the first matches, whatever this one leaves out.
  package func first(_ count: Int) -> NormalQuery {
    var result = self
    result.offset = 0
    result.limit = count
    return result
  }

  /// The filtered fields, the name among them, that the results are not ordered by first: walking the order may pass
  /// documents by that a range of such a field leaves out.
  package var fieldsAside: [FieldPath] {
    let first = orders.first?.path
    let constrained = filter.conjunctions.joined().filter { predicate in
      if case .contains = predicate.test { return false }
      return predicate.isInequality || orders.contains { $0.path == predicate.path }
    }
    return Set(constrained.map(\.path)).filter { $0 != first }.sorted()
  }

  /// The query of all documents that one filtered field leaves, in the order of that field.
  ///
  /// It has no cursors, offset and limit, so its results include this query's.
  package func narrowed(by path: FieldPath) -> NormalQuery {
    var result = self
    result.orders = path.isDocumentName ? [Order(path)] : [Order(path), Order(.documentName)]
    (result.startAt, result.endAt, result.after) = (nil, nil, nil)
    (result.offset, result.limit) = (0, nil)
    return result
  }

  /// The same query, ordered by more fields right before the name.
  ///
  /// It leaves out what lacks one of them.
  package func ordered(alsoBy paths: [FieldPath], descending: Bool = false) -> NormalQuery {
    var result = self
    let index = orders.firstIndex { $0.path.isDocumentName } ?? orders.endIndex
    var added: [Order] = []
    for path in paths where !(orders + added).contains(where: { $0.path == path }) {
      added.append(Order(path, descending: descending))
    }
    result.orders.insert(contentsOf: added, at: index)
    return result
  }

  private static func selector(of query: StructuredQuery) throws(FirestoreServiceError) -> (CollectionID?, Bool) {
    guard query.from.count <= 1 else { throw .invalid("from cannot contain more than one collection selector.") }
    guard let from = query.from.first else { return (nil, false) }
    if from.collectionID.isEmpty { return (nil, from.allDescendants) }
    try PathRules.check(from.collectionID, kind: "Collection id")
    return (CollectionID(from.collectionID), from.allDescendants)
  }

  /// The orders of a query: its own; then fields with inequalities, in the order of their paths; then the name.
  ///
  /// Added orders have the direction of the last given one.
  private static func orders(
    of query: StructuredQuery, inequalities: [FieldPath]
  ) throws(FirestoreServiceError) -> [Order] {
    var orders: [Order] = []
    for order in query.orderBy {
      let path = try FieldPath(parsing: order.fieldPath)
      try path.checkForComparison()
      if orders.last?.path.isDocumentName == true {
        throw .invalid("order by clause cannot contain more fields after the key")
      }
      if orders.contains(where: { $0.path == path }) {
        throw .invalid("order by clause cannot contain duplicate fields \(path)")
      }
      orders.append(Order(path, descending: order.direction == .descending))
    }
    return completed(orders, inequalities: inequalities)
  }

  /// Orders with the implicit ones: fields with inequalities that are not among them, and the name.
  static func completed(_ orders: [Order], inequalities: [FieldPath]) -> [Order] {
    var orders = orders
    let descending = orders.last?.descending ?? false
    for path in inequalities where !path.isDocumentName && !orders.contains(where: { $0.path == path }) {
      orders.append(Order(path, descending: descending))
    }
    if !orders.contains(where: { $0.path.isDocumentName }) {
      orders.append(Order(.documentName, descending: descending))
    }
    return orders
  }
}

extension Filter {
  /// The fields with inequalities, sorted.
  ///
  /// The fields of the filter as it is written: a part that can match nothing has its order all the same.
  ///
  /// - Throws: `INVALID_ARGUMENT` for a field path that is none.
  package var inequalityFields: [FieldPath] {
    get throws(FirestoreServiceError) {
      var fields: Set<FieldPath> = []
      try addInequalityFields(to: &fields)
      return fields.sorted()
    }
  }

  private func addInequalityFields(to fields: inout Set<FieldPath>) throws(FirestoreServiceError) {
    switch self {
    case .composite(_, let filters): for filter in filters { try filter.addInequalityFields(to: &fields) }
    case .unary(let path, _), .field(let path, _, _):
      if isInequality { fields.insert(try FieldPath(parsing: path)) }
    }
  }

  /// Whether a plain filter implies an order by its field.
  private var isInequality: Bool {
    switch self {
    case .composite, .unary(_, .isNull), .unary(_, .isNaN): false
    case .unary: true
    case .field(_, let operation, _):
      switch operation {
      case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .notEqual, .notIn: true
      case .equal, .arrayContains, .in, .arrayContainsAny: false
      }
    }
  }
}
