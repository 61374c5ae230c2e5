import VestaFirestoreModel

/// The queries of views by the paths they look at, so that a change finds the views that it concerns.
///
/// A query is found from a document by the document's path, by its collection, or by the identifier of its collection:
/// thousands of views of other documents cost a change nothing.
struct ViewIndex: Sendable {
  private var byDocument: [DocumentKey: Set<QueryID>] = [:]
  private var byCollection: [ResourcePath: Set<QueryID>] = [:]
  private var byGroup: [CollectionID: [QueryID: LocalQuery]] = [:]

  mutating func insert(_ query: LocalQuery, _ id: QueryID) {
    if let group = query.collectionGroup {
      byGroup[group, default: [:]][id] = query
    } else if query.path.isDocument {
      byDocument[query.path, default: []].insert(id)
    } else {
      byCollection[query.path, default: []].insert(id)
    }
  }

  mutating func remove(_ query: LocalQuery, _ id: QueryID) {
    if let group = query.collectionGroup {
      byGroup[group]?[id] = nil
      if byGroup[group]?.isEmpty == true { byGroup[group] = nil }
    } else if query.path.isDocument {
      byDocument[query.path]?.remove(id)
      if byDocument[query.path]?.isEmpty == true { byDocument[query.path] = nil }
    } else {
      byCollection[query.path]?.remove(id)
      if byCollection[query.path]?.isEmpty == true { byCollection[query.path] = nil }
    }
  }

  /// Whether one query at most looks at a collection, and none at a document of any or at a collection group.
  func isAlone(in collection: ResourcePath) -> Bool {
    byGroup.isEmpty && byDocument.isEmpty && (byCollection[collection]?.count ?? 0) <= 1
  }

  /// The query that looks at each of some documents, if no other one looks at any of them.
  ///
  /// - Returns: `nil` where that is not so, or takes longer to find out than `forEach(lookingAt:_:)` takes.
  func only(lookingAt keys: some Collection<DocumentKey>) -> QueryID? {
    guard byGroup.isEmpty, let collection = keys.first?.parent, let ids = byCollection[collection], ids.count == 1,
      keys.allSatisfy({ $0.isDocument(in: collection) && (byDocument.isEmpty || byDocument[$0] == nil) })
    else { return nil }
    return ids.first
  }

  /// Calls an action with each query that looks at a document.
  func forEach(lookingAt key: DocumentKey, _ action: (QueryID) -> Void) {
    for id in byDocument[key] ?? [] { action(id) }
    if byCollection.isEmpty, byGroup.isEmpty { return }
    let collection = key.parent
    for id in byCollection[collection] ?? [] { action(id) }
    guard !byGroup.isEmpty else { return }
    for (id, query) in byGroup[collection.collectionID] ?? [:] where query.selects(key) { action(id) }
  }
}
