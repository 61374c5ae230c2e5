import VestaBytes
import VestaConcurrency
package import VestaFirestoreBackend
package import VestaFirestoreModel

/// The calls of the application.
extension SyncClient {
  // MARK: Listening

  /// Adds a listener to a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - options: Which events the listener receives.
  ///   - onEnd: Called when the client ends before the listener is removed, or has ended before.
  ///   - receive: Called in order, one call at a time, never under a lock; after a failure not again.
  package func listen(
    _ query: LocalQuery, options: ListenOptions, onEnd: (@Sendable () -> Void)? = nil,
    receive: @escaping @Sendable (Result<ViewSnapshot, FirestoreServiceError>) -> Void
  ) -> SyncRegistration {
    let receiver = Receiver(onEnd: onEnd, receive)
    let id = state.withLock { state in
      defer { state.nextID += 1 }
      state.listeners[state.nextID] = receiver
      return state.nextID
    }
    let awaited = options.isAwaited ? Locked<Int32?>(nil) : nil
    // The first results of a limited query are read first; what may take their place is read before anything changes.
    let isLimited = query.limit != nil && !query.isDocument && self.options.link == .remote && writer != nil
    run(
      .listener(query, isCacheOnly: options.isCacheOnly), awaited: awaited, later: isLimited ? .candidates(query) : nil,
      dropped: receiver.end
    ) { machine in
      let target = machine.core.listen(query, options: options, listener: id)
      awaited?.withLock { $0 = target }
    }
    return SyncRegistration { [weak self] in
      receiver.mute()
      guard let self else { return }
      _ = state.withLock { $0.listeners.removeValue(forKey: id) }
      run { $0.core.unlisten(id) }
    }
  }

  /// Adds a listener that is notified when the listeners of all queries agree.
  ///
  /// - Parameters:
  ///   - onEnd: Called when the client ends before the listener is removed, or has ended before.
  ///   - receive: Called in order, one call at a time, never under a lock.
  package func addSnapshotsInSyncListener(
    onEnd: (@Sendable () -> Void)? = nil, _ receive: @escaping @Sendable () -> Void
  ) -> SyncRegistration {
    let receiver = Receiver<Void>(onEnd: onEnd) { _ in receive() }
    let id = state.withLock { state in
      defer { state.nextID += 1 }
      state.syncListeners[state.nextID] = receiver
      return state.nextID
    }
    run(dropped: receiver.end) { $0.core.addSyncListener(id) }
    return SyncRegistration { [weak self] in
      receiver.mute()
      guard let self else { return }
      _ = state.withLock { $0.syncListeners.removeValue(forKey: id) }
      run { $0.core.removeSyncListener(id) }
    }
  }

  // MARK: Calls to the backend alone

  /// Reads documents from the backend, without the cache; for transactions.
  package func lookup(_ paths: [ResourcePath]) async throws -> [CachedDocument] {
    try await answering(isLocal: options.link.answersLocally) { try await documents(at: paths) }
  }

  func documents(at paths: [ResourcePath]) async throws -> [CachedDocument] {
    let names = paths.map { ResourceName(database: database, path: $0) }
    let request = BatchGetDocumentsRequest(
      database: database.description, documents: names.map(\.description))
    var documents: [ResourcePath: CachedDocument] = [:]
    try await call { context in
      try await backend.batchGet(request, context: context) { response in
        switch response.result {
        case .found(let document)?:
          let cached = try CachedDocument(document, likely: database)
          documents[cached.path] = cached
        case .missing(let text)?:
          let name = try ResourceName(document: text, likely: database)
          documents[name.path] = CachedDocument(name, .missing, version: .zero)
        case nil: break
        }
      }
    }
    return names.map { documents[$0.path] ?? CachedDocument($0, .missing) }
  }

  /// Reads one document from the backend, without the cache.
  func lookup(_ path: ResourcePath) async throws -> CachedDocument {
    let name = ResourceName(database: database, path: path)
    let text = name.description
    var found: CachedDocument?
    try await call { context in
      let request = BatchGetDocumentsRequest(database: databaseText, documents: [text])
      try await backend.batchGet(request, context: context) { response in
        guard case .found(let document)? = response.result else { return }
        // The name that was asked for need not be taken apart again.
        found =
          UTF8Order.equal(document.name, text)
          ? CachedDocument(document, at: path) : try CachedDocument(document, likely: database)
      }
    }
    return found ?? CachedDocument(name, .missing)
  }

  /// Commits writes at the backend, without the cache; for transactions.
  package func commit(_ mutations: [Mutation]) async throws {
    let request = CommitRequest(database: database.description, writes: mutations.map { $0.write(in: database) })
    try await answering(isLocal: options.link.answersLocally) {
      try await call { context in _ = try await backend.commit(request, context: context) }
    }
  }

