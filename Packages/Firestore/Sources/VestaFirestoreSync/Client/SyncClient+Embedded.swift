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
    return try await answering(isLocal: true) { try await embeddedDocument(path) }
  }

  /// The results as the backend has them now, with the pending writes on top.
  ///
  /// - Returns: `nil` where a listener must be used.
  package func freshResults(_ query: LocalQuery) async throws -> ViewSnapshot? {
    guard isDirect else { return nil }
    return try await answering(isLocal: true) { try await embeddedResults(query, isFromCache: false) }
  }

  private var isDirect: Bool { options.link == .embedded && state.withLock { $0.isNetworkEnabled && !$0.isShutDown } }

  func embeddedDocument(_ path: ResourcePath) async throws -> CachedDocument {
    try await withPending(
      { $0.pending(at: path) },
      read: { pending in pending.overlaid(try await lookup(path)) })
  }

  func embeddedResults(_ query: LocalQuery, isFromCache: Bool) async throws -> ViewSnapshot {
    if query.isDocument {
      let document = try await embeddedDocument(query.path)
      return ViewSnapshot(query, documents: [document], isFromCache: isFromCache)
    }
    return try await withPending(
      { $0.pending(in: query) },
      read: { pending in
        let documents = try await base(of: query, overlaid: pending.keys)
        return ViewSnapshot(query, documents: documents.map(pending.overlaid), isFromCache: isFromCache)
      })
  }

  /// Reads from the engine with the pending writes of the time before the read.
  ///
  /// Engine and queue are two sources, and a write moves from one to the other: when it is committed and answered
  /// between two looks, the engine was looked at before it had the write, and the queue after. So the queue is looked
  /// at first. A write that is pending then is shown, whatever happens in between; one that was answered before is in
  /// the engine. When a write is answered in between the read begins again, so that it is not shown as pending; after
  /// some attempts it is.
  private func withPending<Result>(
    _ pending: @escaping @Sendable (LocalStore) -> PendingOverlays,
    read: (PendingOverlays) async throws -> Result
  ) async throws -> Result {
    var attempts = max(1, options.tuning.readAttempts)
    while true {
      let before = try await self.read { pending($0.local) }
      let result = try await read(before)
      attempts -= 1
      if before.isEmpty || attempts == 0 { return result }
      let isCurrent = state.withLock { state in state.machine.map { before.isPending(in: $0.local) } ?? true }
      if isCurrent { return result }
    }
  }

  /// The results of the engine, and its documents that have pending writes.
  ///
  /// - Parameter spare: How many more results than the limit allows.
  private func base(
    of query: LocalQuery, overlaid: [DocumentKey], spare: Int = 0
  ) async throws -> [CachedDocument] {
    var target = query.target.structured
    // Each pending write can push one result out of the limit.
    if let limit = target.limit { target.limit = Int32(clamping: Int(limit) + overlaid.count + spare) }
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
    if !missing.isEmpty {
      for document in try await self.documents(at: missing) { documents[document.path] = document }
    }
    return Array(documents.values)
  }
}

/// The pending writes of some documents at one time.
struct PendingOverlays: Sendable {
  /// The documents, in the order of their paths.
  let keys: [DocumentKey]
  private let user: UTF8String
  private let overlays: [DocumentKey: Overlay]
  /// The number of the oldest pending write of each document.
  private let oldest: [DocumentKey: Int]

  init(_ keys: some Collection<DocumentKey>, of store: LocalStore) {
    user = store.user
    guard !keys.isEmpty else {
      (self.keys, overlays, oldest) = ([], [:], [:])
      return
    }
    let queue = store.queue
    self.keys = keys.sorted()
    overlays = Dictionary(uniqueKeysWithValues: self.keys.compactMap { key in queue.overlays[key].map { (key, $0) } })
    oldest = Dictionary(uniqueKeysWithValues: self.keys.compactMap { key in queue.oldest(of: key).map { (key, $0) } })
  }

  var isEmpty: Bool { keys.isEmpty }

