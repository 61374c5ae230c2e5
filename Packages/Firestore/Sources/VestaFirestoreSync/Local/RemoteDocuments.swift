import VestaBytes
import VestaFirestoreBackend
package import VestaFirestoreModel

/// The documents as the backend sent them, found by path and by collection.
package struct RemoteDocuments: Sendable {
  private let database: DatabaseName
  private var byCollection: [ResourcePath: [UTF8String: CachedDocument]] = [:]
  private var groups: [CollectionID: Set<ResourcePath>] = [:]
  private var indexes: [ResourcePath: [CacheIndex.ID: CacheIndex]] = [:]
  private var builds: [ResourcePath: IndexBuild] = [:]
  private var lastBuild = 0
  private var wantedIndexes: [ResourcePath: Set<CacheIndex.ID>] = [:]
  /// The indexes whose entries are rows of the durable cache.
  private(set) var durableIndexes: [ResourcePath: Set<CacheIndex.ID>] = [:]
  private var indexRows = IndexRows()
  /// When indexes are made and kept.
  var tuning = SyncTuning() {
    didSet { indexRows.part = tuning.indexPart }
  }
  /// Whether a query over many documents makes the indexes that it needs.
  package var makesIndexes = true
  /// Whether indexes become rows of the durable cache.
  package var keepsIndexes = false
  /// How many documents are in memory.
  package private(set) var count = 0
  /// Whether the size is counted along with every change, and not only when it is asked for.
  var countsBytes = true
  private var countedBytes = 0
  /// The collection of the last document that was added: most of the time the next one is of the same.
  private var recent = ResourcePath.root

  /// A cache without documents.
  package init(database: DatabaseName) { self.database = database }

  /// How large the documents of the cache are, as the service counts; including unread ones.
  package var byteSize: Int { countsBytes ? countedBytes : all.reduce(0) { $0 + Self.size(of: $1) } }

  /// The collection of a document; without making its path again where it is known.
  private func collection(of key: DocumentKey) -> ResourcePath { key.isDocument(in: recent) ? recent : key.parent }

  /// A document; invalid when the cache does not have it.
  package subscript(key: DocumentKey) -> CachedDocument {
    known(key) ?? CachedDocument(ResourceName(database: database, path: key), .invalid)
  }

  /// A document of the cache; `nil` when the cache does not have it.
  func known(_ key: DocumentKey) -> CachedDocument? { byCollection[collection(of: key)]?[key.documentID] }

  /// Adds a document, in place of the one at its path.
  package mutating func insert(_ document: CachedDocument) {
    let old = put(document)
    if countsBytes { countedBytes += Self.size(of: document) - (old.map(Self.size) ?? 0) }
    noteIndexRows(old, by: document)
  }

  /// Adds a document that was read from a row, unless it is in memory.
  mutating func load(_ document: CachedDocument) {
    guard known(document.path) == nil else { return }
    _ = put(document)
  }

  /// Notes the size of the cache and its durable indexes, before any document is read.
  mutating func restore(byteSize: Int?, indexes: [ResourcePath: Set<CacheIndex.ID>]) {
    countedBytes = byteSize ?? all.reduce(0) { $0 + Self.size(of: $1) }
    durableIndexes = indexes
  }

  private mutating func put(_ document: CachedDocument) -> CachedDocument? {
    let collection = collection(of: document.path)
    recent = collection
    if byCollection[collection] == nil { groups[collection.collectionID, default: []].insert(collection) }
    let old = byCollection[collection, default: [:]].updateValue(document, forKey: document.path.documentID)
    updateIndexes(of: collection, document.path.documentID, old, by: document)
    if old == nil { count += 1 }
    return old
  }

  /// Removes a document.
  package mutating func remove(_ key: DocumentKey) {
    let collection = collection(of: key)
    guard let old = byCollection[collection]?.removeValue(forKey: key.documentID) else { return }
    if countsBytes { countedBytes -= Self.size(of: old) }
    noteIndexRows(old, by: nil)
    updateIndexes(of: collection, key.documentID, old, by: nil)
    count -= 1
    guard byCollection[collection]?.isEmpty == true else { return }
    byCollection[collection] = nil
    indexes[collection] = nil
    builds[collection] = nil
    groups[collection.collectionID]?.remove(collection)
  }

  private static func size(of document: CachedDocument) -> Int {
    DocumentSize.size(ofName: document.name) + 32 + (document.fields.map(DocumentSize.size(of:)) ?? 0)
  }

  /// The collections with an identifier that have documents.
  package func collections(of group: CollectionID) -> Set<ResourcePath> { groups[group] ?? [] }

  /// The documents of a collection.
  package func documents(in collection: ResourcePath) -> some Collection<CachedDocument> {
    (byCollection[collection] ?? [:]).values
  }

  /// Every document in memory.
  package var all: some Sequence<CachedDocument> { byCollection.values.lazy.flatMap(\.values) }

  // MARK: Indexes

  private mutating func updateIndexes(
    of collection: ResourcePath, _ id: UTF8String, _ old: CachedDocument?, by new: CachedDocument?
  ) {
    if indexes.isEmpty, builds.isEmpty { return }
    builds[collection]?.note(id, old)
    guard let ids = indexes[collection]?.keys else { return }
    for index in Array(ids) { indexes[collection]?[index]?.replace(old, by: new) }
  }

  /// Deletes all indexes; the rows of the durable ones are deleted by the owner of the rows.
  package mutating func deleteIndexes() {
    (indexes, builds, wantedIndexes, durableIndexes, indexRows) = ([:], [:], [:], [:], IndexRows())
    indexRows.part = tuning.indexPart
  }

  /// The documents of a collection that may be results of a query; `nil` when every one has to be looked at.
  mutating func candidates(
    for query: LocalQuery, in collection: ResourcePath, isResult: (CachedDocument) -> Bool
  ) -> [CachedDocument]? {
    guard let documents = byCollection[collection], documents.count >= tuning.indexedSize,
      let plan = CacheQueryPlan(query)
    else { return nil }
    let (makes, isLarge) = (makesIndexes, documents.count > tuning.largeSize)
    var known = indexes[collection] ?? [:]
    var wanted: Set<CacheIndex.ID> = []
    // Taken out while it may grow, so that nothing is copied.
    indexes[collection] = nil
    let keys = plan.candidates { id in
      if let index = known[id] { return index }
      guard makes else { return nil }
      if isLarge {
        wanted.insert(id)
        return nil
      }
      let index = CacheIndex(id, documents.values)
      known[id] = index
      return index
    } isResult: { key in
      documents[key.documentID].map(isResult) ?? false
    }
    indexes[collection] = known
    if !wanted.isEmpty { wantedIndexes[collection, default: []].formUnion(wanted) }
    return keys?.compactMap { documents[$0.documentID] }
  }

  // MARK: Building in the background

  /// The indexes that queries need and that are not being made yet; they count as being made from now on.
  package mutating func takeWantedIndexes() -> [IndexTask] {
    guard !wantedIndexes.isEmpty else { return [] }
    var tasks: [IndexTask] = []
    for (collection, ids) in wantedIndexes where builds[collection] == nil {
      wantedIndexes[collection] = nil
      let missing = ids.filter { indexes[collection]?[$0] == nil }
      guard !missing.isEmpty, let documents = byCollection[collection] else { continue }
      lastBuild += 1
      builds[collection] = IndexBuild(number: lastBuild)
      tasks.append(IndexTask(collection: collection, number: lastBuild, ids: missing, documents: documents))
    }
    return tasks
  }

  /// Takes indexes that were made of the documents of an earlier time, and brings them up to date.
  ///
  /// - Parameter isComplete: Whether all documents of the collection are in memory, so that the entries may be rows.
  package mutating func finish(_ made: IndexTaskResult, isComplete: Bool) {
    let collection = made.collection
    guard let build = builds[collection], build.number == made.number, let documents = byCollection[collection] else {
      return
    }
    builds[collection] = nil
    for var index in made.indexes {
      for (id, old) in build.changed { index.replace(old, by: documents[id]) }
      if keepsIndexes, isComplete { keep(index, of: collection) }
      indexes[collection, default: [:]][index.id] = index
    }
  }

  // MARK: Durable indexes

  private mutating func keep(_ index: CacheIndex, of collection: ResourcePath) {
    let ids = durableIndexes[collection] ?? []
    guard !ids.contains(index.id), ids.count < tuning.durableIndexes else { return }
    durableIndexes[collection, default: []].insert(index.id)
    indexRows.add(index, of: collection)
  }

  private mutating func noteIndexRows(_ old: CachedDocument?, by new: CachedDocument?) {
    guard !durableIndexes.isEmpty, let path = (old ?? new)?.path else { return }
    let (collection, id) = (collection(of: path), path.lastSegment)
    guard let ids = durableIndexes[collection] else { return }
    for index in ids {
      let gone = old.map { CacheIndex.bytes(of: $0, index) } ?? []
      let come = new.map { CacheIndex.bytes(of: $0, index) } ?? []
      if gone == come { continue }
      let name = Array(id.utf8)
      for bytes in gone where !come.contains(bytes) {
        indexRows.put(nil, at: CacheKey.indexEntry(collection, index, entry: bytes + name).bytes)
      }
      for bytes in come { indexRows.put(name, at: CacheKey.indexEntry(collection, index, entry: bytes + name).bytes) }
    }
  }

  /// The rows of durable indexes that have changed since the last call, and a part of a new index's.
  mutating func takeIndexRows() -> [CacheRow] { indexRows.take() }

  /// Whether rows of a new index are left for the next call.
  package var hasMoreIndexRows: Bool { indexRows.hasMore }
}

