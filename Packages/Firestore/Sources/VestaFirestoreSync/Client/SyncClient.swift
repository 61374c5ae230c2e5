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
/// A client with a store reads its rows when they are needed: at its first use what every client needs, and documents
/// for the first event that needs them. Events wait in order until then.
package final class SyncClient: Sendable {
  struct State {
    var machine: ClientMachine?
    /// The events that wait for rows of the cache, in order.
    var waiting: [WaitingEvent] = []
    /// Whether a task reads rows.
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

    /// The machine, when it may take an event now.
    func machine(for needs: CacheNeeds) -> ClientMachine? {
      guard waiting.isEmpty, let machine else { return nil }
      if case .nothing = needs { return machine }
      return machine.local.missing(CollectionOfOne(needs)) == nil ? machine : nil
    }

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

  /// Lets the machine take an event, now or as soon as what it needs of the cache is read, and performs its actions.
  func run(_ needs: CacheNeeds = .nothing, _ event: @escaping @Sendable (ClientMachine) -> Void) {
    let loads = state.withLock { state -> Bool in
      guard !state.isShutDown else { return false }
      if state.machine == nil, writer == nil { start(&state, emptyStore()) }
      if let machine = state.machine(for: needs) {
        event(machine)
        collect(machine, &state)
        return false
      }
      state.waiting.append(WaitingEvent(needs: needs, perform: event))
      defer { state.isLoading = true }
      return !state.isLoading
    }
    if loads { Task { await load() } }
    perform()
  }

  /// Reads the machine's state.
  func read<Result: Sendable>(
    _ needs: CacheNeeds = .nothing, _ body: @escaping @Sendable (ClientMachine) -> Result
  ) async throws -> Result {
    if let result = state.withLock({ state in state.machine(for: needs).map(body) }) { return result }
    return try await change(needs, body)
  }

  /// Lets the machine take an event that has a result.
  func change<Result: Sendable>(
    _ needs: CacheNeeds = .nothing, _ event: @escaping @Sendable (ClientMachine) -> Result
  ) async throws -> Result {
    let result = Locked<Result?>(nil)
    let completion = Completion()
    run(needs) { machine in
      let value = event(machine)
      result.withLock { $0 = value }
      completion.finish(nil)
    }
    if state.withLock({ $0.isShutDown }) { throw SyncClient.terminated }
    try await completion.wait()
    guard let value = result.withLock({ $0 }) else { throw SyncClient.terminated }
    return value
  }

  static let terminated = FirestoreServiceError(.failedPrecondition, "The client has already been terminated.")

  // MARK: The cache

  private func emptyStore() -> LocalStore {
    LocalStore(database: database, user: options.user ?? "", policy: options.garbagePolicy)
  }

  /// Reads what waiting events need, one part after the other, until none waits.
  private func load() async {
    guard let reader = writer?.reader(of: database) else { return }
    if state.withLock({ $0.machine == nil }) { await start(reader) }
    while let missing = runWaiting() {
      perform()
      await read(missing, reader)
    }
    perform()
  }

  /// Takes the waiting events as far as everything they need is in memory.
  ///
  /// - Returns: The part of the cache that those left need; `nil` when none is left.
  private func runWaiting() -> CachePiece? {
    state.withLock { state in
      guard !state.isShutDown, let machine = state.machine else {
        (state.waiting, state.isLoading) = ([], false)
        return nil
      }
      var count = 0
      while count < state.waiting.count, machine.local.missing(CollectionOfOne(state.waiting[count].needs)) == nil {
        state.waiting[count].perform(machine)
        count += 1
      }
      state.waiting.removeFirst(count)
      collect(machine, &state)
      let missing = machine.local.missing(state.waiting.lazy.map(\.needs))
      if missing == nil { state.isLoading = false }
      return missing
    }
  }

  private func start(_ reader: CacheReader) async {
    var store: LocalStore
    do {
      var (loader, isComplete) = try await reader.start(isLazy: !options.isEmbedded)
      store = loader.makeStore(user: options.user ?? "", policy: options.garbagePolicy, isComplete: isComplete)
      for complaint in loader.complaints { options.log(complaint) }
      if !loader.repairs.isEmpty { writer?.write(loader.repairs) }
    } catch {
      options.log("The cache cannot be read. The client works without it, and writes nothing over it: \(error)")
      writer?.refuse(error)
      store = emptyStore()
    }
    let loaded = store
    state.withLock { state in
      guard !state.isShutDown else { return }
      start(&state, loaded)
    }
  }

  /// Reads a part of the cache; what cannot be read costs the cache, which the backend sends again.
  private func read(_ missing: CachePiece, _ reader: CacheReader) async {
    do {
      let (loader, piece) = try await reader.read(missing)
      for complaint in loader.complaints { options.log(complaint) }
      state.withLock { state in
        guard let machine = state.machine else { return }
        if loader.isDamaged { machine.discardCache() } else { machine.add(loader, as: piece) }
        collect(machine, &state)
      }
    } catch {
      options.log("The cache cannot be read, and is fetched anew: \(error)")
      state.withLock { state in
        guard let machine = state.machine else { return }
        machine.discardCache()
        collect(machine, &state)
      }
    }
  }

  private func start(_ state: inout State, _ store: LocalStore) {
    var configuration = ClientMachine.Configuration(database: database)
    configuration.limboLimit = options.limboLimit
    configuration.digest = options.digest
    configuration.keepsOnlyPendingWrites = options.isEmbedded
    configuration.fetchesTargets = options.isEmbedded
    configuration.keepsIndexes = writer != nil && !options.isEmbedded
    let clock = options.clock
    configuration.monotonicTime = { clock.monotonicSeconds }
    configuration.random = { Double.random(in: 0...1) }
    let machine = ClientMachine(configuration, local: store)
    state.machine = machine
    machine.start()
    if state.isNetworkEnabled { machine.enableNetwork() }
    collect(machine, &state)
  }

  /// Takes what the machine wants done and written.
  private func collect(_ machine: ClientMachine, _ state: inout State) {
    state.outbox += machine.takeActions()
    guard let writer else { return }
    let (cleared, rows) = (machine.takeClearedPrefixes(), machine.takeRows())
    if cleared.isEmpty, rows.isEmpty { return }
    var completions: [Completion] = []
    if machine.local.documents.hasMoreIndexRows {
      let written = Completion()
      written.whenDone { [weak self] error in if error == nil { self?.run { _ in } } }
      completions = [written]
    }
    writer.write(rows, clearing: cleared, completions: completions)
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
    guard isDue else { return }
    var needs = CacheNeeds.nothing
    if name == .garbageCollection, case .leastRecentlyUsed(let bytes?) = options.garbagePolicy {
      needs = .garbage(above: bytes)
    }
    run(needs) { $0.timerFired(name) }
  }
}
