import VestaConcurrency
package import VestaFirestoreBackend
package import VestaFirestoreModel
package import VestaStoreInterop

/// A client of one database: the machine, and the threads, streams, timers and rows around it.
///
/// All methods may be called from any thread. The machine is under one lock. What it wants done is done after the lock
/// is released, in order, by whichever thread is first: a call that finds another thread at work leaves its actions to
/// it. So listeners are called in order, one at a time, never under the lock, and on the thread that caused the event.
///
/// A client with a store reads its rows when it is first used; calls wait in order until then.
package final class SyncClient: Sendable {
  struct State {
    var machine: ClientMachine?
    /// What is to be done once the cache is read; nil when it is.
    var waiting: [@Sendable (ClientMachine) -> Void]? = []
    var isLoading = false
    var isShutDown = false
    var isNetworkEnabled = true
    var outbox: [ClientAction] = []
    var isPerforming = false
    var nextID = 1
    var listeners: [ListenerID: Receiver<Result<ViewSnapshot, FirestoreServiceError>>] = [:]
    var syncListeners: [ListenerID: Receiver<Void>] = [:]
    var callbacks: [CallbackID: Completion] = [:]
    var timers: [TimerName: (number: Int, cancel: @Sendable () -> Void)] = [:]
    var timerNumber = 0

    mutating func takeOutbox() -> [ClientAction] {
      defer { outbox = [] }
      return outbox
    }
  }

  let database: DatabaseName
  let backend: any FirestoreBackend
  let options: SyncOptions
  let writer: CacheWriter?
  let streams: SyncStreams
  let state: Locked<State>
  /// The first stages of pending writes that have no rows of their own.
  let withoutRows = Locked<[CallbackID: Completion]>([:])

  /// A client; nothing happens before its first use.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - backend: The service.
  ///   - store: Where the cache is kept; `nil` for memory. The caller closes it after `shutdown()`.
  ///   - options: How the client behaves.
  package convenience init(
    database: DatabaseName, backend: any FirestoreBackend, store: (any OrderedStore)?, options: SyncOptions
  ) {
    let open = store.map { store in { @Sendable () async throws -> any OrderedStore in store } }
    self.init(database: database, backend: backend, openStore: open, options: options)
  }

  /// A client whose store is opened when it is first needed.
  package init(
    database: DatabaseName, backend: any FirestoreBackend,
    openStore: (@Sendable () async throws -> any OrderedStore)?, options: SyncOptions
  ) {
    self.database = database
    self.backend = backend
    self.options = options
    writer = openStore.map { CacheWriter(open: $0, prefix: Self.prefix(options.persistenceKey), log: options.log) }
    streams = SyncStreams(database: database, backend: backend, options: options)
    state = Locked(State())
  }

  static func prefix(_ key: String) -> [UInt8] {
    var writer = RowWriter(reserving: 32)
    writer.write(text: key)
    return writer.bytes
  }

  /// Deletes what a client that does not run any more has left in a store.
  package static func clear(_ store: any OrderedStore, persistenceKey: String) async throws {
    try await CacheWriter.clear(store, prefix: prefix(persistenceKey))
  }

  // MARK: The machine

  /// Lets the machine take an event, now or as soon as the cache is read, and performs what it wants done.
  func run(_ event: @escaping @Sendable (ClientMachine) -> Void) {
    let loads = state.withLock { state -> Bool in
      guard !state.isShutDown else { return false }
      if state.machine == nil, writer == nil {
        start(&state, LocalStore(database: database, user: options.user ?? "", policy: options.garbagePolicy))
      }
      guard let machine = state.machine else {
        state.waiting?.append(event)
        defer { state.isLoading = true }
        return !state.isLoading
      }
      event(machine)
      collect(machine, &state)
      return false
    }
    if loads { Task { await load() } }
    perform()
  }

  /// Reads the machine's state.
  func read<Result: Sendable>(_ body: @escaping @Sendable (ClientMachine) -> Result) async throws -> Result {
    if let result = state.withLock({ state in state.machine.map(body) }) { return result }
    let result = Locked<Result?>(nil)
    let completion = Completion()
    run { machine in
      let value = body(machine)
      result.withLock { $0 = value }
      completion.finish(nil)
    }
    if state.withLock({ $0.isShutDown }) { throw SyncClient.terminated }
    try await completion.wait()
    guard let value = result.withLock({ $0 }) else { throw SyncClient.terminated }
    return value
  }

  static let terminated = FirestoreServiceError(.failedPrecondition, "The client has already been terminated.")

  private func load() async {
    var store: LocalStore
    do {
      guard var loader = try await writer?.load(database: database) else { return }
      store = loader.makeStore(user: options.user ?? "", policy: options.garbagePolicy)
      for complaint in loader.complaints { options.log(complaint) }
      if !loader.repairs.isEmpty { writer?.write(loader.repairs) }
    } catch {
      options.log("The cache cannot be read, and the client works without what it had: \(error)")
      store = LocalStore(database: database, user: options.user ?? "", policy: options.garbagePolicy)
    }
    let loaded = store
    state.withLock { state in
      guard !state.isShutDown else { return }
      start(&state, loaded)
    }
    perform()
  }

  private func start(_ state: inout State, _ store: LocalStore) {
    var configuration = ClientMachine.Configuration(database: database)
    configuration.limboLimit = options.limboLimit
    configuration.digest = options.digest
    configuration.keepsOnlyPendingWrites = options.isEmbedded
    configuration.fetchesTargets = options.isEmbedded
    let clock = options.clock
    configuration.monotonicTime = { clock.monotonicSeconds }
    configuration.random = { Double.random(in: 0...1) }
    let machine = ClientMachine(configuration, local: store)
    state.machine = machine
    machine.start()
    if state.isNetworkEnabled { machine.enableNetwork() }
    for event in state.waiting ?? [] { event(machine) }
    state.waiting = nil
    collect(machine, &state)
  }

  /// Takes what the machine wants done and written.
  private func collect(_ machine: ClientMachine, _ state: inout State) {
    state.outbox += machine.takeActions()
    guard let writer else { return }
    let rows = machine.takeRows()
    if !rows.isEmpty { writer.write(rows) }
  }

  // MARK: Actions

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
    case .warnUnreachable:
      options.log(
        "Could not reach Cloud Firestore backend. The client works offline until it can. Check the network and the "
          + "backend's address.")
    default: streams.perform(action, self)
    }
  }

  private func startTimer(_ name: TimerName, _ seconds: Double) {
    let number = state.withLock { state in
      state.timerNumber += 1
      return state.timerNumber
    }
    let cancel = options.clock.schedule(seconds: seconds) { [weak self] in self?.timerFired(name, number) }
    let old = state.withLock { state in
      defer { state.timers[name] = (number, cancel) }
      return state.timers[name]
    }
    old?.cancel()
  }

  private func cancelTimer(_ name: TimerName) {
    let old = state.withLock { $0.timers.removeValue(forKey: name) }
    old?.cancel()
  }

  private func timerFired(_ name: TimerName, _ number: Int) {
    let isDue = state.withLock { state in
      guard state.timers[name]?.number ?? number == number else { return false }
      state.timers[name] = nil
      return true
    }
    if isDue { run { $0.timerFired(name) } }
  }
}
