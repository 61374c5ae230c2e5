public import VestaConcurrency
public import VestaStoreInterop

/// The events of an engine in its own store: an `EventSource` on any `OrderedStore`.
///
/// Recording costs one lock while there are no listeners. Otherwise one row for each function that wants the event:
///
/// ```
/// commit v7 changes rooms/a and rooms/b; "greet" wants both, "count" wants rooms/b
///   (1, "greet", v7, 0) -> rooms/a     (1, "greet", v7, 1) -> rooms/b     (1, "count", v7, 0) -> rooms/b
/// "greet" fails on rooms/a for the first time
///   (2, "greet", v7, 0) -> one attempt, again at …
/// and for the last time
///   both rows of (…, "greet", v7, 0) go, and (3, "greet", v7, 0) is its dead letter
/// ```
///
/// A reader sees all commits up to its version and no commit gets an earlier version later, so a reader that has read
/// the queue up to a position misses nothing before it.
public final class EventOutbox: EventSource {
  struct State {
    var interest: EventInterest?
    var observers: [Int: any EventSourceObserver] = [:] {
      didSet { observerList = Array(observers.values) }
    }
    /// The same ones, for commits.
    private(set) var observerList: [any EventSourceObserver] = []
    var lastObserver = 0
    var numbers: EventNumbers
    /// The approximate number of waiting events, by function; events that this process has committed are all counted.
    var pending: [String: Int] = [:]
    /// The number of changes to refuse, by function, before the events of a full queue are counted again.
    var refusals: [String: Int] = [:]
    /// The greatest possible number of dead letters, by function, as far as this process has counted them.
    var letters: [String: Int] = [:]
    /// The news of a store that other processes write to; they begin with the first observer.
    var commits: ListenerRegistration?
    var isListening = false
    var isClosed = false
  }

  /// The service.
  public let service: String

  /// The types of events.
  public let types: Set<EventType>

  let keys: EventKeys
  let limits: EventOutboxLimits
  let state: Locked<State>
  let open: @Sendable () async throws -> any OrderedStore
  private let data: @Sendable (EventRecord) throws -> EventData

  /// An outbox without subscriptions.
  ///
  /// - Parameters:
  ///   - service: The name of the service.
  ///   - keys: The prefix of all keys of the outbox in the store; the engine uses no key that begins with it.
  ///   - types: The types of events that the engine publishes.
  ///   - limits: The bounds.
  ///   - store: Returns the engine's store, opened if need be.
  ///   - data: Makes the data of an event of its record, when the event is delivered; throws for damaged bytes.
  public init(
    service: String, keys: [UInt8], types: Set<EventType>, limits: EventOutboxLimits = EventOutboxLimits(),
    store: @escaping @Sendable () async throws -> any OrderedStore,
    data: @escaping @Sendable (EventRecord) throws -> EventData
  ) {
    self.service = service
    self.keys = EventKeys(prefix: keys)
    self.types = types
    self.limits = limits
    state = Locked(State(numbers: EventNumbers(limit: limits.rememberedCommits)))
    open = store
    self.data = data
  }

  // MARK: Recording

  /// The subscriptions; `nil` while there are none.
  public var interest: EventInterest? { state.withLock { $0.interest } }

  /// Records events in the transaction of the change.
  ///
  /// - Parameters:
  ///   - drafts: The events, in order; one without functions is left out.
  ///   - transaction: The transaction of the change.
  ///   - isOnly: Whether this is the only call in the transaction, which saves a read.
  /// - Throws: `EventOutboxFull`, and errors of the store.
  public func append(
    _ drafts: [EventDraft], in transaction: any StoreTransaction, isOnly: Bool = false
  ) async throws {
    let wanted = drafts.filter { !$0.functions.isEmpty }
    guard !wanted.isEmpty else { return }
    let version = try await transaction.commitVersion().microseconds
    let recorded = wanted.flatMap(\.functions)
    // An event has the same number in the queues of all functions, and no other one of the commit has it: ids are made
    // of it.
    var first: Int64 = 0
    for function in Set(recorded).sorted() {
      try await checkRoom(function, transaction)
      if !isOnly { first = max(first, try await next(function, version, transaction)) }
    }
    if !isOnly { first = state.withLock { $0.numbers.take(wanted.count, of: version, from: first) } }
    for (number, draft) in zip(first..., wanted) {
      let row = try EventRecord(draft).fieldBytes()
      let position = EventPosition(version: version, number: number)
      for function in draft.functions { try await transaction.put(row, for: keys.key(.queue, function, position)) }
    }
    state.withLock { state in
      for function in recorded { state.pending[function, default: 0] += 1 }
    }
  }

  /// Notifies the dispatcher, after a commit with events.
  public func wake() {
    for observer in state.withLock({ $0.observerList }) { observer.eventsWereRecorded() }
  }

