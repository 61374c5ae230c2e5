import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel

/// Carries out the actions of the machine, in order and without the lock.
extension SyncClient {
  /// Performs what is waiting, unless another thread is at it.
  func perform() {
    var actions = state.withLock { state -> [ClientAction] in
      if state.isPerforming || state.outbox.isEmpty { return [] }
      state.isPerforming = true
      return state.takeOutbox()
    }
    while !actions.isEmpty {
      for action in actions { handle(action) }
      actions = state.withLock { state in
        if state.outbox.isEmpty { state.isPerforming = false }
        return state.takeOutbox()
      }
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
    case .startTimer(let name, let seconds): startTimer(name, seconds)
    case .cancelTimer(let name): cancelTimer(name)
    case .makeIndexes(let task): Task.detached { [weak self] in self?.make(task) }
    case .warnUnreachable:
      options.log(
        "Could not reach Cloud Firestore backend. The client works offline until it can. Check the network and the "
          + "backend's address.")
    default: streams.perform(action, self)
    }
  }

  private func make(_ task: IndexTask) {
    let made = task.run()
    run { $0.indexesMade(made) }
  }

  private func startTimer(_ name: TimerName, _ seconds: Double) {
    let (number, old) = state.withLock { state in
      state.timerNumber += 1
      // Known before it can fire.
      defer { state.timers[name] = (state.timerNumber, {}) }
      return (state.timerNumber, state.timers[name])
    }
    old?.cancel()
    let cancel = options.clock.schedule(seconds: seconds) { [weak self] in self?.timerFired(name, number) }
    let isWaiting = state.withLock { state in
      guard state.timers[name]?.number == number else { return false }
      state.timers[name]?.cancel = cancel
      return true
    }
    if !isWaiting { cancel() }
  }

  private func cancelTimer(_ name: TimerName) {
    let old = state.withLock { $0.timers.removeValue(forKey: name) }
    old?.cancel()
  }

  private func timerFired(_ name: TimerName, _ number: Int) {
    let isDue = state.withLock { state in
      guard state.timers[name]?.number == number else { return false }
      state.timers[name] = nil
      return true
    }
    guard isDue else { return }
    var needs = CacheNeeds.nothing
    if name == .garbageCollection, case .leastRecentlyUsed(let bytes?) = options.garbagePolicy {
      needs = .garbage(above: bytes)
    }
    run(needs) { $0.timerFired(name) }
  }
}
