import VestaBytes
import VestaFirestoreBackend
package import VestaFirestoreModel

/// Makes a cache of the rows that an earlier client wrote.
///
/// A damaged row of what the backend can send again discards everything of that kind: documents, targets, bundles are
/// fetched again. A damaged pending write is set aside under a separate key, reported, and never deleted.
package struct CacheLoader {
  private var batches: [UTF8String: [MutationBatch]] = [:]
  private var documents: [CachedDocument] = []
  private var sequenceNumbers: [DocumentKey: Int64] = [:]
  private var records: [TargetRecord] = []
  private var targetDocuments: [(DocumentKey, Int32)] = []
  private var bundles = BundleCache()
  private var highestID: Int32 = 0
  private var lastVersion = Timestamp.zero
  private var sequenceNumber: Int64 = 0
  private var cacheKeys: [[UInt8]] = []
  private var indexes: [ResourcePath: Set<CacheIndex.ID>] = [:]
  private var byteSize: Int?
  /// Whether a row was damaged that the backend can send again.
  package private(set) var isDamaged = false

  private let database: DatabaseName
  /// The damage found, in sentences for the log.
  package private(set) var complaints: [String] = []
  /// Rows to write because of it.
  package private(set) var repairs: [CacheRow] = []

  /// A loader that has seen no row.
  package init(database: DatabaseName) { self.database = database }

  /// Takes a row.
  package mutating func add(key: [UInt8], value: [UInt8]) {
    do {
      let parsed = try CacheKey(key)
      if !parsed.isBatch { cacheKeys.append(key) }
      do {
        try add(parsed, value)
      } catch {
        complain(parsed, key, value, error)
      }
    } catch {
      complaints.append("A row with an unknown key is ignored: \(error)")
    }
  }

  private mutating func complain(_ parsed: CacheKey, _ key: [UInt8], _ value: [UInt8], _ error: FirestoreServiceError) {
    guard parsed.isBatch else {
      isDamaged = true
      complaints.append("The row \(parsed) of the cache is damaged; the cache is fetched again. \(error)")
      return
    }
    repairs.append(CacheRow(key: CacheKey.setAside(key).bytes, value: value))
    repairs.append(CacheRow(key: key, value: nil))
    complaints.append("A pending write cannot be read and is set aside: \(parsed). \(error)")
  }

  private mutating func add(_ key: CacheKey, _ value: [UInt8]) throws(FirestoreServiceError) {
    var reader = RowReader(value)
    switch key {
    case .globals:
      highestID = Int32(clamping: try reader.int())
      lastVersion = try reader.time()
      sequenceNumber = try reader.int()
      if !reader.isAtEnd { byteSize = Int(try reader.int()) }
    case .batch(let user, _): batches[user, default: []].append(try MutationBatch(value))
    case .document(let path):
      documents.append(try CachedDocument(row: value, ResourceName(database: database, path: path)))
    case .sequenceNumber(let path): sequenceNumbers[path] = try reader.int()
    case .target: records.append(try TargetRecord(value))
    case .targetDocument(let id, let path): targetDocuments.append((path, id))
    case .bundle(let id):
      bundles.bundles[id] = BundleCache.Bundle(id: id, version: Int(try reader.int()), createTime: try reader.time())
    case .namedQuery(let name):
      let time = try reader.time()
      bundles.queries[name] = BundleCache.NamedQuery(
        name: name, query: try LocalQuery(try reader.blob()), readTime: time)
    case .index(let collection, let id): indexes[collection, default: []].insert(id)
    case .setAside, .indexEntry: break
    }
  }

  /// Whether the rows say how large the cache is, so that its documents may be read later.
  package var canWait: Bool { byteSize != nil && !isDamaged }

  /// The documents that the pending writes change.
  package var pendingDocuments: Set<DocumentKey> {
    batches.values.joined().reduce(into: []) { $0.formUnion($1.paths) }
  }

  /// Takes documents of an engine in the process, on which pending writes are based.
  package mutating func add(_ known: some Sequence<CachedDocument>) { documents += known }

  /// The cache of all rows.
  ///
  /// - Parameter isComplete: Whether the loader has seen all rows; else it has seen no documents but the ones that
  ///   pending writes change.
  package mutating func makeStore(
    user: String, policy: LocalStore.GarbagePolicy, isComplete: Bool = true
  ) -> LocalStore {
    var store = LocalStore(database: database, user: user, policy: policy)
    if isDamaged {
      repairs += cacheKeys.map { CacheRow(key: $0, value: nil) }
    } else {
      for document in documents { store.shown.remote.load(document) }
      store.shown.remote.restore(byteSize: byteSize, indexes: indexes)
      if !isComplete { store.residence = CacheResidence(of: pendingDocuments) }
      store.uses.restore(sequenceNumbers, last: sequenceNumber)
      store.bundles = bundles
      store.targets = TargetCache(
        records: records, documents: targetDocuments, highestID: highestID, lastVersion: lastVersion)
    }
    if isDamaged { store.targets.skipIDs(upTo: highestID) }
    for (owner, batches) in batches { store.shown.restore(batches, of: owner) }
    return store
  }
}

extension CacheLoader {
  /// Adds the rows to a cache that has been started without them.
  ///
  /// A document in memory is newer than its row.
  func addRows(to store: inout LocalStore, as piece: CachePiece) {
    for document in documents where !store.residence.has(document.path) { store.shown.remote.load(document) }
    for (key, id) in targetDocuments where !store.residence.has(target: id) { store.targets.insert(key, into: id) }
    for (key, number) in sequenceNumbers where store.shown.remote[key].isValid { store.uses.load(number, of: key) }
    store.residence.add(piece)
  }
}
