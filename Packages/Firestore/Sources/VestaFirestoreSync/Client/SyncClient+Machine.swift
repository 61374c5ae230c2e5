import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel

/// The machine under its lock: events go in, now or as soon as what they need of the cache is in memory.
extension SyncClient {
  private enum Progress { case taken, waits, loads, isShutDown }

  /// Lets the machine take an event, now or as soon as what it needs of the cache is read, and performs its actions.
  ///
  /// - Parameters:
  ///   - needs: The documents that the event must find in memory.
  ///   - network: Whether the event enables or disables the network; reads follow the last of these events.
  ///   - dropped: Called in place of the event when the client has ended, or ends first.
  func takeEvent(
    _ needs: CacheNeeds = .nothing, network: Bool? = nil, dropped: (@Sendable () -> Void)? = nil,
    _ event: @escaping @Sendable (ClientMachine) -> Void
  ) {
    _ = takeOrKeepEvent(needs, network: network, dropped: dropped, event)
    performActions()
  }

  /// Lets the machine take an event now, or keeps it until what it needs of the cache is read.
  ///
  /// The caller performs the actions.
  ///
  /// - Parameters:
  ///   - needs: The documents that the event must find in memory.
  ///   - laterNeeds: The documents that later events need as well; they are read after the event and before any other
  ///     one.
  ///   - network: As in `takeEvent`.
  ///   - dropped: As in `takeEvent`.
  /// - Returns: The result of the event; `nil` when the machine has not taken it.
  func takeOrKeepEvent<Result: Sendable>(
    _ needs: CacheNeeds = .nothing, laterNeeds: CacheNeeds? = nil, network: Bool? = nil,
    dropped: (@Sendable () -> Void)? = nil, _ event: @escaping @Sendable (ClientMachine) -> Result
  ) -> Result? {
    var result: Result?
    let progress = state.withLock { state -> Progress in
      guard !state.isShutDown else { return .isShutDown }
      if let network { state.isNetworkEnabled = network }
      if state.machine == nil, writer == nil { startMachine(&state, emptyStore()) }
      if let machine = state.machine(for: needs) {
        result = event(machine)
        takeOutput(of: machine, &state)
        guard let laterNeeds, machine.missing(CollectionOfOne(laterNeeds)) != nil else { return .taken }
      } else {
        state.waiting.append(WaitingEvent(needs: needs, perform: { _ = event($0) }, drop: dropped))
      }
      if let laterNeeds { state.waiting.append(WaitingEvent(needs: laterNeeds, perform: { _ in }, drop: nil)) }
      defer { state.isLoading = true }
      return state.isLoading ? .waits : .loads
    }
    switch progress {
    case .isShutDown: dropped?()
    case .loads: Task { await loadForWaitingEvents() }
    case .taken, .waits: break
    }
    return result
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
    takeEvent(needs) {
      completion.finish(SyncClient.terminated)
    } _: { machine in
      let value = event(machine)
      result.withLock { $0 = value }
      completion.finish(nil)
    }
    try await completion.wait()
    guard let value = result.withLock({ $0 }) else { throw SyncClient.terminated }
    return value
  }

  static let terminated = FirestoreServiceError(
    .failedPrecondition,
    "The client has already been terminated. Call Firestore.firestore() again for a new instance; "
      + "after the deletion of its app, configure the app first.")

  /// Makes the machine on the contents of a cache.
  func startMachine(_ state: inout State, _ store: LocalStore) {
    var configuration = ClientMachine.Configuration(database: database)
    configuration.tuning = options.tuning
    configuration.digest = options.digest
    configuration.link = options.link
    configuration.isDurable = writer != nil
    let clock = options.clock
    configuration.time = { Double(clock.now()) / 1_000_000 }
    configuration.random = { Double.random(in: 0...1) }
    let machine = ClientMachine(configuration, local: store)
    state.machine = machine
    machine.start()
    if state.isNetworkEnabled { machine.enableNetwork() }
    takeOutput(of: machine, &state)
  }

  /// Takes the actions of the machine, and hands its changed rows to the writer of the cache, which begins after the
  /// actions.
  func takeOutput(of machine: ClientMachine, _ state: inout State) {
    state.outbox += machine.takeActions()
    guard let writer else { return machine.dropRows() }
    let (cleared, rows) = (machine.takeClearedPrefixes(), machine.takeRows())
    if cleared.isEmpty, rows.isEmpty { return }
    var completions: [Completion] = []
    if machine.local.documents.hasMoreIndexRows {
      let written = Completion()
      written.whenDone { [weak self] error in if error == nil { self?.takeEvent { _ in } } }
      completions = [written]
    }
    writer.add(rows, clearing: cleared, completions: completions)
  }
}
