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
    let document = try await lookup([path])[0]
    return try await read { $0.local.overlaid(document).document }
  }

  func embeddedResults(_ query: LocalQuery, isFromCache: Bool) async throws -> ViewSnapshot {
    if query.isDocument {
      let document = try await embeddedDocument(query.path)
      return ViewSnapshot(query, documents: [document], isFromCache: isFromCache)
    }
    let overlaid = try await read { $0.local.overlaidKeys(of: query) }
    var target = query.target.structured
    // A pending write can push a result out of the limit or into it.
    if !overlaid.isEmpty { target.limit = nil }
    let request = RunQueryRequest(parent: query.target.parent, query: target)
    var documents: [ResourcePath: CachedDocument] = [:]
    let context = try await streams.context()
    do {
      try await backend.runQuery(request, context: context) { response in
        guard let document = response.document else { return }
        let cached = try CachedDocument(document, likely: database)
        documents[cached.path] = cached
      }
    } catch {
      streams.noteFailure(error)
      throw error
    }
    let missing = overlaid.filter { documents[$0] == nil }
    if !missing.isEmpty { for document in try await lookup(missing) { documents[document.path] = document } }
    let base = Array(documents.values)
    let local = overlaid.isEmpty ? base : try await read { machine in base.map { machine.local.overlaid($0).document } }
    return ViewSnapshot(query, documents: local, isFromCache: isFromCache)
  }
}

extension LocalStore {
  /// The documents with pending writes that a query looks at.
  func overlaidKeys(of query: LocalQuery) -> [DocumentKey] {
    if queue.overlays.isEmpty { return [] }
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
