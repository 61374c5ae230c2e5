package import VestaFirestoreBackend
package import VestaFirestoreModel

/// The part of a durable cache that is in memory.
///
/// A cache that has no rows, or whose rows have all been read, is complete. Else documents are read when an event
/// needs them: one by one, by collection, or as the candidates of a query. Read documents stay, and every change
/// of a document is made in memory, so whatever was complete once stays complete.
package struct CacheResidence: Sendable {
  /// How many queries are noted before all of them are forgotten.
  var queryLimit = SyncTuning().residentQueries
  /// Whether everything has been read.
  package private(set) var isComplete = true
  private var documents: Set<DocumentKey> = []
  private var collections: Set<ResourcePath> = []
  private var targets: Set<Int32> = []
  private var queries: Set<QueryID> = []
  private var groups: Set<CollectionID> = []
  /// The limited queries whose first results have been read, with the number of the contents that they are of.
  private var limitedQueries: [QueryID: Int] = [:]

  /// All of a cache.
  package init() {}

  /// Nothing of a cache but some documents.
  package init(of documents: some Sequence<DocumentKey>) {
    isComplete = false
    self.documents = Set(documents)
  }

  /// Whether a document has been read, or is known to be absent.
  func has(_ key: DocumentKey) -> Bool {
    isComplete || documents.contains(key) || collections.contains(key.parent)
  }

  /// Whether all documents of a collection have been read.
  func has(collection: ResourcePath) -> Bool { isComplete || collections.contains(collection) }

  /// Whether the documents of a target have been read.
  func has(target id: Int32) -> Bool { isComplete || targets.contains(id) }

  /// Whether every document that can be a result of a query has been read.
  func has(_ query: LocalQuery) -> Bool {
    if isComplete { return true }
    if query.isDocument { return has(query.path) }
    if let group = query.collectionGroup { return groups.contains(group) || queries.contains(QueryID(query)) }
    return collections.contains(query.path) || queries.contains(QueryID(query))
  }

  /// Whether the first results of a limited query have been read, and no document has changed since.
  func hasFirstResults(of query: LocalQuery, at contents: Int) -> Bool {
    !limitedQueries.isEmpty && limitedQueries[QueryID(query)] == contents
  }

  /// Notes a target without rows.
  mutating func add(target id: Int32) { if !isComplete { targets.insert(id) } }

  /// Notes what has been read.
  mutating func add(_ piece: CachePiece) {
    if isComplete { return }
    documents.formUnion(piece.documents)
    collections.formUnion(piece.collections)
    targets.formUnion(piece.targets)
    // The identifiers of queries are kept for speed alone.
    if queries.count > queryLimit { queries = [] }
    queries.formUnion(piece.queries.map { QueryID($0) })
    groups.formUnion(piece.groups)
    if !piece.limitedQueries.isEmpty {
      limitedQueries = limitedQueries.filter { $0.value == piece.contents }
      for query in piece.limitedQueries { limitedQueries[QueryID(query)] = piece.contents }
    }
    if piece.isEverything { self = CacheResidence() }
  }
}

/// The documents of the cache that an event must find in memory.
package enum CacheNeeds: Sendable {
  /// None.
  case nothing
  /// Some documents.
  case documents([DocumentKey])
  /// The documents that writes change.
  case bases(of: [Mutation])
  /// The candidates of a query, and the documents of its target.
  case query(LocalQuery)
  /// The same for a query that is listened to; of a limited one the first results are enough to begin with.
  case listener(LocalQuery, isCacheOnly: Bool)
  /// Every document that can be a result of a query, whatever changes later.
  case candidates(LocalQuery)
  /// The documents that messages of the backend are about.
  case responses([ListenResponse])
  /// All of it if the cache is larger than a number of bytes.
  case garbage(above: Int)
  /// All of it.
  case everything
}

