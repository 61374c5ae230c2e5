import VestaConcurrency
import VestaCore
import VestaEventsInterop
import VestaServiceInterop
import VestaStoreInterop

/// Delivers the events of one source: performs the decisions of the `DispatchMachine`.
///
/// Events are delivered in tasks that are cancelled when the dispatcher closes. Reading, leasing and settling run in
/// tasks that are not.
///
/// Events that are due wait in `due`. A task takes them out, one after another; before it delivers its first one, it
/// lets another task begin for the next. So functions that wait run concurrently, and functions that never wait
/// share few tasks.
final class EventDispatcher: EventSourceObserver {
  /// Runs a function with an event.
  typealias Perform =
    @Sendable (
      _ event: Event, _ entry: EventEntry, _ run: DeliveryRun
    ) async -> DispatchMachine.Delivery

  private typealias DueEvent = (entry: EventEntry, generation: Int)

  private struct State {
    var machine: DispatchMachine
    var due: [DueEvent] = []
    var runs: [Int: DeliveryRun] = [:]
    var lastRun = 0
    /// Whether a task has been made that has not taken its first event yet.
    var isRunComing = false
    /// The number of leases and settlements that are under way.
    var operations = 0
    var drained = Waiters()
    var observation: ListenerRegistration?

    mutating func takeDue() -> DueEvent? { due.isEmpty ? nil : due.removeFirst() }

    /// The task that is needed for the events that are due, if there is none yet.
    mutating func newRun() -> (number: Int, run: DeliveryRun)? {
      guard !due.isEmpty, !isRunComing else { return nil }
      isRunComing = true
      lastRun += 1
      let run = DeliveryRun()
      runs[lastRun] = run
      return (lastRun, run)
    }
  }

  private enum Timer { case next }

  let source: any EventSource
  let owner: String
  private let clock: ServiceClock
  private let eventsBetweenYields: Int
  private let perform: Perform
  private let timers: ServiceTimers<Timer>
  private let state: Locked<State>

  init(
    _ source: any EventSource, owner: String, timing: DispatchMachine.Timing, clock: ServiceClock,
    eventsBetweenYields: Int = FunctionsTuning().eventsBetweenYields, perform: @escaping Perform
  ) {
    self.source = source
    self.owner = owner
    self.clock = clock
    self.eventsBetweenYields = eventsBetweenYields
    self.perform = perform
    timers = ServiceTimers(clock)
    state = Locked(State(machine: DispatchMachine(timing: timing)))
  }

  /// Whether nothing is left to do, as far as is known.
  var isIdle: Bool { state.withLock { $0.machine.isIdle } }

  /// Begins to observe the source.
  func start() {
    let observation = source.observe(self)
    state.withLock { $0.observation = observation }
  }

  /// The functions that get events.
  func setFunctions(_ functions: [String: (policy: RetryPolicy, limits: DeliveryMachine.Limits)]) {
    pump { $0.setFunctions(functions) }
  }

  /// Has events that wait for another attempt delivered at once.
  func endPauses(_ isMeant: (String) -> Bool) { pump { $0.endPauses(isMeant) } }

  func eventsWereRecorded() {
    // Called by each commit with events: only the first one of the commits that are read together has something to do.
    if state.withLock({ !$0.machine.isClosed && $0.machine.woken() }) { pump() }
  }

  func othersMayHaveRecorded() {
    let now = clock.now()
    if state.withLock({ !$0.machine.isClosed && $0.machine.othersMayHaveRecorded(now: now) }) { pump() }
  }

  /// Cancels the running deliveries, keeps the outcomes that are known, and releases the lease.
  func sourceWillClose() async {
    let (outcomes, runs, observation, isFirst) = state.withLock { state in
      let isFirst = !state.machine.isClosed
      let outcomes = state.machine.close()
      defer { (state.due, state.runs, state.observation) = ([], [:], nil) }
      return (outcomes, Array(state.runs.values), state.observation, isFirst)
    }
    timers.end()
    observation?.cancel()
    for run in runs { run.cancel() }
    guard isFirst else { return }
    // A lease after the release would stay, and a settlement that the store refuses would be lost.
    await operationsEnded()
    let (refused, leased) = state.withLock { ($0.machine.close(), $0.machine.leased) }
    do {
      if !(outcomes + refused).isEmpty { try await source.settle(outcomes + refused, by: owner) }
      try await source.release(leased, by: owner)
    } catch {
      // The next dispatcher delivers these events again, after the lease has ended.
      log.notice("I-FUS000003", "The last outcomes of \(source.service) could not be kept: \(error)")
    }
  }

