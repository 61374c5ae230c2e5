import VestaBytes
package import VestaConcurrency
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
  ) -> ListenerRegistration {
    companions.takeUser(self)
    let receiver = Receiver(onEnd: onEnd, receive)
    let id = state.withLock { state in
      defer { state.nextID += 1 }
      state.listeners[state.nextID] = receiver
      return state.nextID
    }
    // The first results of a limited query are read first; the documents that may replace them are read before anything
    // changes.
    let isLimited = query.limit != nil && !query.isDocument && self.options.link == .remote && writer != nil
    let target = takeOrKeepEvent(
      .listener(query, isCacheOnly: options.isCacheOnly), laterNeeds: isLimited ? .candidates(query) : nil,
      dropped: receiver.end
    ) {
      $0.core.listen(query, options: options, listener: id)
    }
    performActions(awaitedTarget: options.isAwaited ? target ?? nil : nil)
    return ListenerRegistration { [weak self] in
      receiver.mute()
      guard let self else { return }
      _ = state.withLock { $0.listeners.removeValue(forKey: id) }
      takeEvent { $0.core.unlisten(id) }
    }
  }

  /// Adds a listener that is notified when the listeners of all queries agree.
  ///
  /// - Parameters:
  ///   - onEnd: Called when the client ends before the listener is removed, or has ended before.
  ///   - receive: Called in order, one call at a time, never under a lock.
  package func addSnapshotsInSyncListener(
    onEnd: (@Sendable () -> Void)? = nil, _ receive: @escaping @Sendable () -> Void
  ) -> ListenerRegistration {
    let receiver = Receiver<Void>(onEnd: onEnd) { _ in receive() }
    let id = state.withLock { state in
      defer { state.nextID += 1 }
      state.syncListeners[state.nextID] = receiver
      return state.nextID
    }
    takeEvent(dropped: receiver.end) { $0.core.addSyncListener(id) }
    return ListenerRegistration { [weak self] in
      receiver.mute()
      guard let self else { return }
      _ = state.withLock { $0.syncListeners.removeValue(forKey: id) }
      takeEvent { $0.core.removeSyncListener(id) }
    }
  }

  // MARK: Calls to the backend alone

  /// Reads documents from the backend, without the cache; for transactions.
  package func lookup(_ paths: [ResourcePath]) async throws -> [CachedDocument] {
    let documents = try await answering(isLocal: options.link.answersLocally) { try await calls.documents(at: paths) }
    noteTransaction(of: paths)
    return documents
  }

  /// Commits writes at the backend, without the cache; for transactions.
  package func commit(_ mutations: [Mutation]) async throws {
    try await answering(isLocal: options.link.answersLocally) { try await calls.commit(mutations) }
    noteTransaction(of: mutations.map(\.path))
  }

  /// Asks the backend for figures about the results of a query.
  package func aggregate(_ query: LocalQuery, _ aggregations: [Aggregation]) async throws -> [String: Value] {
    guard state.withLock({ $0.isNetworkEnabled }) else {
      throw FirestoreServiceError(.unavailable, "Failed to get result from server.")
    }
    return try await answering(isLocal: options.link.answersLocally) { try await calls.aggregate(query, aggregations) }
  }

  // MARK: The cache

  /// A document of the cache with the pending writes on top.
  package func cachedDocument(_ path: ResourcePath) async throws -> CachedDocument {
    companions.takeUser(self)
    return try await answering(isLocal: true) {
      if let direct { return try await direct.document(path, pending) }
      return try await read(.documents([path])) { $0.local.shown.document(path) }
    }
  }

  /// The results of a query in the cache, with the pending writes on top.
  package func cachedResults(_ query: LocalQuery) async throws -> ViewSnapshot {
    companions.takeUser(self)
    return try await answering(isLocal: true) {
      if let direct { return try await direct.results(of: query, isFromCache: true, pending) }
      return try await change(.query(query)) { machine in
        let documents = machine.local.execute(query, usesPreviousResults: true).documents
        return ViewSnapshot(query, documents: Array(documents.values), isFromCache: true)
      }
    }
  }

  // MARK: Reads of an engine in the process

  /// The document as the backend has it now, with the pending writes on top.
  ///
  /// - Returns: `nil` where a listener must be used: the backend is not embedded, or the network is disabled.
  package func freshDocument(_ path: ResourcePath) async throws -> CachedDocument? {
    guard let direct = usableDirect else { return nil }
    companions.takeUser(self)
    return try await answering(isLocal: true) { try await direct.document(path, pending) }
  }

  /// The results as the backend has them now, with the pending writes on top.
  ///
  /// - Returns: `nil` where a listener must be used.
  package func freshResults(_ query: LocalQuery) async throws -> ViewSnapshot? {
    guard let direct = usableDirect else { return nil }
    companions.takeUser(self)
    return try await answering(isLocal: true) { try await direct.results(of: query, isFromCache: false, pending) }
  }

  private var usableDirect: DirectReads? {
    guard let direct, state.withLock({ $0.isNetworkEnabled && !$0.isShutDown }) else { return nil }
    return direct
  }

  /// Looks at the pending writes after the events that wait.
  private func pending(_ look: @escaping @Sendable (PendingWrites) -> PendingOverlays) async throws -> PendingOverlays {
    try await read { look($0.local.shown.writes) }
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
  package func setIndexAutoCreation(_ isOn: Bool) { takeEvent { $0.local.documents.makesIndexes = isOn } }

  /// Deletes the indexes over the cache.
  package func deleteAllIndexes() { takeEvent { $0.deleteIndexes() } }

  // MARK: Network, users, the end

  /// Enables or disables the network.
  ///
  /// Without it listeners receive the cache's data, and writes wait.
  package func setNetworkEnabled(_ isEnabled: Bool) async {
    // Ends only with the event itself: it is never cancelled.
    try? await startSettingNetworkEnabled(isEnabled).wait()
  }

  /// Enables or disables the network after all calls that were made before, and before all later ones.
  package func startSettingNetworkEnabled(_ isEnabled: Bool) -> Completion {
    let completion = Completion()
    takeEvent(network: isEnabled) {
      completion.finish(nil)
    } _: { [weak self] machine in
      if isEnabled { machine.enableNetwork() } else { machine.disableNetwork() }
      if !isEnabled { self?.commits.keepAll(machine) }
      completion.finish(nil)
    }
    return completion
  }

  /// Notes that another user has signed in, or signed out, or that the tokens of the user are new.
  package func changeUser(_ user: String?) {
    takeOrKeepUser(user)
    performActions()
  }

  /// Takes the event of `changeUser`, whose actions the caller performs.
  func takeOrKeepUser(_ user: String?) {
    _ = takeOrKeepEvent { [weak self] machine in
      // The former user's writes may have to wait for long: they survive the process as if the network were disabled.
      if machine.changeUser(user ?? "") { self?.commits.keepAll(machine) }
    }
  }

  /// Ends the client: reads of the cache or the engine that have begun are answered, no listener is called again, and
  /// what is pending stays pending in its store.
  package func shutdown() async {
    await reads.close()
    let (receivers, syncReceivers, isUsed) = state.withLock { state in
      defer { (state.listeners, state.syncListeners) = ([:], [:]) }
      let isUsed = state.machine != nil || !state.waiting.isEmpty
      return (Array(state.listeners.values), Array(state.syncListeners.values), isUsed)
    }
    for receiver in receivers { receiver.end() }
    for receiver in syncReceivers { receiver.end() }
    // It waits its turn: events before it may wait for documents, and dropped with them would keep no writes. In a
    // separate task: the caller's may be cancelled.
    if isUsed { _ = await Task { try? await change(.nothing) { _ in } }.value }
    let (callbacks, dropped, late) = state.withLock { state in
      // At once with the end: a write between them would be taken, and have no row.
      if let machine = state.machine {
        machine.shutDown()
        commits.keepAll(machine)
        takeOutput(of: machine, &state)
      }
      state.isShutDown = true
      defer {
        (state.callbacks, state.machine, state.waiting) = ([:], nil, [])
        (state.listeners, state.syncListeners) = ([:], [:])
      }
      // Listeners that were added since the others were ended, by one of these for example.
      let late = state.listeners.values.map { $0.end } + state.syncListeners.values.map { $0.end }
      return (state.callbacks.sorted { $0.key < $1.key }.map(\.value), state.waiting, late)
    }
    performActions()
    // Last: until here writes are taken, and each belongs to the user who is signed in at that time.
    companions.end()
    timers.end()
    for event in dropped { event.drop?() }
    for end in late { end() }
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
