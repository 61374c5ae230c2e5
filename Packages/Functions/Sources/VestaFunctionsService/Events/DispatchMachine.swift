import VestaEventsInterop

/// Decides about one source: when functions are leased, which events are read and delivered, and when outcomes are
/// settled; pure.
///
/// Each function has a separate lease, so that one that another process delivers does not hold up the others. Reading
/// needs no lease; delivering does, and settling is fenced by the store. Outcomes are settled in batches, some
/// milliseconds after the first one, so that events cost few commits. A crash before that delivers them again.
struct DispatchMachine {
  struct Timing {
    /// The length of a lease in microseconds.
    var lease: Int64 = 10_000_000
    /// The time for which the first outcome of a batch waits.
    var settling: Int64 = 50_000
    /// The delay after a failure of the store.
    var failure: Int64 = 1_000_000
    /// The interval between looks at the queues for events of other processes.
    var poll: Int64 = 5_000_000
    /// The shortest time between two looks at the queues because of commits of other processes.
    var news: Int64 = 20_000
    /// The number of outcomes at which a batch is written without waiting.
    var batch = 512
  }

  enum Command: Equatable {
    /// Leases functions, in order.
    case lease([String])
    case load(EventPageRequest, generation: Int)
    case deliver(EventEntry, generation: Int)
    case settle([EventOutcome])

    /// Whether it changes the source.
    var isOperation: Bool {
      switch self {
      case .lease, .settle: true
      case .load, .deliver: false
      }
    }
  }

  /// The end of a delivery.
  enum Delivery: Equatable {
    case delivered
    case failed(reason: String)
    /// The stored event cannot be read: no further attempt can succeed.
    case damaged(reason: String)
    /// The event is no longer in the queue.
    case absent
    /// The delivery was given up without a failure, such as at the shut-down: the event stays as it is.
    case abandoned
  }

  /// The right to deliver the events of a function, by the clock of this process.
  private struct Lease {
    var until: Int64 = 0
    /// The time before which it is not asked for, as another process has it.
    var busyUntil: Int64 = 0
  }

  let timing: Timing
  private var machines: [String: DeliveryMachine] = [:]
  private var policies: [String: RetryPolicy] = [:]
  /// Removed functions of which events still run or outcomes are not settled: a function that is registered again with
  /// the name continues with what is known of its queue, so no event runs twice or concurrently with the one before it.
  private var removed: Set<String> = []
  /// How often queues were forgotten.
  private var removals = 0
  /// The functions in order.
  private var names: [String] = []
  private(set) var outcomes: [EventOutcome] = []
  /// The functions of the outcomes.
  private var settling: Set<String> = []
  private var settleTime: Int64?
  private var pollTime: Int64 = 0
  private var lastPoll: Int64 = 0
  private var isSettling = false
  /// The functions of the settlement under way.
  private var underSettlement: Set<String> = []
  /// The functions of which everything is to be read again once the settlement under way has ended.
  private var restartsAfterSettling: Set<String> = []
  private var isLeasing = false
  private var leases: [String: Lease] = [:]
  private(set) var isClosed = false

  init(timing: Timing = Timing()) { self.timing = timing }

  /// The number of events that run.
  var running: Int { machines.values.reduce(0) { $0 + $1.running } }

  /// The number of events in memory.
  var count: Int { machines.values.reduce(0) { $0 + $1.count } }

  /// Whether ``woken()`` would be no news.
  var knowsOfMore: Bool { names.allSatisfy { machines[$0]?.knowsOfMore ?? true } }

  /// Whether nothing is left to do, as far as is known.
  var isIdle: Bool {
    outcomes.isEmpty && !isSettling && !isLeasing && names.allSatisfy { machines[$0]?.isIdle ?? true }
  }

  /// The functions that this dispatcher may have leased.
  var leased: Set<String> { Set(leases.keys) }

  /// The functions that have something to deliver or to settle, and whose lease has to be asked for.
  private func dueLeases(_ now: Int64) -> [String] {
    names.filter { needsLease($0) && isLeaseDue($0, now) }
      + settling.filter { (machines[$0] == nil || removed.contains($0)) && isLeaseDue($0, now) }.sorted()
  }

  private func needsLease(_ name: String) -> Bool {
    machines[name].map { $0.count > 0 } == true || settling.contains(name)
  }

  // MARK: Inputs

