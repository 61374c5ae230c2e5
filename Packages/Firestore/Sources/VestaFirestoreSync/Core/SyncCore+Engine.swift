package import VestaFirestoreModel

/// The documents and results that were read from an engine in the process for events that wait.
package struct EngineCache: Sendable {
  /// Documents on which writes are based, including missing ones.
  package var documents: [DocumentKey: CachedDocument] = [:]
  /// The results of queries.
  package var queries: [QueryID: [CachedDocument]] = [:]
  /// The results of limited queries with more than their limits allow, for the writes that wait.
  package var refills: [QueryID: Refill] = [:]

  /// Results of a limited query that may take the places of others.
  package struct Refill: Sendable {
    /// The results; none once the cache has taken them.
    package var documents: [CachedDocument]
    /// How many more writes of one document they are enough for.
    package var spare: Int
  }

  /// Nothing.
  package init() {}

  /// Notes writes, each of which can take a result out of a limit.
  mutating func noteWrites(_ count: Int) {
    if refills.isEmpty { return }
    for id in refills.keys { refills[id]?.spare -= count }
  }

  /// Adds what has been read since.
  mutating func merge(_ read: EngineCache) {
    documents.merge(read.documents) { _, new in new }
    queries.merge(read.queries) { _, new in new }
    refills.merge(read.refills) { _, new in new }
  }
}

/// The engine in the process as the cache of an embedded client.
///
/// Such a client keeps no copies of documents without listeners. Two events need them all the same, and wait
/// until they are read: a listener that only the cache may answer, because the network is disabled or because it asked
/// for that; and a write that changes a part of a document, such as a merge or an increment.
///
/// Worked example: `rooms/a` is `{n: 4}` in the engine, and has no listener. The network is disabled, and
/// `rooms/a` is incremented. Without the document the local result would be `{n: 1}`; with it, it is `{n: 5}`.
extension SyncCore {
  /// The documents and results of the engine that some events need and that are not in memory; `nil` for none.
  func missingOfEngine(_ needs: some Sequence<CacheNeeds>) -> CachePiece? {
    var piece = CachePiece()
    // Many events that wait may need the same.
    var (queries, refills): ([QueryID: LocalQuery], [QueryID: LocalQuery]) = ([:], [:])
    for need in needs {
      switch need {
      case .bases(let mutations):
        for mutation in mutations where isBaseMissing(mutation) { piece.documents.insert(mutation.path) }
        addRefills(for: mutations, to: &refills)
        piece.spareResults += mutations.count
      case .listener(let query, let isCacheOnly):
        if isAnsweredByCache(isCacheOnly), isMissing(query) { queries[QueryID(query)] = query }
      default: break
      }
    }
    (piece.queries, piece.refills) = (Array(queries.values), Array(refills.values))
    return piece.isEmpty ? nil : piece
  }

  private func isBaseMissing(_ mutation: Mutation) -> Bool {
    mutation.dependsOnDocument && !cache.local.documents[mutation.path].isValid
      && cache.local.queue.overlays[mutation.path] == nil && engineCache.documents[mutation.path] == nil
  }

  private func isMissing(_ query: LocalQuery) -> Bool {
    let id = QueryID(query)
    return views.entries[id] == nil && engineCache.queries[id] == nil
  }

  private func isAnsweredByCache(_ isCacheOnly: Bool) -> Bool { isCacheOnly || !watch.isEnabled }

  /// Adds the limited queries whose results a write may take out of the limit, or move beyond it, and that only the
  /// cache answers: others have to be added then, and the engine is asked for them before the write.
  ///
  /// It is asked once for all writes that wait, for as many additional results as there are writes. Otherwise a
  /// thousand writes in a row would ask it a thousand times for a thousand results each.
  private func addRefills(for mutations: [Mutation], to queries: inout [QueryID: LocalQuery]) {
    for mutation in mutations {
      views.index.forEach(lookingAt: mutation.path) { id in
        guard let view = views.entries[id], view.view.isFull, view.view.contains(mutation.path),
          engineCache.refills[id].map({ $0.spare < mutations.count }) ?? true,
          isAnsweredByCache(!events.isRemote(id))
        else { return }
        queries[id] = view.query
      }
    }
  }

  /// Forgets the results that were read for writes that waited: when others arrive, the engine may have new ones.
  func forgetRefills() { engineCache.refills = [:] }

  /// Gives a limited view whose results have changed the engine's results, which were read before the change.
  ///
  /// - Returns: The documents that have changed by that.
  func takeRefill(of id: QueryID, target: Int32) -> [DocumentKey: CachedDocument] {
    guard let refill = engineCache.refills[id], !refill.documents.isEmpty else { return [:] }
    // They stay in the cache for as long as the target is used.
    engineCache.refills[id]?.documents = []
    return take(refill.documents, for: target)
  }

  /// Takes results of the engine for a target.
  ///
  /// While the network is enabled, what is in memory stays: it is of the snapshot that other views show.
  ///
  /// - Returns: The documents that have changed, with the pending writes on top.
  private func take(_ found: [CachedDocument], for target: Int32) -> [DocumentKey: CachedDocument] {
    let changed = watch.isEnabled ? cache.local.takeUnknown(found) : cache.local.takeNewer(found)
    // Before other views are notified: unreferenced documents leave the cache then.
    cache.local.refer(to: found.map(\.path), from: target)
    return changed
  }

  /// Gives a write the documents that it is based on; views show them together with the write.
  func takeBases(of mutations: [Mutation]) {
    if engineCache.documents.isEmpty { return }
    let found = mutations.compactMap { engineCache.documents.removeValue(forKey: $0.path) }
    _ = cache.local.takeUnknown(found)
  }

  /// Gives the view of a listener the documents of the engine, as its cache.
  func takeResults(of id: QueryID, target: Int32, isCacheOnly: Bool) {
    guard let found = engineCache.queries.removeValue(forKey: id), isAnsweredByCache(isCacheOnly) else { return }
    updateViews(take(found, for: target), event: nil)
  }
}

extension Mutation {
  /// Whether the outcome depends on what the document was before.
  var dependsOnDocument: Bool {
    if case .patch = change { return true }
    return !transforms.isEmpty
  }
}

extension LocalStore {
  /// Takes the documents that the cache knows nothing about.
  ///
  /// - Returns: The documents that have changed, with the pending writes on top.
  mutating func takeUnknown(_ found: [CachedDocument]) -> [DocumentKey: CachedDocument] {
    takeNewer(found.filter { !shown.remote[$0.path].isValid })
  }

  /// Takes the documents that are newer than the cache's.
  mutating func takeNewer(_ found: [CachedDocument]) -> [DocumentKey: CachedDocument] {
    // Not in one expression: the documents would be looked up in a copy from before the change.
    let changed = take(Dictionary(found.map { ($0.path, $0) }) { _, new in new })
    return shown.documents(changed)
  }

  /// Keeps documents in the cache for as long as a target is used.
  mutating func refer(to keys: [DocumentKey], from target: Int32) {
    for key in keys where shown.remote[key].isValid { uses.views.insert(key, target) }
  }
}
