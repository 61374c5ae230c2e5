package import VestaFirestoreBackend

/// The rules for queries, apart from their filters.
package enum QueryRules {
  /// Checks a completed query.
  ///
  /// - Throws: `INVALID_ARGUMENT` that names the part that is wrong.
  package static func check(_ query: NormalQuery) throws(FirestoreServiceError) {
    if query.offset < 0 { throw .invalid("offset is negative") }
    if let limit = query.limit, limit < 0 { throw .invalid("limit is negative") }
    try checkCollection(query)
    if let cursor = query.startAt { try check(cursor, of: query) }
    if let cursor = query.endAt { try check(cursor, of: query) }
    if let search = query.findNearest { try check(search) }
  }

  private static func checkCollection(_ query: NormalQuery) throws(FirestoreServiceError) {
    guard query.collectionID != nil else {
      let order = query.orders[0]
      if !order.path.isDocumentName || order.descending {
        throw .invalid("kind is required for all orders except __key__ ascending")
      }
      if query.filter.conjunctions.joined().contains(where: { !$0.path.isDocumentName }) {
        throw .invalid("kind is required for filters on other properties than __key__")
      }
      return
    }
    if query.allDescendants && !query.parent.path.segments.isEmpty {
      throw .invalid("collection group queries are only allowed at the root parent")
    }
  }

  private static func check(_ cursor: StructuredQuery.Cursor, of query: NormalQuery) throws(FirestoreServiceError) {
    guard cursor.values.count <= query.orders.count else {
      throw .invalid("Cursor has too many values: \(cursor.values.count) > \(query.orders.count).")
    }
    for (order, value) in zip(query.orders, cursor.values) {
      guard order.path.isDocumentName else {
        try DocumentRules.check(operand: value, of: order.path)
        continue
      }
      guard case .reference(let text) = value else { throw .invalid("the cursor value for __name__ is no reference") }
      // A name of another service's form cannot be of this database either.
      guard let name = try? ResourceName(document: text), name.database == query.parent.database else {
        throw .invalid("the cursor key is in a different partition than the query")
      }
    }
  }

  private static func check(_ search: FindNearest) throws(FirestoreServiceError) {
    let path = try FieldPath(parsing: search.vectorField)
    try path.checkForQuery()
    guard let vector = NearestVectors.numbers(of: search.queryVector), !vector.isEmpty else {
      throw .invalid("FindNearest query_vector must be a vector with at least one number.")
    }
    guard vector.count <= FirestoreLimits.vectorDimension else {
      throw .invalid("FindNearest query_vector has \(vector.count) dimensions; at most 2048 are allowed.")
    }
    guard search.limit > 0, search.limit <= FirestoreLimits.nearestResults else {
      throw .invalid("FindNearest limit must be between 1 and \(FirestoreLimits.nearestResults).")
    }
    if let field = search.distanceResultField { try FieldPath(parsing: field).checkForResult() }
  }
}

/// The rules for lists of fields.
package enum FieldMaskRules {
  /// The paths of a mask.
  ///
  /// - Throws: `INVALID_ARGUMENT` that quotes the path.
  package static func paths(_ texts: [String]) throws(FirestoreServiceError) -> [FieldPath] {
    var paths: [FieldPath] = []
    for text in texts {
      let path = try FieldPath(parsing: text)
      try path.checkForQuery()
      paths.append(path)
    }
    return paths
  }

  /// The paths that a write with a mask sets.
  ///
  /// A path below another one says nothing, as clients send both: of `owner` and `owner.name` it is `owner` alone.
  package static func written(_ texts: [String]) throws(FirestoreServiceError) -> [FieldPath] {
    let paths = try paths(texts)
    guard paths.count > 1 else { return paths }
    var kept: [FieldPath] = []
    for path in paths.sorted() {
      if let last = kept.last, path.hasPrefix(last) { continue }
      kept.append(path)
    }
    return kept
  }
}