  /// Whether none of the writes has been answered.
  func isPending(in store: LocalStore) -> Bool {
    if store.user != user { return false }
    let queue = store.queue
    return oldest.allSatisfy { queue.oldest(of: $0.key) == $0.value }
  }

  /// A document with its pending writes on top.
  func overlaid(_ document: CachedDocument) -> CachedDocument {
    guard let overlay = overlays[document.path] else { return document }
    var result = document
    _ = overlay.mutation.applyLocally(to: &result, mutated: .none, at: .zero)
    return result
  }
}

extension LocalStore {
  /// The pending writes of a document.
  func pending(at key: DocumentKey) -> PendingOverlays {
    PendingOverlays(hasOverlays && queue.overlays[key] != nil ? [key] : [], of: self)
  }

  /// The pending writes of the documents that a query looks at.
  func pending(in query: LocalQuery) -> PendingOverlays { PendingOverlays(overlaidKeys(of: query), of: self) }
}

/// The engine as the cache: the documents that events need, read before them.
extension SyncClient {
  /// Reads what events need of the engine.
  func readEngine(_ missing: CachePiece) async {
    var found = EngineCache()
    for document in await engineDocuments(missing.documents) { found.documents[document.path] = document }
    for query in missing.queries { found.queries[QueryID(query)] = await engineResults(query) }
    for query in missing.refills {
      found.refills[QueryID(query)] = await engineResults(query, spare: missing.spareResults)
    }
    let read = found
    state.withLock { $0.machine?.add(read) }
  }

  /// The documents of the engine; when it cannot be read, nothing is known about them.
  func engineDocuments(_ keys: Set<DocumentKey>) async -> [CachedDocument] {
    if keys.isEmpty { return [] }
    do {
      return try await documents(at: keys.sorted())
    } catch {
      options.log("The engine could not be read for pending writes. They are shown without its documents: \(error)")
      return keys.map { CachedDocument(ResourceName(database: database, path: $0), .invalid) }
    }
  }

  /// The results of the engine, with what pending writes may bring into a limit, and what the engine has now of the
  /// documents in memory that were results; none when it cannot be read.
  ///
  /// The queue does not change during this: events wait.
  private func engineResults(_ query: LocalQuery, spare: Int = 0) async -> [CachedDocument] {
    do {
      if query.isDocument { return try await documents(at: [query.path]) }
      // Not by `read`, which would wait for the events that wait for this.
      let overlaid = state.withLock { $0.machine?.local.overlaidKeys(of: query) ?? [] }
      let found = try await base(of: query, overlaid: overlaid, spare: spare)
      let former = formerResults(of: query, among: found)
      return former.isEmpty ? found : found + (try await documents(at: former))
    } catch {
      options.log("The engine could not be read for a listener. It begins without documents: \(error)")
      return []
    }
  }
}

extension SyncClient {
  /// The documents in memory that match a query and are not among the engine's results: other clients may have changed
  /// them since the network was disabled.
  private func formerResults(of query: LocalQuery, among found: [CachedDocument]) -> [DocumentKey] {
    let known = Set(found.map(\.path))
    return state.withLock { state in
      guard let machine = state.machine, !state.isNetworkEnabled else { return [] }
      return machine.local.remembered(by: query).filter { !known.contains($0) }.sorted()
    }
  }
}

extension LocalStore {
  /// The documents in memory that match a query, without the pending writes on top.
  func remembered(by query: LocalQuery) -> [DocumentKey] {
    if query.collectionGroup == nil {
      return documents.documents(in: query.path).filter { query.matches($0) }.map(\.path)
    }
    return documents.all.filter { query.selects($0.path) && query.matches($0) }.map(\.path)
  }

  /// The documents with pending writes that a query looks at.
  func overlaidKeys(of query: LocalQuery) -> [DocumentKey] {
    if !hasOverlays { return [] }
    if query.collectionGroup == nil { return queue.overlayKeys(in: query.path).sorted() }
    return queue.overlays.keys.filter { query.selects($0) }
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
