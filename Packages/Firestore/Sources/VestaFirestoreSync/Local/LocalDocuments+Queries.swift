package import VestaFirestoreBackend
package import VestaFirestoreModel

/// How a query is answered from the cache: from what its target had before, else from its collections.
extension LocalDocuments {
  /// The state of a query's target in the cache.
  struct Previous {
    /// The documents that the target had.
    var keys: Set<DocumentKey> = []
    /// The snapshot at which none of them was in limbo.
    var version = Timestamp.zero
  }

  /// The results of a query, without its limit.
  ///
  /// - Parameter previous: The earlier state of the target; `nil` to look at the collections.
  mutating func results(of query: LocalQuery, previous: Previous?) -> [DocumentKey: CachedDocument] {
    if !usesIndex(query), let previous, let results = results(of: query, since: previous) { return results }
    return scan(query, readAfter: nil)
  }

  /// The results of a query among all documents of its collections.
  ///
  /// - Parameter readAfter: Only documents that were read later, and those with pending writes.
  package mutating func scan(_ query: LocalQuery, readAfter: Timestamp?) -> [DocumentKey: CachedDocument] {
    var results: [DocumentKey: CachedDocument] = [:]
    if query.isDocument {
      let document = document(query.path)
      if query.matches(document) { results[query.path] = document }
      return results
    }
    let queue = writes.queue
    for collection in collections(of: query) {
      let isPlain: (CachedDocument) -> Bool = { queue.overlays[$0.path] == nil && query.matches($0) }
      let candidates = readAfter == nil ? remote.candidates(for: query, in: collection, isResult: isPlain) : nil
      for document in candidates ?? Array(remote.documents(in: collection)) {
        if let readAfter, document.readTime <= readAfter { continue }
        if isPlain(document) { results[document.path] = document }
      }
      // A document with pending writes may match where the backend's document does not, and the other way around.
      for key in queue.overlayKeys(in: collection) {
        let local = document(key)
        if query.matches(local) { results[key] = local }
      }
    }
    return results
  }

  /// The documents in memory that match a query, without the pending writes on top.
  func remembered(by query: LocalQuery) -> [DocumentKey] {
    if query.collectionGroup == nil {
      return remote.documents(in: query.path).filter { query.matches($0) }.map(\.path)
    }
    return remote.all.filter { query.selects($0.path) && query.matches($0) }.map(\.path)
  }

  /// Whether an index answers the query better than what its target had before.
  private func usesIndex(_ query: LocalQuery) -> Bool {
    !query.matchesAll && !query.isDocument && remote.makesIndexes
      && collections(of: query).contains { remote.documents(in: $0).count >= remote.tuning.indexedSize }
  }

  private func collections(of query: LocalQuery) -> [ResourcePath] {
    guard let group = query.collectionGroup else { return [query.path] }
    return remote.collections(of: group).union(writes.queue.collections(of: group)).filter { $0.hasPrefix(query.path) }
  }

  /// The results by way of what the target had when no document of it was in limbo, and what has changed since.
  private mutating func results(of query: LocalQuery, since previous: Previous) -> [DocumentKey: CachedDocument]? {
    guard !query.matchesAll, previous.version > .zero else { return nil }
    var results = documents(previous.keys).filter { query.matches($0.value) }
    if let limit = query.limit, limit > 0, needsRefill(query, Array(results.values), previous) { return nil }
    results.merge(scan(query, readAfter: previous.version)) { _, new in new }
    return results
  }

  private func needsRefill(_ query: LocalQuery, _ results: [CachedDocument], _ previous: Previous) -> Bool {
    guard results.count == previous.keys.count else { return true }
    let sorted = results.sorted { query.compare($0, $1) < 0 }
    guard let edge = query.limitType == .first ? sorted.last : sorted.first else { return false }
    return edge.hasPendingWrites || edge.version > previous.version
  }
}