  /// The functions that get events, by name.
  mutating func setFunctions(_ functions: [String: (policy: RetryPolicy, limits: DeliveryMachine.Limits)]) {
    policies.merge(functions.mapValues(\.policy)) { $1 }
    removed.formUnion(names.filter { functions[$0] == nil })
    forget()
    leases = leases.filter { functions[$0.key] != nil || $0.value.until > 0 }
    for (name, function) in functions {
      if removed.remove(name) != nil { machines[name]?.woken() }
      machines[name]?.limits = function.limits
      guard machines[name] == nil else { continue }
      // A page or an outcome that an earlier function with the name still gets does not count.
      machines[name] = DeliveryMachine(function: name, limits: function.limits, generation: removals << 32)
    }
    names = functions.keys.sorted()
  }

  /// Drops the queues of removed functions that have nothing under way.
  private mutating func forget() {
    for name in removed where machines[name]?.running ?? 0 == 0 {
      guard !settling.contains(name), !underSettlement.contains(name) else { continue }
      removed.remove(name)
      (machines[name], policies[name]) = (nil, nil)
      removals += 1
    }
  }

  /// Delivers events of functions that wait for another attempt: it may succeed now.
  mutating func endPauses(_ isMeant: (String) -> Bool) {
    for name in names where isMeant(name) { machines[name]?.endPauses() }
  }

  /// Events may have been recorded.
  ///
  /// - Returns: Whether that is news to a queue.
  @discardableResult
  mutating func woken() -> Bool {
    var isNews = false
    for name in names where machines[name]?.woken() == true { isNews = true }
    return isNews
  }

  /// Another process may have recorded events: its commits arrive at any rate, and are looked at now and then.
  ///
  /// - Returns: Whether a step is due at another time than before.
  mutating func othersMayHaveRecorded(now: Int64) -> Bool {
    let time = max(now, lastPoll + timing.news)
    guard time < pollTime else { return false }
    pollTime = time
    return true
  }

  /// Nothing more is started.
  ///
  /// - Returns: The outcomes that are not settled yet.
  mutating func close() -> [EventOutcome] {
    isClosed = true
    settling = []
    defer { outcomes = [] }
    return outcomes
  }

  mutating func leased(_ answers: [String: EventLease], askedAt time: Int64) {
    isLeasing = false
    for (name, answer) in answers {
      switch answer {
      case .held(let isNew):
        leases[name] = Lease(until: time + timing.lease)
        // A read concurrent with a settlement may return the rows from before it.
        if isNew, isSettling { restartsAfterSettling.insert(name) } else if isNew { restart([name]) }
      case .busy(let remaining):
        // The owner may give it up before.
        leases[name] = Lease(busyUntil: time + min(remaining, timing.lease, timing.poll))
      }
    }
  }

  mutating func leaseFailed(now: Int64) {
    isLeasing = false
    for name in dueLeases(now) { leases[name, default: Lease()].busyUntil = now + timing.failure }
  }

  mutating func loaded(_ page: EventPage, _ request: EventPageRequest, generation: Int, now: Int64) {
    machines[request.function]?.loaded(page, request, generation: generation, now: now)
  }

  mutating func loadFailed(_ request: EventPageRequest, generation: Int, now: Int64) {
    machines[request.function]?.loadFailed(request, generation: generation, retryAt: now + timing.failure)
  }

  /// The result of a delivery, and the time of the next attempt; `nil` where the event leaves the queue.
  private func result(
    of delivery: Delivery, _ entry: EventEntry, attempts: Int, _ policy: RetryPolicy, _ now: Int64
  ) -> (EventOutcome.Result, retryTime: Int64?) {
    switch delivery {
    case .delivered, .absent: return (.delivered, nil)
    case .damaged(let reason): return (.dead(at: now, reason: reason), nil)
    // The events of a removed function wait for the next one with its name, and for nothing else.
    case .abandoned: return (.delivered, removed.contains(entry.function) ? now : now + timing.failure)
    case .failed(let reason):
      let delay = policy.delay(after: attempts, age: now - entry.time, spread: entry.position.version)
      guard let delay else { return (.dead(at: now, reason: reason), nil) }
      return (.retry(at: now + delay, reason: reason), now + delay)
    }
  }

  /// A delivery has ended.
  ///
  /// - Returns: The outcome that is going to be settled.
  @discardableResult
  mutating func finished(_ entry: EventEntry, generation: Int, _ delivery: Delivery, now: Int64) -> EventOutcome? {
    guard let policy = policies[entry.function] else { return nil }
    let attempts = entry.attempts + 1
    let (result, retryTime) = self.result(of: delivery, entry, attempts: attempts, policy, now)
    // In its place: a copy of the machine would copy all events in memory.
    let counts = machines[entry.function]?.finished(
      entry, generation: generation, retryAt: retryTime, isAttempt: delivery != .abandoned, now: now)
    defer { if !removed.isEmpty { forget() } }
    guard counts == true, delivery != .absent, delivery != .abandoned else { return nil }
    let outcome = EventOutcome(
      function: entry.function, position: entry.position, attempts: attempts, result: result)
    outcomes.append(outcome)
    settling.insert(entry.function)
    if settleTime == nil { settleTime = now + timing.settling }
    return outcome
  }