  // MARK: Performing

  /// Events are delivered after everything that a caller waits for: a change is not to take longer because a function
  /// wants to know of it.
  private static let priority = TaskPriority.utility

  /// Tells the machine what has happened, and does what is due then.
  ///
  /// - Parameters:
  ///   - run: The task that calls, if it can deliver the next event itself.
  ///   - happened: Tells the machine.
  /// - Returns: The event for the caller to deliver.
  @discardableResult
  private func pump(
    in run: DeliveryRun? = nil, _ happened: (inout DispatchMachine) -> Void = { _ in }
  ) -> DueEvent? {
    let now = clock.now()
    let isUsable = run.map { !$0.isCancelled } ?? false
    var commands: [DispatchMachine.Command] = []
    let (time, next, new) = state.withLock { state -> (Int64?, DueEvent?, (number: Int, run: DeliveryRun)?) in
      guard !state.machine.isClosed else { return (nil, nil, nil) }
      happened(&state.machine)
      for command in state.machine.step(now: now) {
        if case .deliver(let entry, let generation) = command {
          state.due.append((entry, generation))
        } else {
          commands.append(command)
        }
      }
      state.operations += commands.count { $0.isOperation }
      let next = isUsable ? state.takeDue() : nil
      return (state.machine.nextTime(now: now), next, state.newRun())
    }
    for command in commands { submit(command, now) }
    if let new { begin(new.run, new.number) }
    // Events that have become due since then are delivered at once.
    if let time { timers.start(.next, at: time, keepsEarlier: true) { [weak self] in self?.pump() } }
    return next
  }

  private func submit(_ command: DispatchMachine.Command, _ now: Int64) {
    switch command {
    case .lease(let functions): Task(priority: Self.priority) { await self.lease(functions, now) }
    case .load(let request, let generation): Task(priority: Self.priority) { await self.load(request, generation) }
    case .settle(let outcomes): Task(priority: Self.priority) { await self.settle(outcomes) }
    case .deliver: break
    }
  }

  /// Waits for the leases and settlements that are under way; no other begins.
  private func operationsEnded() async {
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

  private func begin(_ run: DeliveryRun, _ number: Int) {
    // Functions may block the thread.
    run.begin(
      Task(executorPreference: BlockingExecutor.shared, priority: Self.priority) { await self.deliver(run, number) })
  }

  /// Delivers events that are due, one after another.
  private func deliver(_ run: DeliveryRun, _ number: Int) async {
    let (first, new) = state.withLock { state -> (DueEvent?, (number: Int, run: DeliveryRun)?) in
      state.isRunComing = false
      return (state.takeDue(), state.newRun())
    }
    if let new { begin(new.run, new.number) }
    var (next, count) = (first, 0)
    while let (entry, generation) = next {
      let delivery = await delivery(entry, run)
      let now = clock.now()
      next = pump(in: run) { $0.finished(entry, generation: generation, delivery, now: now) }
      count += 1
      // Functions that never wait must not keep others from this thread.
      if count.isMultiple(of: eventsBetweenYields) { await Task.yield() }
    }
    state.withLock { _ = $0.runs.removeValue(forKey: number) }
  }

  private func delivery(_ entry: EventEntry, _ run: DeliveryRun) async -> DispatchMachine.Delivery {
    if let damage = entry.damage { return damaged(entry, damage) }
    do {
      guard let event = try await source.event(entry) else { return .absent }
      return await perform(event, entry, run)
    } catch let error as EventDamaged {
      return damaged(entry, error.description)
    } catch {
      if !(error is CancellationError) { report(error, "read") }
      return .abandoned
    }
  }

  private func damaged(_ entry: EventEntry, _ reason: String) -> DispatchMachine.Delivery {
    log.error(
      "I-FUS000007",
      """
      The event \(entry.position) of \(source.service) for the function \(entry.function) cannot be read and becomes a \
      dead letter; the queue goes on. \(reason)
      """)
    return .damaged(reason: "The event is damaged: \(reason)")
  }

  private func report(_ error: any Error, _ what: String) {
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