  /// Ends deliveries; the engine calls it before it closes its store.
  public func close() async {
    let observers = state.withLock { state -> [any EventSourceObserver] in
      state.isClosed = true
      defer { state.observers = [:] }
      return state.observerList
    }
    state.withLock { $0.commits.take() }?.cancel()
    for observer in observers { await observer.sourceWillClose() }
  }

  private func next(_ function: String, _ version: Int64, _ transaction: any StoreTransaction) async throws -> Int64 {
    guard let last = try await transaction.first(in: keys.commit(function, version)) else { return 0 }
    return try keys.position(last.key, .queue, function).number + 1
  }

  /// Refuses an event when too many wait; counts them first, because the estimate may be too high.
  ///
  /// A queue that was full is counted again when this process has settled an event of it, and now and then in case that
  /// another one has.
  private func checkRoom(_ function: String, _ transaction: any StoreTransaction) async throws {
    // Unknown at the first event of the process.
    guard state.withLock({ $0.pending[function] ?? .max }) >= limits.maximumPending else { return }
    let isRefused = state.withLock { state in
      guard let left = state.refusals[function], left > 0 else { return false }
      state.refusals[function] = left - 1
      return true
    }
    guard !isRefused else { throw EventOutboxFull(function: function, pending: limits.maximumPending) }
    let end = try await transaction.scan(
      keys.all(.queue, of: function), order: .ascending, limit: limits.maximumPending
    ) { _, _ in .next }
    state.withLock { state in
      state.pending[function] = end.visited
      state.refusals[function] = end.visited >= limits.maximumPending ? limits.uncountedRefusals : nil
    }
    if end.visited >= limits.maximumPending { throw EventOutboxFull(function: function, pending: end.visited) }
  }

  // MARK: EventSource

  /// Replaces the subscriptions.
  public func subscribe(_ subscriptions: [EventSubscription]) {
    let own = subscriptions.filter { !$0.types.isDisjoint(with: types) }
    let interest = own.isEmpty ? nil : EventInterest(own)
    state.withLock { $0.interest = interest }
  }

  /// Notifies an observer after commits with events, and before the outbox closes; never after that.
  public func observe(_ observer: any EventSourceObserver) -> ListenerRegistration {
    let id = state.withLock { state in
      state.lastObserver += 1
      // It would never be released.
      guard !state.isClosed else { return state.lastObserver }
      state.observers[state.lastObserver] = observer
      return state.lastObserver
    }
    listen()
    return ListenerRegistration { [weak self] in
      let removed = self?.state.withLock { $0.observers.removeValue(forKey: id) }
      withExtendedLifetime(removed) {}
    }
  }

  /// Listens to the commits of other processes, where the store has any.
  private func listen() {
    let isFirst = state.withLock { state in
      defer { state.isListening = true }
      return !state.isListening && !state.isClosed
    }
    guard isFirst else { return }
    Task { [weak self, open] in
      // A store that cannot be opened now is looked at now and then by the dispatchers.
      guard let store = try? await open(), store.isShared, let news = store as? any CommitObservable else { return }
      let registration = news.observeCommits { [weak self] _ in self?.othersHaveCommitted() }
      let isKept = self?.state.withLock { state in
        if !state.isClosed { state.commits = registration }
        return !state.isClosed
      }
      if isKept != true { registration.cancel() }
    }
  }

  private func othersHaveCommitted() {
    for observer in state.withLock({ $0.observerList }) { observer.othersMayHaveRecorded() }
  }

  /// The whole event of an entry.
  public func event(_ entry: EventEntry) async throws -> Event? {
    if let stored = entry.record { return try event(stored.record, at: entry.position) }
    let key = keys.key(.queue, entry.function, entry.position)
    guard let bytes = try await open().read({ try await $0.get(key) }) else { return nil }
    return try event(bytes, at: entry.position)
  }

  private func event(_ bytes: [UInt8], at position: EventPosition) throws(EventDamaged) -> Event {
    let record: EventRecord
    do {
      record = try EventRecord(row: bytes)
    } catch {
      throw EventDamaged("\(error)")
    }
    return try event(record, at: position)
  }

  func event(_ record: EventRecord, at position: EventPosition) throws(EventDamaged) -> Event {
    do {
      return event(record, at: position, data: try data(record))
    } catch {
      throw EventDamaged("\(error)")
    }
  }

  func event(_ record: EventRecord, at position: EventPosition, data: EventData) -> Event {
    Event(
      id: record.id ?? id(position), type: EventType(rawValue: record.type),
      source: "//\(service)/\(record.scope)", scope: record.scope, path: record.path,
      time: record.time ?? position.version, data: data, actor: record.actor)
  }

  func id(_ position: EventPosition) -> String {
    "\(service)-\(String(position.version, radix: 16))-\(position.number)"
  }
}
