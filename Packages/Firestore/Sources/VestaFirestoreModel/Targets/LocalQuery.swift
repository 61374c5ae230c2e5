package import VestaFirestoreBackend

/// A query as a client has it: with the orders that the user wrote, and the side that its limit counts from.
///
/// It matches and orders documents of the cache, and makes the target that the service is asked for. It checks nothing
/// but field paths: what the service refuses is the service's answer to give.
///
/// ```swift
/// let large = Filter.field(path: "size", .greaterThan, .integer(3))
/// let query = try LocalQuery(database: database, path: rooms, filters: [large])
/// query.matches(document)
/// ```
package struct LocalQuery: Sendable, Hashable {
  /// Which results a limit keeps.
  package enum LimitType: UInt8, Sendable, Hashable {
    /// The first ones.
    case first = 0
    /// The last ones.
    case last = 1
  }

  /// The database.
  package let database: DatabaseName
  /// A document, a collection, or what a collection group is below.
  package let path: ResourcePath
  /// The identifier of the collections; `nil` for a document or one collection.
  package let collectionGroup: CollectionID?
  /// The filters, all of which documents must match.
  package let filters: [Filter]
  /// The orders that the user wrote.
  package let explicitOrders: [NormalQuery.Order]
  /// The maximum number of results.
  package let limit: Int?
  /// Which results the limit keeps.
  package let limitType: LimitType
  /// The position at which results begin, in the user's direction.
  package let startAt: StructuredQuery.Cursor?
  /// The position at which results end, in the user's direction.
  package let endAt: StructuredQuery.Cursor?
  /// The user's orders, then fields with inequalities in the order of their paths, then the name.
  package let orders: [NormalQuery.Order]
  /// The order of results.
  package let order: DocumentOrder

  private let tree: FilterTree

  /// A query.
  ///
  /// - Throws: `INVALID_ARGUMENT` for a field path that is none.
  package init(
    database: DatabaseName, path: ResourcePath, collectionGroup: CollectionID? = nil, filters: [Filter] = [],
    orders: [NormalQuery.Order] = [], limit: Int? = nil, limitType: LimitType = .first,
    startAt: StructuredQuery.Cursor? = nil, endAt: StructuredQuery.Cursor? = nil
  ) throws(FirestoreServiceError) {
    self.database = database
    self.path = path
    self.collectionGroup = collectionGroup
    self.filters = filters
    explicitOrders = orders
    self.limit = limit
    self.limitType = limitType
    self.startAt = startAt
    self.endAt = endAt
    tree = try FilterTree(.composite(.and, filters))
    self.orders = NormalQuery.completed(orders, inequalities: tree.inequalityFields)
    order = DocumentOrder(self.orders)
  }

  /// Whether the query is one document.
  package var isDocument: Bool { path.isDocument && collectionGroup == nil && filters.isEmpty }

  /// Whether every document of the collection is a result, in the order of names.
  package var matchesAll: Bool {
    filters.isEmpty && limit == nil && startAt == nil && endAt == nil
      && (explicitOrders.isEmpty || explicitOrders.count == 1 && explicitOrders[0].path.isDocumentName)
  }

  /// The target for the service; a limit to the last results becomes a limit over the opposite order.
  package var target: QueryTarget {
    let isTurned = limitType == .last
    return QueryTarget(
      database: database, path: path, collectionGroup: collectionGroup, filters: filters,
      orders: isTurned ? orders.map { NormalQuery.Order($0.path, descending: !$0.descending) } : orders, limit: limit,
      startAt: isTurned ? endAt?.turned : startAt, endAt: isTurned ? startAt?.turned : endAt)
  }

  /// The query for figures about the results, without the orders that the service adds itself.
  ///
  /// Sums and averages come from an index that ends with their fields: Firebase refuses them where an order by name is
  /// before these. Cursors keep the orders that they have values for.
  package var aggregated: StructuredQuery {
    var query = target.structured
    let positions = [startAt, endAt].compactMap { $0?.values.count }
    query.orderBy = Array(query.orderBy.prefix(positions.reduce(explicitOrders.count, max)))
    return query
  }

  /// A string that is equal for equal queries and different for others.
  package var canonicalID: String {
    target.canonicalID + (limit == nil ? "" : limitType == .first ? "|lt:f" : "|lt:l")
  }

  /// Whether a document is a result, leaving the limit aside.
  package func matches(_ document: CachedDocument) -> Bool {
    guard selects(document.path), let fields = document.fields else { return false }
    return orders.allSatisfy { $0.path.isDocumentName || fields[$0.path] != nil }
      && (tree.isEmpty || document.document.map(tree.matches) == true) && isWithinCursors(document)
  }

  /// Whether a path is one that the query looks at.
  package func selects(_ path: ResourcePath) -> Bool {
    if let collectionGroup {
      return path.isDocument && path.hasPrefix(self.path) && path.segments.count > self.path.segments.count
        && CollectionID(path.segments[path.segments.count - 2]) == collectionGroup
    }
    if self.path.isDocument { return path == self.path }
    return path.segments.count == self.path.segments.count + 1 && path.hasPrefix(self.path)
  }

  /// Compares two documents by the orders of the query.
  package func compare(_ left: CachedDocument, _ right: CachedDocument) -> Int { order.compare(left, right) }

  /// Whether two queries are the same; their targets and the sides that their limits count from.
  package static func == (left: LocalQuery, right: LocalQuery) -> Bool {
    left.limitType == right.limitType && left.target == right.target
  }

  /// Feeds the parts that equality compares to a hasher.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(limitType)
    hasher.combine(limit)
    hasher.combine(filters)
  }

  private func isWithinCursors(_ document: CachedDocument) -> Bool {
    if let startAt {
      let order = compare(document, startAt)
      guard order > 0 || order == 0 && startAt.before else { return false }
    }
    if let endAt {
      let order = compare(document, endAt)
      guard order < 0 || order == 0 && !endAt.before else { return false }
    }
    return true
  }

  private func compare(_ document: CachedDocument, _ cursor: StructuredQuery.Cursor) -> Int {
    for (order, operand) in zip(orders, cursor.values) {
      guard let value = document.value(at: order.path) else { continue }
      let result = IndexedOrder.compare(value, operand)
      if result != 0 { return order.descending ? -result : result }
    }
    return 0
  }
}

