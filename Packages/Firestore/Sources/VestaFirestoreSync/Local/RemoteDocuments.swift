import VestaFirestoreBackend
package import VestaFirestoreModel

/// The documents as the backend sent them, found by path and by collection.
package struct RemoteDocuments: Sendable {
  private let database: DatabaseName
  private var byCollection: [ResourcePath: [String: CachedDocument]] = [:]
  private var groups: [String: Set<ResourcePath>] = [:]
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
    if byCollection[collection, default: [:]].updateValue(document, forKey: document.path.lastSegment) == nil { count += 1 }
    groups[collection.lastSegment, default: []].insert(collection)
  }

  /// Removes a document.
  package mutating func remove(_ key: DocumentKey) {
    let collection = key.parent
    guard byCollection[collection]?.removeValue(forKey: key.lastSegment) != nil else { return }
    count -= 1
    guard byCollection[collection]?.isEmpty == true else { return }
    byCollection[collection] = nil
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
}