/// A part of a durable cache: to be read, or read.
package struct CachePiece: Sendable {
  /// Documents.
  package var documents: Set<DocumentKey> = []
  /// All documents of collections.
  package var collections: Set<ResourcePath> = []
  /// The keys of the documents of targets.
  package var targets: Set<Int32> = []
  /// All documents of collection groups.
  package var groups: Set<CollectionID> = []
  /// The candidates of queries.
  package var queries: [LocalQuery] = []
  /// Limited queries of which the first results are read, or all of their candidates.
  package var limitedQueries: [LocalQuery] = []
  /// The documents with pending writes in the collections of limited queries.
  var overlaid: Set<DocumentKey> = []
  /// The number of the contents that the first results are of.
  var contents = 0
  /// The durable indexes of the collections of the queries.
  var indexes: [ResourcePath: Set<CacheIndex.ID>] = [:]
  /// The limited queries of which more results are needed than their limits allow, see `SyncCore.missingOfEngine(_:)`.
  var refills: [LocalQuery] = []
  /// How many more.
  var spareResults = 0
  /// All of it.
  package var isEverything = false

  var isEmpty: Bool {
    documents.isEmpty && collections.isEmpty && groups.isEmpty && targets.isEmpty && queries.isEmpty
      && limitedQueries.isEmpty && refills.isEmpty && !isEverything
  }
}

extension LocalStore {
  /// The part of the cache that some events need and that is not in memory; `nil` for none.
  package func missing(_ needs: some Sequence<CacheNeeds>) -> CachePiece? {
    if residence.isComplete { return nil }
    var piece = CachePiece()
    for need in needs { piece.add(need, missingIn: self) }
    return piece.isEmpty ? nil : piece
  }
}

extension CachePiece {
  /// Adds what an event needs and a cache does not have in memory.
  fileprivate mutating func add(_ need: CacheNeeds, missingIn store: LocalStore) {
    switch need {
    case .nothing: break
    case .documents(let keys): for key in keys { add(key, store) }
    case .bases(let mutations): for mutation in mutations { add(mutation.path, store) }
    case .query(let query), .listener(let query, _): add(query, areFirstResultsEnough: query.limit != nil, store)
    case .candidates(let query): add(query, areFirstResultsEnough: false, store)
    case .responses(let responses):
      for response in responses { if let key = key(of: response, store.database) { add(key, store) } }
    case .garbage(let bytes): if store.byteSize >= bytes { isEverything = true }
    case .everything: isEverything = true
    }
  }

  private mutating func add(_ key: DocumentKey, _ store: LocalStore) {
    if !store.residence.has(key) { documents.insert(key) }
  }

  private mutating func add(_ query: LocalQuery, areFirstResultsEnough: Bool, _ store: LocalStore) {
    let residence = store.residence
    if let id = store.targets.record(of: query.target)?.id, !residence.has(target: id) { targets.insert(id) }
    if residence.has(query) { return }
    if areFirstResultsEnough, residence.hasFirstResults(of: query, at: store.contents) { return }
    if query.isDocument {
      documents.insert(query.path)
    } else if let group = query.collectionGroup {
      addGroup(group, query, store)
    } else if let found = store.shown.remote.durableIndexes[query.path] {
      indexes[query.path] = found
      guard areFirstResultsEnough else { return queries.append(query) }
      limitedQueries.append(query)
      overlaid.formUnion(store.queue.overlayKeys(in: query.path))
      contents = store.contents
    } else {
      collections.insert(query.path)
    }
  }

  private mutating func addGroup(_ group: CollectionID, _ query: LocalQuery, _ store: LocalStore) {
    let found = store.shown.remote.durableIndexes.filter { $0.key.collectionID == group }
    if found.isEmpty {
      groups.insert(group)
    } else {
      queries.append(query)
      indexes.merge(found) { _, new in new }
    }
  }

  private func key(of response: ListenResponse, _ database: DatabaseName) -> DocumentKey? {
    let name: String
    switch response {
    case .documentChange(let change): name = change.document.name
    case .documentDelete(let delete): name = delete.document
    case .documentRemove(let removal): name = removal.document
    case .targetChange, .filter: return nil
    }
    return try? ResourceName(document: name, likely: database).path
  }
}
