import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

/// The rows of a durable cache, read when events need them.
extension SyncClient {
  func emptyStore() -> LocalStore {
    LocalStore(database: database, user: options.user ?? "", policy: options.garbagePolicy)
  }

  /// Reads what waiting events need, one part after the other, until none waits.
  func load() async {
    let reader = writer?.reader(of: database, options.tuning)
    if let reader, state.withLock({ $0.machine == nil }) { await start(reader) }
    while let missing = runWaiting() {
      perform()
      if options.link == .embedded { await readEngine(missing) } else if let reader { await read(missing, reader) }
    }
    perform()
  }

  /// Takes the waiting events as far as everything they need is in memory.
  ///
  /// - Returns: The part of the cache that those left need; `nil` when none is left.
  private func runWaiting() -> CachePiece? {
    state.withLock { state in
      guard !state.isShutDown, let machine = state.machine else {
        state.isLoading = false
        return nil
      }
      var count = 0
      while count < state.waiting.count, machine.missing(CollectionOfOne(state.waiting[count].needs)) == nil {
        state.waiting[count].perform(machine)
        count += 1
      }
      state.waiting.removeFirst(count)
      collect(machine, &state)
      let missing = machine.missing(state.waiting.lazy.map(\.needs))
      if missing == nil { state.isLoading = false }
      return missing
    }
  }

  private func start(_ reader: CacheReader) async {
    var store: LocalStore
    do {
      var (loader, isComplete) = try await reader.start(isLazy: options.link == .remote)
      if options.link == .embedded { loader.add(await engineDocuments(loader.pendingDocuments)) }
      store = loader.makeStore(user: options.user ?? "", policy: options.garbagePolicy, isComplete: isComplete)
      for complaint in loader.complaints { options.log(complaint) }
      if !loader.repairs.isEmpty { writer?.write(loader.repairs) }
    } catch {
      // A store that was closed with the app is no failure: the client ends, too.
      if case StoreError.Code.closed = error {
      } else {
        options.log(
          "The store of the cache and of pending writes cannot be read. The client works without it, and writes nothing "
            + "over it: \(error)")
      }
      writer?.refuse(error)
      store = emptyStore()
    }
    let loaded = store
    state.withLock { state in
      guard !state.isShutDown else { return }
      start(&state, loaded)
    }
  }

  /// The first results of a query are found by rows, which must match the documents in memory.
  ///
  /// - Returns: The part to read: where the rows cannot be written, whole collections.
  private func afterWriting(_ missing: CachePiece) async -> CachePiece {
    if missing.firsts.isEmpty { return missing }
    do {
      try await writer?.flush()
      return missing
    } catch {
      var missing = missing
      missing.collections.formUnion(missing.firsts.map(\.path))
      missing.firsts = []
      return missing
    }
  }

  /// Reads a part of the cache; what cannot be read costs the cache, which the backend sends again.
  private func read(_ missing: CachePiece, _ reader: CacheReader) async {
    do {
      let (loader, piece) = try await reader.read(await afterWriting(missing))
      for complaint in loader.complaints { options.log(complaint) }
      state.withLock { state in
        guard let machine = state.machine else { return }
        if loader.isDamaged { machine.discardCache() } else { machine.add(loader, as: piece) }
        collect(machine, &state)
      }
    } catch {
      options.log("The cache cannot be read, and is fetched again: \(error)")
      state.withLock { state in
        guard let machine = state.machine else { return }
        machine.discardCache()
        collect(machine, &state)
      }
    }
  }
}