  mutating func settled() {
    (isSettling, underSettlement) = (false, [])
    restart(restartsAfterSettling)
    forget()
  }

  /// Settling failed.
  ///
  /// - Parameters:
  ///   - batch: The outcomes, to be settled later.
  ///   - lost: The functions that another owner has leased: their outcomes no longer count.
  mutating func settleFailed(_ batch: [EventOutcome], lost: Set<String>, now: Int64) {
    (isSettling, underSettlement) = (false, [])
    // Outcomes of before a lease was lost do not count either.
    let dropped = lost.union(restartsAfterSettling)
    // A lease that was taken anew since is held.
    for name in lost.subtracting(restartsAfterSettling) { leases[name] = Lease(busyUntil: now + timing.failure) }
    outcomes = batch + outcomes
    settling.formUnion(batch.map(\.function))
    restart(dropped)
    // Outcomes of other functions were not the reason.
    if !outcomes.isEmpty { settleTime = lost.isEmpty ? now + timing.failure : now }
    forget()
  }

  private mutating func restart(_ functions: Set<String>) {
    guard !functions.isEmpty else { return }
    outcomes.removeAll { functions.contains($0.function) }
    settling.subtract(functions)
    if outcomes.isEmpty { settleTime = nil }
    restartsAfterSettling.subtract(functions)
    for name in functions { machines[name]?.restart() }
  }

  // MARK: Deciding

  /// Returns the commands that are due now.
  mutating func step(now: Int64) -> [Command] {
    guard !isClosed, !machines.isEmpty || !outcomes.isEmpty else { return [] }
    correctTimes(now)
    if pollTime <= now {
      if pollTime > 0 { woken() }
      (pollTime, lastPoll) = (now + timing.poll, now)
    }
    var commands: [Command] = []
    for name in names where !restartsAfterSettling.contains(name) { commands += step(name, now) }
    if !isLeasing {
      let due = dueLeases(now)
      if !due.isEmpty {
        isLeasing = true
        commands.append(.lease(due))
      }
    }
    if let time = settleTime, !isSettling, time <= now || outcomes.count >= timing.batch {
      commands.append(.settle(outcomes))
      (outcomes, settleTime, isSettling) = ([], nil, true)
      (underSettlement, settling) = (settling, [])
    }
    return commands
  }

  private mutating func step(_ function: String, _ now: Int64) -> [Command] {
    let delivers = leases[function].map { $0.until > now } ?? false
    let actions = machines[function]?.step(now: now, delivers: delivers) ?? []
    return actions.map { action in
      switch action {
      case .load(let request): .load(request, generation: machines[function]?.generation ?? 0)
      case .deliver(let entry, let generation): .deliver(entry, generation: generation)
      }
    }
  }

  private func isLeaseDue(_ name: String, _ now: Int64) -> Bool {
    guard let lease = leases[name] else { return true }
    return lease.until - now < timing.lease / 2 && lease.busyUntil <= now
  }

  /// Brings forward the times that are further ahead than they can have been set: the clock was set back since.
  ///
  /// The lease counts as lost then, because others may see its end in their time. Threads that look at the clock one
  /// after the other may arrive here in another order, hence the slack.
  private mutating func correctTimes(_ now: Int64) {
    let slack = timing.failure
    for (name, lease) in leases {
      if lease.until - now > timing.lease + slack { leases[name]?.until = 0 }
      if lease.busyUntil - now > timing.lease + slack { leases[name]?.busyUntil = 0 }
    }
    if pollTime - now > timing.poll + slack { pollTime = now }
    if let time = settleTime, time - now > timing.settling + slack { settleTime = now }
  }

  /// The time of the next `step`, in microseconds since 1970, if nothing happens before.
  func nextTime(now: Int64) -> Int64? {
    guard !isClosed, !machines.isEmpty || !outcomes.isEmpty else { return nil }
    var times = machines.values.compactMap(\.nextTime) + [pollTime]
    if let settleTime, !isSettling { times.append(settleTime) }
    if !isLeasing {
      for name in names where needsLease(name) {
        times.append(leases[name].map { max($0.busyUntil, $0.until - timing.lease / 2) } ?? 0)
      }
    }
    return times.filter { $0 > now }.min()
  }
}
