internal import VestaFirestoreBackend
internal import VestaFirestoreModel

/// One order of a query.
typealias QueryOrder = NormalQuery.Order

/// The parts of a query, as the application put them together.
///
/// A mistake in it, such as a value that cannot be compared, is kept and thrown when the query is read or listened to.
struct QueryDescription: Sendable, Hashable {
  let database: DatabaseName
  /// A collection or a document; for a collection group, what it is below.
  let path: ResourcePath
  var collectionGroup: CollectionID?
  var filters: [WireFilter] = []
  var orders: [QueryOrder] = []
  var limit: Int?
  var limitType = LocalQuery.LimitType.first
  var startAt: StructuredQuery.Cursor?
  var endAt: StructuredQuery.Cursor?
  var failure: FirestoreErrorCode?

  init(database: DatabaseName, path: ResourcePath, collectionGroup: CollectionID? = nil) {
    self.database = database
    self.path = path
    self.collectionGroup = collectionGroup
  }

  /// The description of a query from elsewhere, such as a bundle.
  init(_ query: LocalQuery) {
    self.init(database: query.database, path: query.path, collectionGroup: query.collectionGroup)
    filters = query.filters
    orders = query.explicitOrders
    limit = query.limit
    limitType = query.limitType
    startAt = query.startAt
    endAt = query.endAt
  }

  /// The query for the client beneath.
  ///
  /// - Throws: `invalidArgument` for what was put together wrongly.
  func local() throws -> LocalQuery {
    if let failure { throw failure }
    if limitType == .last, orders.isEmpty {
      throw FirestoreErrorCode.invalid("limit(toLast:) queries require specifying at least one OrderBy() clause.")
    }
    return try unchecked()
  }

  /// The query with its implicit orders, also while it is being put together.
  func unchecked() throws -> LocalQuery {
    try LocalQuery(
      database: database, path: path, collectionGroup: collectionGroup, filters: filters, orders: orders, limit: limit,
      limitType: limitType, startAt: startAt, endAt: endAt)
  }

  /// The description after a change; the first mistake stays.
  func with(_ change: (inout QueryDescription) throws -> Void) -> QueryDescription {
    var copy = self
    do {
      try change(&copy)
    } catch {
      if copy.failure == nil {
        copy.failure = FirestoreErrorCode.publicError(error) as? FirestoreErrorCode ?? .invalid("\(error)")
      }
    }
    return copy
  }
}