extension StructuredQuery.Cursor {
  /// The cursor as the other end of the opposite order; the same documents stay within.
  fileprivate var turned: StructuredQuery.Cursor { StructuredQuery.Cursor(values: values, before: !before) }
}

/// A filter as it is written, ready to be asked about documents.
///
/// Without the normal form's limits: clients match whatever they wrote.
struct FilterTree: Sendable, Hashable {
  private indirect enum Node: Sendable, Hashable {
    case all([Node])
    case any([Node])
    case test(Predicate)
  }

  private let root: Node

  /// The fields with inequalities, sorted; also of parts that can match nothing.
  let inequalityFields: [FieldPath]

  /// - Throws: `INVALID_ARGUMENT` for a field path that is none.
  init(_ filter: Filter) throws(FirestoreServiceError) {
    root = try FilterTree.node(of: filter)
    inequalityFields = try filter.inequalityFields
  }

  /// Whether it asks for nothing.
  var isEmpty: Bool { if case .all(let nodes) = root { nodes.isEmpty } else { false } }

  /// Whether a document satisfies the filter.
  func matches(_ document: Document) -> Bool { FilterTree.matches(document, root) }

  private static func matches(_ document: Document, _ node: Node) -> Bool {
    switch node {
    case .all(let nodes): nodes.allSatisfy { matches(document, $0) }
    case .any(let nodes): nodes.contains { matches(document, $0) }
    case .test(let predicate): predicate.matches(document)
    }
  }

  private static func node(of filter: Filter) throws(FirestoreServiceError) -> Node {
    guard case .composite(let operation, let filters) = filter else {
      return .any(try DisjunctiveForm.alternatives(of: filter).map { .all($0.map(Node.test)) })
    }
    var nodes: [Node] = []
    for filter in filters { nodes.append(try node(of: filter)) }
    return operation == .and ? .all(nodes) : .any(nodes)
  }
}
