import VestaConcurrency
import VestaCore
import VestaEventsInterop
import VestaServiceInterop
import VestaStoreInterop

/// Reading, leasing and settling: what the dispatcher asks of its source.
extension EventDispatcher {
  func submit(_ command: DispatchMachine.Command, _ now: Int64) {
    // On the threads of deliveries: a page of events takes as long to read as many changes to commit, and would keep
    // one of the few threads from the tasks of callers.
    Task(executorPreference: BlockingExecutor.shared, priority: Self.priority) {
      switch command {
      case .lease(let functions): await self.lease(functions, now)
      case .load(let request, let generation): await self.load(request, generation)
      case .settle(let outcomes): await self.settle(outcomes)
      case .deliver: break
      }
    }
  }

  /// Waits for the leases and settlements that are under way; no other begins.
  func operationsEnded() async {
    await state.wait(in: \.drained) { $0.operations == 0 }
  }

  private func operationEnded() {
    let drained = state.withLock { state in
      state.operations -= 1
      return state.operations == 0 ? state.drained.takeAll() : Waiters()
    }
    drained.resume()
    pump()
  }

  private func lease(_ functions: [String], _ now: Int64) async {
    do {
      let duration = state.withLock { $0.machine.timing.lease }
      let leases = try await source.lease(Set(functions), for: owner, duration: duration)
      state.withLock { $0.machine.leased(leases, askedAt: now) }
    } catch {
      report(error, "leased")
      let now = clock.now()
      state.withLock { $0.machine.leaseFailed(now: now) }
    }
    operationEnded()
  }

  private func load(_ request: EventPageRequest, _ generation: Int) async {
    do {
      let page = try await source.events(request)
      for sentence in page.unreadableKeys { log.error("I-FUS000008", "\(source.service): \(sentence)") }
      let now = clock.now()
      pump { $0.loaded(page, request, generation: generation, now: now) }
    } catch {
      report(error, "read")
      let now = clock.now()
      pump { $0.loadFailed(request, generation: generation, now: now) }
    }
  }

  private func settle(_ outcomes: [EventOutcome]) async {
    do {
      try await source.settle(outcomes, by: owner)
      state.withLock { $0.machine.settled() }
    } catch {
      let lost = (error as? EventLeaseLost)?.functions ?? []
      if lost.isEmpty { report(error, "settled") }
      let now = clock.now()
      state.withLock { $0.machine.settleFailed(outcomes, lost: lost, now: now) }
    }
    operationEnded()
  }

  func report(_ error: any Error, _ what: String) {
    let isClosed = state.withLock { state in
      // A closed store returns nothing.
      if (error as? StoreError)?.code == .closed { _ = state.machine.close() }
      return state.machine.isClosed
    }
    guard !isClosed else { return }
    log.error("I-FUS000004", "The events of \(source.service) could not be \(what). Trying again. \(error)")
  }
}

private let log = Logger(service: "VestaFunctionsService")
