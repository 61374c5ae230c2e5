import VestaFirestoreBackend
package import VestaFirestoreModel

/// The documents as the backend sent them, found by path and by collection.
package struct RemoteDocuments: Sendable {
  private let database: DatabaseName
  private var byCollection: [ResourcePath: [String: CachedDocument]] = [:]
  private var groups: [String: Set<ResourcePath>] = [:]
  private var indexes: [ResourcePath: [CacheIndex.ID: CacheIndex]] = [:]
  /// Whether a query over many documents makes the indexes that it needs.
  package var makesIndexes = true
  /// How many documents there are.
  package private(set) var count = 0

  /// A cache without documents.
  package init(database: DatabaseName) { self.database = database }

  /// A document; invalid when the cache does not have it.
  package subscript(key: DocumentKey) -> CachedDocument {
    byCollection[key.parent]?[key.lastSegment] ?? CachedDocument(ResourceName(database: database, path: key), .invalid)
  }

  /// Adds a document, in place of the one at its path.
  package mutating func insert(_ document: CachedDocument) {
    let collection = document.path.parent
    let old = byCollection[collection, default: [:]].updateValue(document, forKey: document.path.lastSegment)
    updateIndexes(of: collection, old, by: document)
    guard old == nil else { return }
    count += 1
    groups[collection.lastSegment, default: []].insert(collection)
  }

  /// Removes a document.
  package mutating func remove(_ key: DocumentKey) {
    let collection = key.parent
    guard let old = byCollection[collection]?.removeValue(forKey: key.lastSegment) else { return }
    updateIndexes(of: collection, old, by: nil)
    count -= 1
    guard byCollection[collection]?.isEmpty == true else { return }
    byCollection[collection] = nil
    indexes[collection] = nil
    groups[collection.lastSegment]?.remove(collection)
  }

  /// The collections with an identifier that have documents.
  package func collections(of group: String) -> Set<ResourcePath> { groups[group] ?? [] }

  /// The documents of a collection.
  package func documents(in collection: ResourcePath) -> some Collection<CachedDocument> {
    (byCollection[collection] ?? [:]).values
  }

  /// Every document.
  package var all: some Sequence<CachedDocument> { byCollection.values.lazy.flatMap(\.values) }

  // MARK: Indexes

  /// Collections with fewer documents are looked at whole.
  static let indexedSize = 100

  private mutating func updateIndexes(of collection: ResourcePath, _ old: CachedDocument?, by new: CachedDocument?) {
    guard let ids = indexes[collection]?.keys else { return }
    for id in Array(ids) { indexes[collection]?[id]?.replace(old, by: new) }
  }

  /// Deletes all indexes.
  package mutating func deleteIndexes() { indexes = [:] }

  /// The documents of a collection that may be results of a query; `nil` when every one has to be looked at.
  mutating func candidates(
    for query: LocalQuery, in collection: ResourcePath, isResult: (CachedDocument) -> Bool
  ) -> [CachedDocument]? {
    guard let documents = byCollection[collection], documents.count >= Self.indexedSize,
      let plan = CacheQueryPlan(query)
    else { return nil }
    let makes = makesIndexes
    var known = indexes[collection] ?? [:]
    // Taken out while it may grow, so that nothing is copied.
    indexes[collection] = nil
    let keys = plan.candidates { id in
      if let index = known[id] { return index }
      guard makes else { return nil }
      let index = CacheIndex(id, documents.values)
      known[id] = index
      return index
    } isResult: { key in
      documents[key.lastSegment].map(isResult) ?? false
    }
    indexes[collection] = known
    return keys?.compactMap { documents[$0.lastSegment] }
  }
}
