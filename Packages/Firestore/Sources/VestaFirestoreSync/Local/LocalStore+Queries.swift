package import VestaFirestoreBackend
package import VestaFirestoreModel

/// How a query is answered from the cache: from what its target had before, else from its collections.
extension LocalStore {
  /// The results of a query in the cache, without its limit, and the documents of its target.
  ///
  /// - Parameter record: The record of the target, where the caller knows it.
  package mutating func execute(
    _ query: LocalQuery, of record: TargetRecord? = nil, usesPreviousResults: Bool
  ) -> (documents: [DocumentKey: CachedDocument], remoteKeys: Set<DocumentKey>) {
    var version = Timestamp.zero
    var keys: Set<DocumentKey> = []
    if let kept = record ?? targets.record(of: query.target) {
      keys = targets.keys(of: kept.id)
      version = (active[kept.id] ?? kept).lastLimboFreeVersion
    }
    if usesIndex(query) { return (scan(query, readAfter: nil), usesPreviousResults ? keys : []) }
    if usesPreviousResults, let results = previousResults(of: query, keys, since: version) { return (results, keys) }
    return (scan(query, readAfter: nil), usesPreviousResults ? keys : [])
  }

  /// The results of a query among all documents of its collections.
  ///
  /// - Parameter readAfter: Only documents that were read later, and those with pending writes.
  package mutating func scan(_ query: LocalQuery, readAfter: Timestamp?) -> [DocumentKey: CachedDocument] {
    var results: [DocumentKey: CachedDocument] = [:]
    if query.isDocument {
      let document = localDocument(query.path)
      if query.matches(document) { results[query.path] = document }
      return results
    }
    let queue = queue
    for collection in collections(of: query) {
      let isPlain: (CachedDocument) -> Bool = { queue.overlays[$0.path] == nil && query.matches($0) }
      let candidates = readAfter == nil ? documents.candidates(for: query, in: collection, isResult: isPlain) : nil
      for document in candidates ?? Array(documents.documents(in: collection)) {
        if let readAfter, document.readTime <= readAfter { continue }
        if isPlain(document) { results[document.path] = document }
      }
      // A document with pending writes may match where the backend's document does not, and the other way around.
      for key in queue.overlayKeys(in: collection) {
        let local = localDocument(key)
        if query.matches(local) { results[key] = local }
      }
    }
    return results
  }

  /// Whether an index answers the query better than what its target had before.
  private func usesIndex(_ query: LocalQuery) -> Bool {
    !query.matchesAll && !query.isDocument && documents.makesIndexes
      && collections(of: query).contains { documents.documents(in: $0).count >= tuning.indexedSize }
  }

  private func collections(of query: LocalQuery) -> [ResourcePath] {
    guard let group = query.collectionGroup else { return [query.path] }
    return documents.collections(of: group).union(queue.collections(of: group)).filter { $0.hasPrefix(query.path) }
  }

  /// The results by way of what the target had when no document of it was in limbo, and what has changed since.
  private mutating func previousResults(
    of query: LocalQuery, _ keys: Set<DocumentKey>, since version: Timestamp
  ) -> [DocumentKey: CachedDocument]? {
    guard !query.matchesAll, version > .zero else { return nil }
    var results = localDocuments(keys).filter { query.matches($0.value) }
    if let limit = query.limit, limit > 0, needsRefill(query, Array(results.values), keys, version) { return nil }
    results.merge(scan(query, readAfter: version)) { _, new in new }
    return results
  }

  private func needsRefill(
    _ query: LocalQuery, _ results: [CachedDocument], _ keys: Set<DocumentKey>, _ version: Timestamp
  ) -> Bool {
    guard results.count == keys.count else { return true }
    let sorted = results.sorted { query.compare($0, $1) < 0 }
    guard let edge = query.limitType == .first ? sorted.last : sorted.first else { return false }
    return edge.hasPendingWrites || edge.version > version
  }
}