  /// Asks the backend for figures about the results of a query.
  package func aggregate(_ query: LocalQuery, _ aggregations: [Aggregation]) async throws -> [String: Value] {
    guard state.withLock({ $0.isNetworkEnabled }) else {
      throw FirestoreServiceError(.unavailable, "Failed to get result from server.")
    }
    let target = query.target
    let request = RunAggregationQueryRequest(
      parent: target.parent, query: StructuredAggregationQuery(query: target.structured, aggregations: aggregations))
    let fields = try await answering(isLocal: options.link.answersLocally) {
      var fields = MapValue()
      try await call { context in fields = try await backend.runAggregation(request, context: context).result ?? [:] }
      return fields
    }
    return Dictionary(fields.map { ($0.name, $0.value) }) { _, new in new }
  }

  // MARK: The cache

  /// A document of the cache with the pending writes on top.
  package func cachedDocument(_ path: ResourcePath) async throws -> CachedDocument {
    try await answering(isLocal: true) {
      if options.link == .embedded { return try await embeddedDocument(path) }
      return try await read(.documents([path])) { $0.local.localDocument(path) }
    }
  }

  /// The results of a query in the cache, with the pending writes on top.
  package func cachedResults(_ query: LocalQuery) async throws -> ViewSnapshot {
    try await answering(isLocal: true) {
      if options.link == .embedded { return try await embeddedResults(query, isFromCache: true) }
      return try await change(.query(query)) { machine in
        let documents = machine.local.execute(query, usesPreviousResults: true).documents
        return ViewSnapshot(query, documents: Array(documents.values), isFromCache: true)
      }
    }
  }

  /// Runs a read that is answered before the client ends, if it begins before the end.
  ///
  /// - Parameter isLocal: Whether the answer is certain: it does not depend on a network.
  func answering<Result>(isLocal: Bool, _ read: () async throws -> Result) async throws -> Result {
    guard isLocal else { return try await read() }
    guard reads.begin() else { throw SyncClient.terminated }
    defer { reads.end() }
    return try await read()
  }

  // MARK: Indexes

  /// Whether queries over many documents of the cache make an index.
  package func setIndexAutoCreation(_ isOn: Bool) { run { $0.local.documents.makesIndexes = isOn } }

  /// Deletes the indexes over the cache.
  package func deleteAllIndexes() { run { $0.deleteIndexes() } }

  // MARK: Network, users, the end

  /// Whether the call is sent to the backend.
  ///
  /// Without it listeners receive the cache's data, and writes wait.
  package func setNetworkEnabled(_ isEnabled: Bool) async {
    state.withLock { $0.isNetworkEnabled = isEnabled }
    let completion = Completion()
    run {
      completion.finish(nil)
    } _: { [weak self] machine in
      if isEnabled { machine.enableNetwork() } else { machine.disableNetwork() }
      if !isEnabled { self?.keepAll(machine) }
      completion.finish(nil)
    }
    // Ends only with the event itself: it is never cancelled.
    try? await completion.wait()
  }

  /// Notes that another user has signed in, or signed out, or that the tokens of the user are new.
  package func changeUser(_ user: String?) { run { $0.changeUser(user ?? "") } }

  /// Ends the client: reads of the cache or the engine that have begun are answered, no listener is called again, and
  /// what is pending stays pending in its store.
  package func shutdown() async {
    await reads.close()
    let (receivers, syncReceivers, waiting) = state.withLock { state in
      defer { (state.listeners, state.syncListeners) = ([:], [:]) }
      return (Array(state.listeners.values), Array(state.syncListeners.values), state.waiting)
    }
    for receiver in receivers { receiver.end() }
    for receiver in syncReceivers { receiver.end() }
    if !waiting.isEmpty { _ = try? await read { _ in true } }
    run { [weak self] machine in
      machine.shutDown()
      self?.keepAll(machine)
    }
    let (callbacks, dropped) = state.withLock { state in
      state.isShutDown = true
      defer { (state.callbacks, state.machine, state.waiting) = ([:], nil, []) }
      return (state.callbacks.sorted { $0.key < $1.key }.map(\.value), state.waiting)
    }
    timers.end()
    for event in dropped { event.drop?() }
    for callback in callbacks {
      callback.finish(FirestoreServiceError(.cancelled, "The client was terminated before the backend answered."))
    }
    do { try await writer?.flush() } catch { options.log("The last rows of the cache were not written: \(error)") }
  }

  // MARK: Bundles

  /// Loads a bundle into the cache.
  ///
  /// - Parameter progress: Called with each step, in order.
  /// - Returns: The last step.
  /// - Throws: `INVALID_ARGUMENT` for what is no bundle; nothing has been loaded then.
  package func loadBundle(
    _ bytes: [UInt8], progress: @escaping @Sendable (BundleProgress) -> Void
  ) async throws -> BundleProgress {
    let isKnown = try await read { [database] in $0.local.bundles.has(bytes, of: database) }
    let (steps, error) = try await change(isKnown ? .nothing : .everything) { machine in
      var steps: [BundleProgress] = []
      let error = machine.core.loadBundle(bytes) { steps.append($0) }
      return (steps, error)
    }
    for step in steps { progress(step) }
    if let error { throw error }
    return steps.last ?? BundleProgress()
  }

  /// The query that a bundle brought under a name.
  package func namedQuery(_ name: String) async throws -> LocalQuery? {
    try await read { $0.local.bundles.query(named: name) }
  }
}
