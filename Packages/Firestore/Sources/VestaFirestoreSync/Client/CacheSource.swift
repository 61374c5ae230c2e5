import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel

/// Where a client finds what events need and what its cache does not have in memory.
///
/// There are two: the rows that the client has written (`RowSource`), and an engine in the process, of whose documents
/// the client keeps no copies (`EngineSource`). Events wait, in order, until their source has been read.
protocol CacheSource: Sendable {
  /// Whether the rows of documents are read when events need them, and not at the start.
  var isLazy: Bool { get }

  /// Adds the documents that pending writes change and the rows do not have.
  func addPendingDocuments(to loader: inout CacheLoader) async

  /// Reads a part of the cache, which may fail: the events are taken all the same.
  ///
  /// - Returns: Hands over what has been read.
  func read(_ missing: CachePiece) async -> @Sendable (ClientMachine) -> Void
}

/// The rows of a durable cache.
struct RowSource: CacheSource {
  let reader: CacheReader
  let writer: CacheWriter
  let log: @Sendable (String) -> Void

  var isLazy: Bool { true }

  func addPendingDocuments(to loader: inout CacheLoader) {}

  /// Reads a part of the cache; an unreadable part costs the cache, which the backend sends again.
  func read(_ missing: CachePiece) async -> @Sendable (ClientMachine) -> Void {
    do {
      let (loader, piece) = try await reader.read(await afterWriting(missing))
      for complaint in loader.complaints { log(complaint) }
      if loader.isDamaged { return { $0.discardCache() } }
      return { $0.addRows(loader, as: piece) }
    } catch {
      log("The cache cannot be read, and is fetched again: \(error)")
      return { $0.discardCache() }
    }
  }

  /// The first results of a query are found by rows, which must match the documents in memory.
  ///
  /// - Returns: The part to read: where the rows cannot be written, whole collections.
  private func afterWriting(_ missing: CachePiece) async -> CachePiece {
    if missing.limitedQueries.isEmpty { return missing }
    do {
      try await writer.flush()
      return missing
    } catch {
      var missing = missing
      missing.collections.formUnion(missing.limitedQueries.map(\.path))
      missing.limitedQueries = []
      return missing
    }
  }
}

/// An engine in the process as the cache: the documents that events need, read before them.
///
/// Worked example: the network is disabled, and a listener to `rooms` is added. The engine's rooms are read, with as
/// many beyond a limit as pending writes may push out of it, and with the rooms in memory that were results before:
/// other clients may have changed them since. The listener begins with them.
struct EngineSource: CacheSource {
  let calls: BackendCalls
  let state: Locked<SyncClient.State>
  let log: @Sendable (String) -> Void

  var isLazy: Bool { false }

  func addPendingDocuments(to loader: inout CacheLoader) async {
    loader.add(await documents(loader.pendingDocuments))
  }

  func read(_ missing: CachePiece) async -> @Sendable (ClientMachine) -> Void {
    var found = EngineCache()
    for document in await documents(missing.documents) { found.documents[document.path] = document }
    for query in missing.queries { found.queries[QueryID(query)] = await results(of: query) }
    for query in missing.refills {
      let documents = await results(of: query, spare: missing.spareResults)
      found.refills[QueryID(query)] = EngineCache.Refill(documents: documents, spare: missing.spareResults)
    }
    return { [found] in $0.mergeEngineCache(found) }
  }

  /// The documents of the engine; when it cannot be read, nothing is known about them.
  private func documents(_ keys: Set<DocumentKey>) async -> [CachedDocument] {
    if keys.isEmpty { return [] }
    do {
      return try await calls.documents(at: keys.sorted())
    } catch {
      log("The engine could not be read for pending writes. They are shown without its documents: \(error)")
      return keys.map { CachedDocument(ResourceName(database: calls.database, path: $0), .invalid) }
    }
  }

  /// The results of the engine, with what pending writes may bring into a limit, and what the engine has now of the
  /// documents in memory that were results; none when it cannot be read.
  ///
  /// The queue does not change during this: events wait.
  private func results(of query: LocalQuery, spare: Int = 0) async -> [CachedDocument] {
    do {
      if query.isDocument { return try await calls.documents(at: [query.path]) }
      // A look, and not an event, which would wait for the events that wait for this.
      let overlaid = state.withLock { $0.machine?.local.shown.writes.overlayKeys(of: query) ?? [] }
      let found = try await calls.results(of: query, overlaid: overlaid, spare: spare)
      let former = formerResults(of: query, among: found)
      return former.isEmpty ? found : found + (try await calls.documents(at: former))
    } catch {
      log("The engine could not be read for a listener. It begins without documents: \(error)")
      return []
    }
  }

  /// The documents in memory that match a query and are not among the engine's results: other clients may have changed
  /// them since the network was disabled.
  private func formerResults(of query: LocalQuery, among found: [CachedDocument]) -> [DocumentKey] {
    let known = Set(found.map(\.path))
    return state.withLock { state in
      guard let machine = state.machine, !state.isNetworkEnabled else { return [] }
      return machine.local.shown.remembered(by: query).filter { !known.contains($0) }.sorted()
    }
  }
}
