import VestaBytes
import VestaConcurrency
import VestaCore
import VestaEventsInterop
import VestaServiceInterop

/// A place among all events that run, which is given back once.
private final class EventPlace: Sendable {
  private let shares: FairShares<String>
  private let function: String
  private let isHeld = Locked(true)

  init(_ shares: FairShares<String>, _ function: String) { (self.shares, self.function) = (shares, function) }

  func giveBack() {
    let wasHeld = isHeld.withLock { isHeld in
      defer { isHeld = false }
      return isHeld
    }
    if wasHeld { shares.leave(function) }
  }
}

/// An event function as it is registered; one reference, which each delivery takes.
final class EventFunction: Sendable {
  let subscription: EventSubscription
  let options: EventOptions
  let run: @Sendable (Event) async throws -> Void

  init(
    subscription: EventSubscription, options: EventOptions, run: @escaping @Sendable (Event) async throws -> Void
  ) {
    self.subscription = subscription
    self.options = options
    self.run = run
  }

  var name: String { subscription.function }
}

/// The event functions of an app, and the dispatchers of the sources that they listen to.
///
/// A source is looked for when the first function wants its events, and delivers from then on until it or the app is
/// closed.
final class EventFunctions: Sendable {
  private struct State {
    var functions: [String: EventFunction] = [:]
    var dispatchers: [String: EventDispatcher] = [:]
    var isClosed = false
  }

  private let options: FunctionsServiceOptions
  private let clock: ServiceClock
  private let sources: @Sendable () -> [any EventSource]
  /// Functions that keep their places for long do not hold up the others: each gets its share beyond the limit.
  private let places: FairShares<String>
  let deadlines: ServiceDeadlines
  private let state = Locked(State())
  /// Held while the subscriptions are passed on.
  private let subscribing = Locked(())
  /// Another one in each process, and in each app.
  private let owner = String(UInt64.random(in: 0..<UInt64.max), radix: 36)

  init(
    options: FunctionsServiceOptions, clock: ServiceClock, sources: @escaping @Sendable () -> [any EventSource]
  ) {
    self.options = options
    self.clock = clock
    self.sources = sources
    places = FairShares(limit: options.maximumConcurrentEvents, bound: .soft)
    deadlines = ServiceDeadlines(clock)
  }

  /// Whether every known event is delivered.
  var isIdle: Bool { state.withLock { Array($0.dispatchers.values) }.allSatisfy(\.isIdle) }

  /// Ends deliveries.
  func close() async {
    let dispatchers = state.withLock { state in
      state.isClosed = true
      defer { state.dispatchers = [:] }
      return Array(state.dispatchers.values)
    }
    // Deliveries are cancelled before the waiting ones are refused, so that none of them counts as failed.
    for dispatcher in dispatchers { await dispatcher.sourceWillClose() }
    places.close(throwing: CancellationError())
  }

  // MARK: Registering

  func register(_ function: EventFunction) throws(EventFunctionError) {
    guard !function.name.isEmpty else { throw EventFunctionError("An event function needs a name.") }
    let types = function.subscription.types
    guard sources().contains(where: { !$0.types.isDisjoint(with: types) }) else {
      throw EventFunctionError(
        """
        Nothing in this app publishes \(types.map(\.rawValue).sorted().joined(separator: ", ")), which the function \
        "\(function.name)" wants. Name the service library of the product, such as FirestoreServiceLibrary, in the \
        list of libraries.
        """)
    }
    let replaced = state.withLock { $0.functions.updateValue(function, forKey: function.name) }
    withExtendedLifetime(replaced) {}
    subscribe()
  }

  func remove(_ name: String) {
    let removed = state.withLock { $0.functions.removeValue(forKey: name) }
    withExtendedLifetime(removed) {}
    subscribe()
  }

  /// Has events that wait for another attempt delivered at once.
  ///
  /// - Parameter isMeant: Whether the function of a name is one of those whose events are meant.
  func endPauses(_ isMeant: (String) -> Bool) {
    let dispatchers = state.withLock { Array($0.dispatchers.values) }
    for dispatcher in dispatchers { dispatcher.endPauses(isMeant) }
  }

  /// Passes the subscriptions to the sources.
  ///
  /// One call at a time: a function that another thread has just registered would otherwise be unknown again until that
  /// thread's subscriptions are replaced, and changes in that time would not be recorded for it.
  /// The sources that are called under the lock belong to engines, and run no function.
  private func subscribe() {
    let sources = sources()
    subscribing.withLock { _ in
      let functions = state.withLock { $0.functions }
      for source in sources {
        let wanted = functions.values.filter { !$0.subscription.types.isDisjoint(with: source.types) }
        source.subscribe(wanted.map(\.subscription).sorted { $0.function < $1.function })
        dispatcher(source, isWanted: !wanted.isEmpty)?.setFunctions(
          Dictionary(uniqueKeysWithValues: wanted.map { ($0.name, ($0.policy(options), $0.limits(options))) }))
      }
    }
  }

