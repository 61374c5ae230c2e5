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
  func loadForWaitingEvents() async {
    if let writer, let source, state.withLock({ $0.machine == nil }) {
      await startMachineFromCache(writer.reader(of: database, options.tuning), source)
    }
    while let missing = takeWaitingEvents() {
      performActions()
      guard let take = await source?.read(missing) else { continue }
      state.withLock { state in
        guard let machine = state.machine else { return }
        take(machine)
        takeOutput(of: machine, &state)
      }
    }
    performActions()
  }

  /// Takes the waiting events as far as everything they need is in memory.
  ///
  /// - Returns: The part of the cache that those left need; `nil` when none is left.
  private func takeWaitingEvents() -> CachePiece? {
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
      takeOutput(of: machine, &state)
      let missing = machine.missing(state.waiting.lazy.map(\.needs))
      if missing == nil {
        state.isLoading = false
        machine.allEventsTaken()
      }
      return missing
    }
  }

  private func startMachineFromCache(_ reader: CacheReader, _ source: any CacheSource) async {
    var store: LocalStore
    do {
      var (loader, isComplete) = try await reader.readAtStart(isLazy: source.isLazy)
      await source.addPendingDocuments(to: &loader)
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
      startMachine(&state, loaded)
    }
  }
}
