import VestaConcurrency
import VestaCore
import VestaEventsInterop
import VestaServiceInterop
import VestaStoreInterop

/// Delivers the events of one source: performs the decisions of the `DispatchMachine`.
///
/// Events run in tasks of their own, which are cancelled when the dispatcher closes. Reading, leasing and settling run
/// in tasks that are not.
final class EventDispatcher: EventSourceObserver {
  /// Runs a function with an event.
  typealias Perform = @Sendable (_ event: Event, _ entry: EventEntry) async -> DispatchMachine.Delivery

  private struct State {
    var machine: DispatchMachine
    var tasks: [Int: RunningCall] = [:]
    var lastTask = 0
    /// The number of leases and settlements that are under way.
    var operations = 0
    var drained = Waiters()
    var observation: ListenerRegistration?
  }

  let source: any EventSource
  let owner: String
  private let clock: ServiceClock
  private let perform: Perform
  private let timer: TimerSlot
  private let state: Locked<State>

  init(
    _ source: any EventSource, owner: String, timing: DispatchMachine.Timing, clock: ServiceClock,
    perform: @escaping Perform
  ) {
    self.source = source
    self.owner = owner
    self.clock = clock
    self.perform = perform
    timer = TimerSlot(clock)
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

  func eventsWereRecorded() { pump { $0.woken() } }

  /// Cancels the running deliveries, keeps the outcomes that are known, and gives the lease up.
  func sourceWillClose() async {
    let (outcomes, tasks, observation, isFirst) = state.withLock { state in
      let isFirst = !state.machine.isClosed
      let outcomes = state.machine.close()
      defer { (state.tasks, state.observation) = ([:], nil) }
      return (outcomes, Array(state.tasks.values), state.observation, isFirst)
    }
    timer.close()
    observation?.cancel()
    for task in tasks { task.cancel() }
    guard isFirst else { return }
    // A lease that comes after the release would stay, and a settlement that the store refuses would be lost.
    await operationsEnded()
    let refused = state.withLock { $0.machine.close() }
    do {
      if !(outcomes + refused).isEmpty { try await source.settle(outcomes + refused, by: owner) }
      try await source.release(owner)
    } catch {
      // The next dispatcher delivers these events again, after the lease has ended.
      log.notice("I-FUS000003", "The last outcomes of \(source.service) could not be kept: \(error)")
    }
  }

  // MARK: Performing

  /// Events are delivered behind everything that somebody waits for: a change is not to take longer because a function
  /// wants to know of it.
  private static let priority = TaskPriority.utility

  /// Tells the machine what has happened, and does what is due then.
  ///
  /// - Parameters:
  ///   - takesNext: Whether the caller delivers the next event itself, which saves a task.
  ///   - happened: Tells the machine.
  /// - Returns: The event for the caller to deliver.
  @discardableResult
  private func pump(
    takesNext: Bool = false, _ happened: (inout DispatchMachine) -> Void = { _ in }
  ) -> (entry: EventEntry, generation: Int)? {
    let now = clock.now()
    let (commands, time) = state.withLock { state -> ([DispatchMachine.Command], Int64?) in
      guard !state.machine.isClosed else { return ([], nil) }
      happened(&state.machine)
      let commands = state.machine.step(now: now)
      state.operations += commands.count { $0.isOperation }
      return (commands, state.machine.nextTime(now: now))
    }
    var next: (EventEntry, Int)?
    for command in commands {
      switch command {
      case .lease: Task(priority: Self.priority) { await self.lease(now) }
      case .load(let request, let generation): Task(priority: Self.priority) { await self.load(request, generation) }
      case .deliver(let entry, let generation) where takesNext && next == nil: next = (entry, generation)
      case .deliver(let entry, let generation): deliver(entry, generation)
      case .settle(let outcomes): Task(priority: Self.priority) { await self.settle(outcomes) }
      }
    }
    // Events that have become due since then are delivered at once.
    if let time { timer.set(at: time, keepsEarlier: true) { [weak self] in self?.pump() } }
    return next
  }

  /// Waits for the leases and settlements that are under way; none begins any more.
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

  private func lease(_ now: Int64) async {
    do {
      let duration = state.withLock { $0.machine.timing.lease }
      let lease = try await source.lease(for: owner, now: now, duration: duration)
      state.withLock { $0.machine.leased(lease, askedAt: now) }
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
      if !(error is EventLeaseLost) { report(error, "settled") }
      let now = clock.now()
      state.withLock { $0.machine.settleFailed(outcomes, isLost: error is EventLeaseLost, now: now) }
    }
    operationEnded()
  }

  private func deliver(_ entry: EventEntry, _ generation: Int) {
    let running = RunningCall()
    let (number, isClosed) = state.withLock { state in
      state.lastTask += 1
      if !state.machine.isClosed { state.tasks[state.lastTask] = running }
      return (state.lastTask, state.machine.isClosed)
    }
    guard !isClosed else { return }
    running.begin(Task(priority: Self.priority) { await self.run(entry, generation, number) })
  }

  /// Delivers an event, and those that wait for a place after it.
  private func run(_ first: EventEntry, _ generation: Int, _ number: Int) async {
    var (next, count) = (Optional((entry: first, generation: generation)), 0)
    while let (entry, generation) = next {
      let delivery = await delivery(entry)
      let now = clock.now()
      next = pump(takesNext: true) { $0.finished(entry, generation: generation, delivery, now: now) }
      count += 1
      // Functions that never wait must not keep others from this thread.
      if count.isMultiple(of: 16) { await Task.yield() }
    }
    state.withLock { $0.tasks.removeValue(forKey: number) }?.finish()
  }

  private func delivery(_ entry: EventEntry) async -> DispatchMachine.Delivery {
    if let damage = entry.damage { return damaged(entry, damage) }
    do {
      guard let event = try await source.event(entry) else { return .absent }
      return await perform(event, entry)
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
      // Nothing comes from a closed store any more.
      if (error as? StoreError)?.code == .closed { _ = state.machine.close() }
      return state.machine.isClosed
    }
    guard !isClosed else { return }
    log.error("I-FUS000004", "The events of \(source.service) could not be \(what). Trying again. \(error)")
  }
}

private let log = Logger(service: "VestaFunctionsService")
