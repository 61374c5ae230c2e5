import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

/// Reads a durable cache: at the start what every client needs, and the rest when an event needs it.
///
/// Worked example: 100,000 cached documents in `items`, of which 25 have `group == 7`, and durable indexes of `group`
/// and `sent`. The start reads the row of the cache, the pending writes and the targets. A query for group 7 reads the
/// 25 entries of the index between the values 7 and after 7, then their 25 documents. A query for the 20 items that
/// were sent last reads the last 20 entries of the index of `sent`, and their documents; a listener to it reads the
/// rest of the collection after its first snapshot, because any of it may take the place of a result. Without an index
/// a query reads its collection, and a collection group all of its collections.
struct CacheReader: Sendable {
  let open: @Sendable () async throws -> any OrderedStore
  let prefix: [UInt8]
  let database: DatabaseName

  /// How much is read before a query reads its collection.
  var tuning = SyncTuning()

  /// The cache as far as every client needs it, and whether that is all of it.
  ///
  /// - Parameter isLazy: Whether documents may be read later.
  func readAtStart(isLazy: Bool) async throws -> (loader: CacheLoader, isComplete: Bool) {
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
      (piece.queries, piece.limitedQueries) = ([], [])
      for query in wanted.queries { try await add(query, reader, to: &piece) }
      for query in wanted.limitedQueries { try await addLimited(query, reader, to: &piece, &loader) }
      for group in piece.groups { piece.collections.formUnion(try await collections(of: group, reader)) }
      for id in piece.targets { try await scan(CacheKey.documents(ofTarget: id), reader, into: &loader) }
      for path in piece.collections { try await scan(CacheKey.documents(in: path), reader, into: &loader) }
      try await get(piece.documents.filter { !piece.collections.contains($0.parent) }, reader, into: &loader)
      return (loader, piece)
    }
  }

  /// Adds the candidates of a query, or its collections.
  private func add(_ query: LocalQuery, _ reader: any StoreReader, to piece: inout CachePiece) async throws {
    guard let group = query.collectionGroup else {
      guard let keys = try await candidates(of: query, in: query.path, piece, reader) else {
        piece.collections.insert(query.path)
        return
      }
      piece.documents.formUnion(keys)
      return piece.queries.append(query)
    }
    var keys: Set<DocumentKey> = []
    for collection in try await collections(of: group, reader) where collection.hasPrefix(query.path) {
      guard let found = try await candidates(of: query, in: collection, piece, reader) else {
        piece.groups.insert(group)
        return
      }
      keys.formUnion(found)
    }
    piece.documents.formUnion(keys)
    piece.queries.append(query)
  }

  /// Adds the candidates of a limited query, or what decides its first results, or its collection.
  private func addLimited(
    _ query: LocalQuery, _ reader: any StoreReader, to piece: inout CachePiece, _ loader: inout CacheLoader
  ) async throws {
    let few = min(
      tuning.candidateLimit, tuning.candidatesPerResult * (query.limit ?? 0) + tuning.spareCandidates)
    if let keys = try await candidates(of: query, in: query.path, piece, limit: few, reader) {
      piece.documents.formUnion(keys)
      piece.queries.append(query)
    } else if let keys = try await keysWithinLimit(of: query, piece, reader) {
      piece.documents.formUnion(keys)
      piece.limitedQueries.append(query)
    } else {
      try await add(query, reader, to: &piece)
    }
  }

  /// The collections with an identifier, in as many steps as the cache has collections.
  private func collections(of group: CollectionID, _ reader: any StoreReader) async throws -> Set<ResourcePath> {
    var collections: Set<ResourcePath> = []
    var rest = KeyRange(prefix: prefix + [CacheKey.documentTag])
    while true {
      var first: [UInt8]?
      _ = try await reader.scan(rest, order: .ascending, limit: 1) { key, _ in
        first = key.bytes
        return .stop
      }
      guard let first else { return collections }
      guard case .document(let key)? = try? CacheKey(Array(first.dropFirst(prefix.count))) else {
        rest = rest.after(first)
        continue
      }
      if key.parent.collectionID == group { collections.insert(key.parent) }
      let whole = KeyRange(prefix: prefix + CacheKey.documents(in: key.parent))
      guard let next = whole.upper else { return collections }
      rest = KeyRange(from: next, to: rest.upper)
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

  /// The documents that may be results of a query, by the durable indexes of a collection; `nil` when they are many or
  /// not known.
  private func candidates(
    of query: LocalQuery, in collection: ResourcePath, _ piece: CachePiece, limit: Int? = nil,
    _ reader: any StoreReader
  ) async throws -> Set<DocumentKey>? {
    let indexes = piece.indexes[collection] ?? []
    guard let alternatives = CacheQueryPlan(query)?.ranges(among: indexes) else { return nil }
    var keys: Set<DocumentKey> = []
    for alternative in alternatives {
      var best: [DocumentKey]?
      for (id, bounds) in alternative {
        let found = try await documents(
          collection, id, bounds, limit: best?.count ?? limit ?? tuning.candidateLimit, reader)
        if let found { best = found }
      }
      guard let best else { return nil }
      keys.formUnion(best)
    }
    return keys
  }

  /// The documents from the beginning of a query's order up to the last one within its limit; `nil` without an index
  /// of that order, or when they are many.
  ///
  /// Documents with pending writes are in memory, and may no longer be results: they do not count.
  private func keysWithinLimit(
    of query: LocalQuery, _ piece: CachePiece, _ reader: any StoreReader
  ) async throws -> [DocumentKey]? {
    guard let limit = query.limit, let plan = CacheQueryPlan(query),
      let (id, bounds, isReversed) = plan.ordered(among: piece.indexes[query.path] ?? [])
    else { return nil }
    let start = prefix + CacheKey.indexEntry(query.path, id, entry: []).bytes
    var rest: KeyRange? = range(start, bounds)
    var keys: [DocumentKey] = []
    var (count, last) = (0, [UInt8]())
    while let range = rest {
      if keys.count >= tuning.candidateLimit { return nil }
      var chunk: [(value: [UInt8], key: DocumentKey)] = []
      let size = max(1, min(tuning.candidateLimit, max(tuning.firstEntries, limit - count)))
      rest = try await reader.scan(range, order: isReversed ? .descending : .ascending, limit: size) { key, value in
        let name = value.bytes
        let value = Array(key.bytes.dropFirst(start.count).dropLast(name.count))
        chunk.append((value, query.path.appending(String(decoding: name, as: UTF8.self))))
        return .next
      }.rest
      let isResult = try await results(of: query, among: chunk.map(\.key), piece, reader)
      for (entry, isResult) in zip(chunk, isResult) {
        // Later orders decide among equal values: all of them have to be seen.
        if count >= limit, entry.value != last { return keys }
        keys.append(entry.key)
        guard isResult else { continue }
        count += 1
        last = entry.value
      }
    }
    return keys
  }

  /// Which documents are results of a query and have no pending writes.
  private func results(
    of query: LocalQuery, among keys: [DocumentKey], _ piece: CachePiece, _ reader: any StoreReader
  ) async throws -> [Bool] {
    let rows = try await reader.get(keys.map { prefix + CacheKey.document($0).bytes })
    return zip(keys, rows).map { key, row in
      guard let row, !piece.overlaid.contains(key) else { return false }
      // A damaged row is reported where it is taken into the cache.
      let document = try? CachedDocument(row: row, ResourceName(database: database, path: key))
      return document.map { query.matches($0) } ?? false
    }
  }

  private func range(_ start: [UInt8], _ bounds: CacheIndex.Bounds) -> KeyRange {
    KeyRange(from: start + bounds.lower, to: bounds.upper.map { start + $0 } ?? KeyRange(prefix: start).upper)
  }

  /// The documents of the entries within bounds; `nil` when there are as many as the limit, or more.
  private func documents(
    _ collection: ResourcePath, _ id: CacheIndex.ID, _ bounds: CacheIndex.Bounds, limit: Int,
    _ reader: any StoreReader
  ) async throws -> [DocumentKey]? {
    let start = prefix + CacheKey.indexEntry(collection, id, entry: []).bytes
    var keys: [DocumentKey] = []
    _ = try await reader.scan(range(start, bounds), order: .ascending, limit: limit) { _, value in
      keys.append(collection.appending(String(decoding: value.bytes, as: UTF8.self)))
      return .next
    }
    return keys.count < limit ? keys : nil
  }
}
