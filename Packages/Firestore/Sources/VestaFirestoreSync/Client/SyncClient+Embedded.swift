import VestaConcurrency
import VestaFirestoreBackend
package import VestaFirestoreModel

/// Reading from an engine in this process: on the calling task, without the watch stream.
///
/// The engine's document gets the pending writes on top. Most of the time there are none, and a read is one call.
extension SyncClient {
  /// The document as the backend has it now, with the pending writes on top.
  ///
  /// - Returns: `nil` where a listener must be used: the backend is not embedded, or the network is disabled.
  package func freshDocument(_ path: ResourcePath) async throws -> CachedDocument? {
    guard isDirect else { return nil }
    return try await embeddedDocument(path)
  }

  /// The results as the backend has them now, with the pending writes on top.
  ///
  /// - Returns: `nil` where a listener must be used.
  package func freshResults(_ query: LocalQuery) async throws -> ViewSnapshot? {
    guard isDirect else { return nil }
    return try await embeddedResults(query, isFromCache: false)
  }

  private var isDirect: Bool { options.isEmbedded && state.withLock { $0.isNetworkEnabled && !$0.isShutDown } }

  func embeddedDocument(_ path: ResourcePath) async throws -> CachedDocument {
    let document = try await lookup(path)
    return try await read { $0.local.overlaid(document).document }
  }

  func embeddedResults(_ query: LocalQuery, isFromCache: Bool) async throws -> ViewSnapshot {
    if query.isDocument {
      let document = try await embeddedDocument(query.path)
      return ViewSnapshot(query, documents: [document], isFromCache: isFromCache)
    }
    let overlaid = try await read { $0.local.overlaidKeys(of: query) }
    let base = try await base(of: query, overlaid: overlaid)
    let local = overlaid.isEmpty ? base : try await read { machine in base.map { machine.local.overlaid($0).document } }
    return ViewSnapshot(query, documents: local, isFromCache: isFromCache)
  }

  /// The results of the engine, and its documents that have pending writes.
  private func base(of query: LocalQuery, overlaid: [DocumentKey]) async throws -> [CachedDocument] {
    var target = query.target.structured
    // A pending write can push a result out of the limit or into it.
    if !overlaid.isEmpty { target.limit = nil }
    let request = RunQueryRequest(parent: query.target.parent, query: target)
    var documents: [ResourcePath: CachedDocument] = [:]
    try await call { context in
      try await backend.runQuery(request, context: context) { response in
        guard let document = response.document else { return }
        let cached = try CachedDocument(document, likely: database)
        documents[cached.path] = cached
      }
    }
    let missing = overlaid.filter { documents[$0] == nil }
    if !missing.isEmpty { for document in try await lookup(missing) { documents[document.path] = document } }
    return Array(documents.values)
  }
}

/// The engine as the cache: what events need of it before they come.
extension SyncClient {
  /// Reads what events need of the engine.
  func readEngine(_ missing: CachePiece) async {
    var found = EngineCache()
    for document in await engineDocuments(missing.documents) { found.documents[document.path] = document }
    for query in missing.queries { found.queries[QueryID(query)] = await engineResults(query) }
    let read = found
    state.withLock { $0.machine?.add(read) }
  }

  /// The documents of the engine; when it cannot be read, nothing is known about them.
  func engineDocuments(_ keys: Set<DocumentKey>) async -> [CachedDocument] {
    if keys.isEmpty { return [] }
    do {
      return try await lookup(keys.sorted())
    } catch {
      options.log("The engine could not be read for pending writes. They are shown without its documents: \(error)")
      return keys.map { CachedDocument(ResourceName(database: database, path: $0), .invalid) }
    }
  }

  /// The results of the engine, with what pending writes may bring into a limit; none when it cannot be read.
  private func engineResults(_ query: LocalQuery) async -> [CachedDocument] {
    do {
      if query.isDocument { return try await lookup([query.path]) }
      // Not by `read`, which would wait for the events that wait for this.
      let overlaid = state.withLock { $0.machine?.local.overlaidKeys(of: query) ?? [] }
      return try await base(of: query, overlaid: overlaid)
    } catch {
      options.log("The engine could not be read for a listener. It begins without documents: \(error)")
      return []
    }
  }
}

extension LocalStore {
  /// The documents with pending writes that a query looks at.
  func overlaidKeys(of query: LocalQuery) -> [DocumentKey] {
    if !hasOverlays { return [] }
    if query.collectionGroup == nil { return queue.overlayKeys(in: query.path).sorted() }
    return queue.overlays.keys.filter { query.selects($0) }
  }
}

extension ClientMachine {
  /// The results of a query in the cache.
  func cachedResults(_ query: LocalQuery) -> ViewSnapshot {
    let documents = local.execute(query, usesPreviousResults: true).documents
    return ViewSnapshot(query, documents: Array(documents.values), isFromCache: true)
  }
}

extension ViewSnapshot {
  /// The first snapshot of a query whose results are known.
  init(_ query: LocalQuery, documents: [CachedDocument], isFromCache: Bool) {
    var view = View(query, id: QueryID(query), remoteKeys: [])
    let found = Dictionary(documents.map { ($0.path, $0) }) { _, new in new }
    let outcome = view.apply(view.computeChanges(found))
    let snapshot = outcome.snapshot ?? view.initialSnapshot
    self = snapshot.with(isFromCache: isFromCache)
  }

  private func with(isFromCache: Bool) -> ViewSnapshot {
    ViewSnapshot(
      query: query, id: id, documents: documents, oldDocuments: oldDocuments, changes: changes,
      mutatedKeys: mutatedKeys, isFromCache: isFromCache, syncStateChanged: syncStateChanged,
      excludesMetadataChanges: excludesMetadataChanges, hasCachedResults: hasCachedResults)
  }
}
