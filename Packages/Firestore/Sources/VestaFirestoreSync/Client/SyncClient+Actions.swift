import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel

/// Carries out the actions of the machine, in order and without the lock.
extension SyncClient {
  /// Performs the actions that wait, unless another thread performs them.
  ///
  /// - Parameter awaitedTarget: The target whose first results the caller is about to wait for. The engine in the
  ///   process is read for it on the caller's thread, and not on one that would have to be woken.
  func performActions(awaitedTarget: Int32? = nil) {
    var fetches: [(stream: Int, record: TargetRecord)] = []
    var actions = state.withLock { state -> [ClientAction] in
      if state.isPerforming || state.outbox.isEmpty { return [] }
      state.isPerforming = true
      return state.takeOutbox()
    }
    while !actions.isEmpty {
      for action in actions {
        if case .fetch(let stream, let record) = action {
          fetches.append((stream, record))
        } else {
          handle(action)
        }
      }
      actions = state.withLock { state in
        if state.outbox.isEmpty { state.isPerforming = false }
        return state.takeOutbox()
      }
    }
    // After the actions: neither requests nor callers wait for the cache.
    writer?.begin()
    // Last: listeners are not kept waiting for the engine.
    for (stream, record) in fetches {
      streams.startFetching(record, stream, self, isAwaited: record.id == awaitedTarget)
    }
  }

  private func handle(_ action: ClientAction) {
    switch action {
    case .event(.snapshot(let id, let snapshot)):
      let receiver = state.withLock { $0.listeners[id] }
      receiver?.receive(.success(snapshot))
    case .event(.failure(let id, let error)):
      let receiver = state.withLock { $0.listeners.removeValue(forKey: id) }
      receiver?.receive(.failure(error))
      receiver?.mute()
    case .event(.inSync(let id)):
      let receiver = state.withLock { $0.syncListeners[id] }
      receiver?.receive(())
    case .finish(let id, let error):
      let completion = state.withLock { $0.callbacks.removeValue(forKey: id) }
      completion?.finish(error)
    case .startTimer(let name, let seconds):
      timers.start(name, seconds: seconds) { [weak self] in self?.timerFired(name) }
    case .cancelTimer(let name): timers.cancel(name)
    case .makeIndexes(let task): Task.detached { [weak self] in self?.buildIndexes(task) }
    case .keepWrites:
      state.withLock { state in if let machine = state.machine { commits.keepAll(machine) } }
    case .warnUnreachable(let error):
      let cause = error.map { "\($0.code): \($0.message)" } ?? "Check the network and the backend's address."
      options.log("Could not reach Cloud Firestore backend. The client works offline until it can. \(cause)")
    case .warnStalled(let error):
      options.log("Writes wait, and are sent as soon as the backend takes them. \(error.code): \(error.message)")
    case .warnMalformed(let error): options.log("The watch stream was closed: \(error.message)")
    default: streams.perform(action, self)
    }
  }

  private func buildIndexes(_ task: IndexTask) {
    let made = task.run()
    takeEvent { $0.indexesMade(made) }
  }

  private func timerFired(_ name: TimerName) {
    var needs = CacheNeeds.nothing
    if name == .garbageCollection, case .leastRecentlyUsed(let bytes?) = options.garbagePolicy {
      needs = .garbage(above: bytes)
    }
    takeEvent(needs) { $0.timerFired(name) }
  }
}
