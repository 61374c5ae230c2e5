import Synchronization
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
/// lets another task begin for the next. So functions that wait run concurrently. While functions take less time than
/// to wake a thread (`DeliveryPace`), there is one task for all, and a watch: if one of them waits all the same, the
/// other events have tasks some milliseconds later.
final class EventDispatcher: EventSourceObserver {
  /// Runs a function with an event.
  typealias Perform =
    @Sendable (
      _ event: Event, _ entry: EventEntry, _ run: DeliveryRun
    ) async -> DispatchMachine.Delivery

  private enum Timer { case next }

  let source: any EventSource
  let owner: String
  let clock: ServiceClock
  private let eventsBetweenYields: Int
  private let perform: Perform
  private let timers: ServiceTimers<Timer>
  let state: Locked<DispatchState>
  /// Whether the machine knows that there may be more events, or is about to be told so: then a commit has nothing to
  /// say, and takes no lock that deliveries hold.
  private let knowsOfMore = Atomic(false)

  init(
    _ source: any EventSource, owner: String, timing: DispatchMachine.Timing, clock: ServiceClock,
    eventsBetweenYields: Int = FunctionsTuning().eventsBetweenYields, pace: DeliveryPace.Limits = .init(),
    perform: @escaping Perform
  ) {
    self.source = source
    self.owner = owner
    self.clock = clock
    self.eventsBetweenYields = eventsBetweenYields
    self.perform = perform
    timers = ServiceTimers(clock)
    state = Locked(DispatchState(machine: DispatchMachine(timing: timing), pace: DeliveryPace(limits: pace)))
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
    // Exchanges on both sides: a read that begins after the other one finds the commit.
    guard !knowsOfMore.exchange(true, ordering: .sequentiallyConsistent) else { return }
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
      defer { (state.due, state.runs, state.observation) = (Fifo(), [:], nil) }
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
  static let priority = TaskPriority.utility

  /// Tells the machine what has happened, and does what is due then.
  ///
  /// - Parameter watched: The number of events that were taken before the watch that has ended; `nil` where none has.
  func pump(watched: Int? = nil, _ happened: (inout DispatchMachine) -> Void = { _ in }) {
    let now = clock.now()
    var commands: [DispatchMachine.Command] = []
    let next = state.withLock { state -> DispatchNext in
      guard !state.machine.isClosed else { return DispatchNext() }
      let isStalled = watched == state.taken
      if watched != nil { state.isWatched = false }
      if isStalled, !state.due.isEmpty { state.pace.stalled() }
      happened(&state.machine)
      commands = step(&state, now)
      return DispatchNext(&state, nil, state.machine.nextTime(now: now), isStalled: isStalled)
    }
    for command in commands { submit(command, now) }
    follow(next)
  }

  /// Tells the machine that a delivery has ended, and does what is due then.
  ///
  /// While functions are short and another event stays due, the machine is told and no more, and asked once for many of
  /// them: by the task that leaves none, or, if that one waits, by the watch.
  ///
  /// - Parameters:
  ///   - delivered: The event that was delivered.
  ///   - delivery: How that has ended.
  ///   - time: How long it took.
  ///   - run: The task that has delivered it.
  /// - Returns: The event to deliver next; `nil` when the task has to end.
  private func next(
    after delivered: DispatchState.DueEvent, _ delivery: DispatchMachine.Delivery, _ time: Duration, in run: DeliveryRun
  ) -> DispatchState.DueEvent? {
    let (now, isUsable) = (clock.now(), !run.isCancelled)
    var commands: [DispatchMachine.Command] = []
    let next = state.withLock { state -> DispatchNext in
      guard !state.machine.isClosed else {
        state.takers -= 1
        return DispatchNext()
      }
      state.pace.note(time)
      state.machine.finished(delivered.entry, generation: delivered.generation, delivery, now: now)
      if isUsable, state.pace.isShort, state.due.count > 1 { return DispatchNext(&state, state.takeDue()) }
      commands = step(&state, now)
      return DispatchNext(&state, state.takeDue(isUsable: isUsable), state.machine.nextTime(now: now))
    }
    for command in commands { submit(command, now) }
    follow(next)
    return next.event
  }

  /// Asks the machine what is due; the caller has the lock.
  ///
  /// - Returns: The commands to be submitted; events to deliver are in `due` then.
  private func step(_ state: inout DispatchState, _ now: Int64) -> [DispatchMachine.Command] {
    var commands: [DispatchMachine.Command] = []
    for command in state.machine.step(now: now) {
      if case .deliver(let entry, let generation) = command {
        state.due.append((entry, generation))
      } else {
        commands.append(command)
      }
    }
    state.operations += commands.count { $0.isOperation }
    _ = knowsOfMore.exchange(state.machine.knowsOfMore, ordering: .sequentiallyConsistent)
    return commands
  }

  private func follow(_ next: DispatchNext) {
    if let new = next.run { begin(new.run, new.number) }
    if let taken = next.watched { watch(taken) }
    // Events that have become due since then are delivered at once.
    if let time = next.time { timers.start(.next, at: time, keepsEarlier: true) { [weak self] in self?.pump() } }
  }

  /// Looks after a while at whether events that are due were taken since; if not, a function waits, and the others get
  /// tasks.
  private func watch(_ taken: Int) {
    let limits = state.withLock { $0.pace.limits }
    Task(priority: Self.priority) { [weak self] in
      try? await limits.clock.sleep(for: limits.patience)
      self?.pump(watched: taken)
    }
  }

  private func begin(_ run: DeliveryRun, _ number: Int) {
    // Functions may block the thread.
    run.begin(
      Task(executorPreference: BlockingExecutor.shared, priority: Self.priority) { await self.deliver(run, number) })
  }

  /// Delivers events that are due, one after another.
  private func deliver(_ run: DeliveryRun, _ number: Int) async {
    let first = state.withLock { state -> DispatchNext in
      state.isRunComing = false
      return DispatchNext(&state, state.takeDue())
    }
    follow(first)
    var (next, count) = (first.event, 0)
    var start = ContinuousClock.now
    while let event = next {
      let delivery = await delivery(event.entry, run)
      let end = ContinuousClock.now
      next = self.next(after: event, delivery, end - start, in: run)
      start = end
      count += 1
      // Functions that never wait must not keep others from this thread.
      if count.isMultiple(of: eventsBetweenYields), BlockingPool.shared.waitingCount > 0 {
        await Task.yield()
        start = .now
      }
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
}

private let log = Logger(service: "VestaFunctionsService")
