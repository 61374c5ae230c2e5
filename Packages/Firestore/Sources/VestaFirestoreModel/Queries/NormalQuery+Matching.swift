package import VestaFirestoreBackend

/// The obvious way to answer a query: look at every document. Planners are compared with it.
extension NormalQuery {
  /// Whether a document is in one of the query's collections.
  package func selects(_ path: ResourcePath) -> Bool {
    guard path.hasPrefix(parent.path), path.segments.count > parent.path.segments.count else { return false }
    if !allDescendants, path.segments.count != parent.path.segments.count + 2 { return false }
    return collectionID.map { $0 == CollectionID(path.segments[path.segments.count - 2]) } ?? true
  }

  /// Whether a document is a result, leaving offset and limit aside.
  package func matches(_ document: Document) -> Bool {
    guard let name = try? ResourceName(document: document.name, likely: parent.database),
      name.database == parent.database
    else { return false }
    return matches(document, at: name.path)
  }

  /// Whether a document of the query's database is a result, leaving offset and limit aside.
  ///
  /// - Parameter path: Where the document is, so that its name need not be taken apart.
  package func matches(_ document: Document, at path: ResourcePath) -> Bool {
    selects(path) && filter.matches(document) && hasOrderedFields(document) && isWithinCursors(document)
  }

  /// Compares two documents by the orders of the query.
  package func compare(_ left: Document, _ right: Document) -> Int {
    for order in orders {
      guard let first = left.value(at: order.path), let second = right.value(at: order.path) else { continue }
      let result = IndexedOrder.compare(first, second)
      if result != 0 { return order.descending ? -result : result }
    }
    return 0
  }

  /// Whether a document has every field that is ordered by; those without one are no results.
  package func hasOrderedFields(_ document: Document) -> Bool {
    orders.allSatisfy { document.value(at: $0.path) != nil }
  }

  /// Whether a document is between the cursors.
  package func isWithinCursors(_ document: Document) -> Bool {
    if let after, compare(after, document) >= 0 { return false }
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

  /// Compares a document with a position: zero when it has the position's values.
  package func compare(_ document: Document, _ cursor: StructuredQuery.Cursor) -> Int {
    for (order, operand) in zip(orders, cursor.values) {
      guard let value = document.value(at: order.path) else { continue }
      let result = IndexedOrder.compare(value, operand)
      if result != 0 { return order.descending ? -result : result }
    }
    return 0
  }

  /// The results of the query, in order.
  ///
  /// - Parameter documents: All documents of the database, in any order.
  /// - Returns: The results with the fields that are selected, and how many were left out because of the offset.
  package func results(in documents: some Sequence<Document>) -> (documents: [Document], skipped: Int) {
    let sorted = documents.filter(matches).sorted { compare($0, $1) < 0 }
    let rest = sorted.dropFirst(offset)
    var results = Array(rest.prefix(limit ?? rest.count))
    if let findNearest { results = NearestVectors(findNearest).nearest(in: results) }
    return (results.map(projected), sorted.count - rest.count)
  }

  /// A result with the fields that are selected.
  package func projected(_ document: Document) -> Document {
    guard let select else { return document }
    var result = document
    result.fields = document.fields.projected(to: select.filter { !$0.isDocumentName })
    return result
  }
}
