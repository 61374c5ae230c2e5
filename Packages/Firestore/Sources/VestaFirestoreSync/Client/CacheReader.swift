import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

/// Reads a durable cache: at the start what every client needs, and the rest when an event needs it.
///
/// Worked example: 100,000 cached documents in `items`, of which 25 have `group == 7`, and a durable index of `group`.
/// The start reads the row of the cache, the pending writes and the targets. A query for group 7 reads the 25 entries
/// of the index between the values 7 and after 7, then their 25 documents. Without the index it reads the collection.
struct CacheReader: Sendable {
  let open: @Sendable () async throws -> any OrderedStore
  let prefix: [UInt8]
  let database: DatabaseName

  /// Queries with more candidates read their collection.
  static let candidateLimit = 4_096

  /// The cache as far as every client needs it, and whether that is all of it.
  ///
  /// - Parameter isLazy: Whether documents may be read later.
  func start(isLazy: Bool) async throws -> (loader: CacheLoader, isComplete: Bool) {
    try await open().read { reader in
      if isLazy {
        var loader = CacheLoader(database: database)
        for tag in CacheKey.startTags { try await scan([tag], reader, into: &loader) }
        if loader.canWait {
          try await get(loader.pendingDocuments, reader, into: &loader)
          return (loader, false)
        }
      }
      var loader = CacheLoader(database: database)
      try await scan([], reader, into: &loader)
      return (loader, true)
    }
  }

  /// Reads a part of the cache; queries without an index that is selective become their collections.
  func read(_ wanted: CachePiece) async throws -> (loader: CacheLoader, piece: CachePiece) {
    try await open().read { reader in
      var (loader, piece) = (CacheLoader(database: database), wanted)
      if wanted.isEverything {
        for tag: UInt8 in [3, 4, 6] { try await scan([tag], reader, into: &loader) }
        return (loader, piece)
      }
      piece.queries = []
      for query in wanted.queries {
        if let keys = try await candidates(of: query, wanted.indexes[query.path] ?? [], reader) {
          piece.documents.formUnion(keys)
          piece.queries.append(query)
        } else {
          piece.collections.insert(query.path)
        }
      }
      for id in piece.targets { try await scan(CacheKey.documents(ofTarget: id), reader, into: &loader) }
      for path in piece.collections { try await scan(CacheKey.documents(in: path), reader, into: &loader) }
      try await get(piece.documents.filter { !piece.collections.contains($0.parent) }, reader, into: &loader)
      return (loader, piece)
    }
  }

  private func scan(_ start: [UInt8], _ reader: any StoreReader, into loader: inout CacheLoader) async throws {
    let count = prefix.count
    _ = try await reader.scan(KeyRange(prefix: prefix + start), order: .ascending, limit: nil) { key, value in
      loader.add(key: Array(key.bytes.dropFirst(count)), value: value.bytes)
      return .next
    }
  }

  private func get(
    _ documents: some Sequence<DocumentKey>, _ reader: any StoreReader, into loader: inout CacheLoader
  ) async throws {
    let keys = documents.map { CacheKey.document($0).bytes }
    for (key, value) in zip(keys, try await reader.get(keys.map { prefix + $0 })) {
      if let value { loader.add(key: key, value: value) }
    }
  }

  /// The documents that may be results of a query, by its durable indexes; `nil` when they are many or not known.
  private func candidates(
    of query: LocalQuery, _ indexes: Set<CacheIndex.ID>, _ reader: any StoreReader
  ) async throws -> Set<DocumentKey>? {
    guard let alternatives = CacheQueryPlan(query)?.ranges(among: indexes) else { return nil }
    var keys: Set<DocumentKey> = []
    for alternative in alternatives {
      var best: [DocumentKey]?
      for (id, bounds) in alternative {
        let found = try await documents(query.path, id, bounds, limit: best?.count ?? Self.candidateLimit, reader)
        if let found { best = found }
      }
      guard let best else { return nil }
      keys.formUnion(best)
    }
    return keys
  }

  /// The documents of the entries within bounds; `nil` when there are as many as the limit, or more.
  private func documents(
    _ collection: ResourcePath, _ id: CacheIndex.ID, _ bounds: CacheIndex.Bounds, limit: Int,
    _ reader: any StoreReader
  ) async throws -> [DocumentKey]? {
    let start = prefix + CacheKey.indexEntry(collection, id, entry: []).bytes
    let whole = KeyRange(prefix: start)
    let range = KeyRange(from: start + bounds.lower, to: bounds.upper.map { start + $0 } ?? whole.upper)
    var keys: [DocumentKey] = []
    _ = try await reader.scan(range, order: .ascending, limit: limit) { _, value in
      keys.append(collection.appending(String(decoding: value.bytes, as: UTF8.self)))
      return .next
    }
    return keys.count < limit ? keys : nil
  }
}