  private func dispatcher(_ source: any EventSource, isWanted: Bool) -> EventDispatcher? {
    var timing = options.tuning.timing
    timing.lease = EventFunctions.bounded(options.eventLease)
    timing.poll = EventFunctions.bounded(options.eventPollInterval)
    let made = EventDispatcher(
      source, owner: owner, timing: timing, clock: clock, eventsBetweenYields: options.tuning.eventsBetweenYields,
      pace: options.tuning.pace
    ) { [weak self] event, entry, run in
      await self?.perform(event, entry, run) ?? .abandoned
    }
    let (dispatcher, isNew) = state.withLock { state -> (EventDispatcher?, Bool) in
      if let known = state.dispatchers[source.service] { return (known, false) }
      guard isWanted, !state.isClosed else { return (nil, false) }
      state.dispatchers[source.service] = made
      return (made, true)
    }
    if isNew { dispatcher?.start() }
    return dispatcher
  }

  /// A time in microseconds, from 50 ms to a day: a shorter lease would be extended without end, and with a longer one
  /// the time of its end could be beyond what there is.
  private static func bounded(_ time: Duration) -> Int64 { max(50_000, min(time.microseconds, 86_400_000_000)) }

  // MARK: Running

  private func perform(_ event: Event, _ entry: EventEntry, _ run: DeliveryRun) async -> DispatchMachine.Delivery {
    guard let function = state.withLock({ $0.functions[entry.function] }) else { return .abandoned }
    guard function.subscription.wants(event) else { return .damaged(reason: mismatch(event, function)) }
    do {
      try await places.enter(function.name)
      let place = EventPlace(places, function.name)
      defer { place.giveBack() }
      try await self.run(function, event, place, run)
      return .delivered
    } catch {
      if Task.isCancelled, !run.isLate { return .abandoned }
      log.warning(
        "I-FUS000002", "The function \(function.name) failed on \(event.id), attempt \(entry.attempts + 1): \(error)")
      return .failed(reason: "\(error)")
    }
  }

  /// The queue of a name may have events of an earlier function that had it and wanted others.
  private func mismatch(_ event: Event, _ function: EventFunction) -> String {
    let reason = """
      It was recorded for an earlier function with this name: \(event.type.rawValue) of \
      \(event.path.isEmpty ? "the project" : event.path) is nothing that the present one wants.
      """
    log.warning("I-FUS000009", "The event \(event.id) for \(function.name) becomes a dead letter. \(reason)")
    return reason
  }

  /// Runs a function until it has really ended: the next event of its lane follows.
  ///
  /// From the time limit on, a function that ignores its cancellation keeps only its own place among the events of the
  /// function, so that it does not take the places of other functions.
  private func run(_ function: EventFunction, _ event: Event, _ place: EventPlace, _ run: DeliveryRun) async throws {
    let limit = clock.now().addingReportingOverflow((function.options.timeout ?? options.timeout).microseconds)
    let number = run.functionBegins()
    let timer = deadlines.add(at: limit.overflow ? .max : limit.partialValue) {
      if run.expire(number) { place.giveBack() }
    }
    defer { timer.cancel() }
    do {
      try await function.run(event)
      _ = run.functionEnds()
    } catch {
      throw run.functionEnds() ? FailureRules.late : error
    }
  }

  // MARK: Dead letters

  func source(of function: String) throws(EventFunctionError) -> any EventSource {
    guard let types = state.withLock({ $0.functions[function]?.subscription.types }),
      let source = sources().first(where: { !$0.types.isDisjoint(with: types) })
    else { throw EventFunctionError("There is no event function \"\(function)\". Register it first.") }
    return source
  }
}

extension EventFunction {
  func policy(_ service: FunctionsServiceOptions) -> RetryPolicy {
    var delays = service.tuning.retry
    delays.initial = max(.microseconds(1), options.retryDelay)
    return RetryPolicy(
      maximumAttempts: max(1, options.maximumAttempts), maximumAge: options.maximumAge.microseconds, delays: delays)
  }

  func limits(_ service: FunctionsServiceOptions) -> DeliveryMachine.Limits {
    var limits = service.tuning.delivery
    limits.gathering = max(0, min(service.eventGatheringInterval.microseconds, 1_000_000))
    limits.running = max(1, options.concurrency)
    limits.wait = service.tuning.retry.longest
    return limits
  }
}

private let log = Logger(service: "VestaFunctionsService")
