import VestaFirestoreBackend

/// Documents in the order of a query, each once, found by path as well as by position.
///
/// Inserting, removing and finding a position take about the logarithm of the count, so a view of a hundred thousand
/// documents follows a change at the cost of a small one.
///
/// ```swift
/// var documents = DocumentSet(orders: query.orders)
/// documents.insert(document)
/// let position = documents.index(of: document.path)
/// ```
package struct DocumentSet: Sendable, Equatable, Sequence {
  private let order: DocumentOrder
  private var documents = PathTable<CachedDocument>()
  private var sorted = SortedChunks<CachedDocument>()

  /// An empty set.
  ///
  /// - Parameter orders: The orders of the query; documents that are equal in all of them go by their paths.
  package init(orders: [NormalQuery.Order]) { order = DocumentOrder(orders) }

  /// The number of documents.
  package var count: Int { documents.count }
  /// Whether there is no document.
  package var isEmpty: Bool { documents.count == 0 }
  /// The first document in order.
  package var first: CachedDocument? { sorted.first }
  /// The last document in order.
  package var last: CachedDocument? { sorted.last }

  /// The document at a path.
  package subscript(path: ResourcePath) -> CachedDocument? { documents[path] }

  /// The document at a position, from zero.
  package subscript(position position: Int) -> CachedDocument { sorted[position] }

  /// Whether a document is in the set.
  package func contains(_ path: ResourcePath) -> Bool { documents[path] != nil }

  /// The position of the document at a path; `nil` when it is not in the set.
  package func index(of path: ResourcePath) -> Int? {
    guard let document = documents[path] else { return nil }
    return sorted.offset(of: position(of: document))
  }

  /// Inserts a document, in place of the one at its path.
  package mutating func insert(_ document: CachedDocument) {
    if documents[document.path] != nil { remove(document.path) }
    documents.put(document, at: document.path)
    sorted.put(document, at: position(of: document))
  }

  /// Inserts many documents, of which none is in the set yet or twice among them; quicker than one by one.
  package mutating func insert(contentsOf added: [CachedDocument]) {
    guard isEmpty, added.count > 4 else { return insertEach(of: added) }
    var table = PathTable<CachedDocument>(capacity: added.count)
    for document in added { table.put(document, at: document.path) }
    guard table.count == added.count else { return insertEach(of: added) }
    documents = table
    let isInOrder = added.indices.dropLast().allSatisfy { order.compare(added[$0], added[$0 + 1]) < 0 }
    sorted = SortedChunks(sorted: isInOrder ? added : added.sorted { order.compare($0, $1) < 0 })
  }

  private mutating func insertEach(of added: [CachedDocument]) { for document in added { insert(document) } }

  /// Removes the document at a path and returns it.
  @discardableResult
  package mutating func remove(_ path: ResourcePath) -> CachedDocument? {
    guard let document = documents.remove(path) else { return nil }
    sorted.remove(at: position(of: document))
    return document
  }

  /// The documents in order.
  package func makeIterator() -> AnyIterator<CachedDocument> {
    var iterator = sorted.makeIterator()
    return AnyIterator { iterator.next() }
  }

  /// Whether two sets have equal documents in the same order.
  package static func == (left: DocumentSet, right: DocumentSet) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy(==)
  }

  private func position(of document: CachedDocument) -> SortedChunks<CachedDocument>.Position {
    sorted.position { order.compare($0, document) }
  }
}

/// The order of documents in a query, over all fields that it orders by and the path.
package struct DocumentOrder: Sendable, Hashable {
  private let orders: [NormalQuery.Order]

  /// An order; documents that are equal in all of it go by their paths, ascending.
  package init(_ orders: [NormalQuery.Order]) { self.orders = orders }

  /// Below zero, zero, or above zero; zero for one document only.
  package func compare(_ left: CachedDocument, _ right: CachedDocument) -> Int {
    for order in orders {
      let result = order.path.isDocumentName ? left.path.compare(right.path) : compare(left, right, order.path)
      if result != 0 { return order.descending ? -result : result }
    }
    return left.path.compare(right.path)
  }

  private func compare(_ left: CachedDocument, _ right: CachedDocument, _ path: FieldPath) -> Int {
    switch (left.fields?[path], right.fields?[path]) {
    case (let left?, let right?): IndexedOrder.compare(left, right)
    case (nil, nil): 0
    case (nil, _?): -1
    case (_?, nil): 1
    }
  }
}