/// Indexes of a collection that are to be made of its documents.
package struct IndexTask: Sendable {
  /// The collection.
  package let collection: ResourcePath
  let number: Int
  let ids: Set<CacheIndex.ID>
  let documents: [UTF8String: CachedDocument]

  /// Makes the indexes; takes as long as the documents are many.
  package func run() -> IndexTaskResult {
    IndexTaskResult(collection: collection, number: number, indexes: ids.map { CacheIndex($0, documents.values) })
  }
}

/// The indexes that a task has made.
package struct IndexTaskResult: Sendable {
  let collection: ResourcePath
  let number: Int
  let indexes: [CacheIndex]
}

/// The documents that have changed since the indexes of their collection are being made, each as it was before.
struct IndexBuild: Sendable {
  /// Tells the build from earlier ones of the same collection.
  let number: Int
  private(set) var changed: [UTF8String: CachedDocument?] = [:]

  init(number: Int) { self.number = number }

  mutating func note(_ id: UTF8String, _ old: CachedDocument?) {
    if !changed.keys.contains(id) { changed.updateValue(old, forKey: id) }
  }
}

extension ResourcePath {
  /// The identifier of the document, which names it within its collection.
  fileprivate var documentID: UTF8String { UTF8String(lastSegment) }

  /// Whether the path is one of a document right below a collection.
  func isDocument(in collection: ResourcePath) -> Bool {
    segments.count == collection.segments.count + 1 && hasPrefix(collection)
  }
}
