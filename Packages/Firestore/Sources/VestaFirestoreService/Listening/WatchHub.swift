import VestaConcurrency
import VestaCore
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaServiceInterop
import VestaStoreInterop

/// The listen calls of a database, and the turns that serve them all: they read, `WatchMachine` decides.
///
/// There is a turn for a commit, for a request, for a job that is done, and once a minute; where the store does not
/// report commits, it looks for other processes' commits every `pollInterval`. A turn reads the store at one
/// version: first all targets are brought to it, then those join whose starts are ready, at the same version. So no
/// change can fall between, or be sent twice. Long work, finding the first results and running limited queries
/// again, is done by separate tasks.
///
/// One turn runs at a time, by a task that ends when nothing has happened since its last turn began. A turn for a
/// request runs on the executor of its call while there are few calls: on the event loop of a connection it saves two
/// changes of threads, which take longer than the turn.
final class WatchHub: Sendable {
  typealias Read = @Sendable ((Snapshot) async throws -> Void) async throws -> Void

  private let state = Locked(State())
  let name: DatabaseName
  let store: any OrderedStore
  let options: FirestoreServiceOptions
  let gatekeeper: (any FirestoreGuard)?
  let failure: @Sendable (any Error) -> FirestoreServiceError
  let read: Read

  /// - Parameters:
  ///   - gatekeeper: Asked about each target of a call with a guarded caller.
  ///   - failure: The service's error for any error.
  ///   - read: Reads the store at one version.
  init(
    _ name: DatabaseName, store: any OrderedStore, options: FirestoreServiceOptions,
    gatekeeper: (any FirestoreGuard)?, failure: @escaping @Sendable (any Error) -> FirestoreServiceError,
    read: @escaping Read
  ) {
    self.name = name
    self.store = store
    self.options = options
    self.gatekeeper = gatekeeper
    self.failure = failure
    self.read = read
  }

  /// Opens a call.
  ///
  /// - Parameters:
  ///   - deadline: When it ends with `DEADLINE_EXCEEDED`, in microseconds since 1970; `nil` for never.
  ///   - guarded: The caller to ask the guard about; `nil` where no question is needed.
  func open(until deadline: Int64? = nil, guarded: GuardedCaller? = nil) -> ListenCall {
    let mailbox = ListenMailbox(limit: options.unreadBytes)
    let executor = currentTaskExecutor
    let id = state.withLock { state in
      state.lastCall += 1
      state.calls[state.lastCall] = OpenCall(mailbox: mailbox, executor: executor, guarded: guarded)
      return state.lastCall
    }
    // Released when the caller releases the responses, cancels its task or reaches the end.
    let timer = deadline.map { deadline in
      options.clock.schedule(at: deadline) { [weak self] in
        mailbox.end(.failure(.late))
        self?.end(id)
      }
    }
    let end = CallEnd {
      timer?.cancel()
      self.end(id)
    }
    startServing()
    return ListenCall(
      responses: AsyncThrowingStream {
        defer { end.keep() }
        return try await mailbox.next()
      },
      // Without the end: the call has the responses too, and they have it.
      next: { try await mailbox.next(besides: $0) },
      send: { self.submit($0, of: id) },
      finish: { [weak self] in
        mailbox.end(.success(()))
        self?.end(id)
      },
      cancel: { [weak self] in
        mailbox.end(.success(()))
        self?.end(id)
      }
    )
  }

  /// Notes a commit.
  func wake() { wake(nil) }

  /// Whether there are no listeners, and nothing is served.
  var isIdle: Bool { state.withLock { !$0.isServing } }

  /// Ends all calls.
  func close() { close(.shutDown) }

  func close(_ error: FirestoreServiceError) {
    let before = state.withLock { state in
      defer { state = state.cleared }
      return state
    }
    for call in before.calls.values { call.mailbox.end(.failure(error)) }
    before.observation?.cancel()
    before.rules?.cancel()
    before.ticking?.cancel()
    before.polling?.cancel()
    before.resting?.jobs.cancelAll()
  }

  // MARK: Events

  private func submit(_ request: ListenRequest, of call: WatchMachine.CallID) {
    submit { $0.calls[call] == nil ? nil : .request(request, of: call) }
  }

  private func end(_ call: WatchMachine.CallID) {
    submit { $0.calls.removeValue(forKey: call) == nil ? nil : .end(call) }
  }

  /// Takes a turn for a call that has read what was sent.
  func noteReading(of call: WatchMachine.CallID) { submit { $0.calls[call] == nil ? nil : .hasRead(call) } }

  func submit(_ event: Event, of run: Int) { submit { $0.run == run && $0.isServing ? event : nil } }

  /// Adds an event, if there is one, and starts a turn for it.
  private func submit(_ event: (inout State) -> Event?) {
    let limit = options.tuning.listening.callsInPlace
    let start = state.withLock { state -> Start? in
      guard let event = event(&state) else { return nil }
      state.events.append(event)
      guard state.isServing, state.wake() else { return nil }
      var executor: (any TaskExecutor)?
      if case .request(_, let call) = event, state.calls.count <= limit { executor = state.calls[call]?.executor }
      return Start(run: state.run, executor: executor)
    }
    if let start { startTurns(start) }
  }

  /// Starts a turn for a commit.
  ///
  /// - Parameter run: The time of serving that it concerns; `nil` for the present one.
  private func wake(_ run: Int?) {
    let start = state.withLock { state -> Start? in
      guard state.isServing, run ?? state.run == state.run, state.wake() else { return nil }
      return Start(run: state.run)
    }
    if let start { startTurns(start) }
  }

  // MARK: Serving

  /// Starts serving with the first call; it ends with the last one.
  private func startServing() {
    let run = state.withLock { state in
      guard !state.isServing else { return nil as Int? }
      state.run += 1
      // Events wait until the turns have what they need.
      (state.isServing, state.isTurning) = (true, true)
      return state.run
    }
    guard let run else { return }
    let observation = (store as? any CommitObservable)?.observeCommits { [weak self] _ in self?.wake(run) }
    let rules = gatekeeper?.observe { [weak self] in self?.submit(.rulesChanged, of: run) }
    let ticking = every(.seconds(60)) { [weak self] in self?.submit(.tick, of: run) }
    let polling = observation == nil ? every(options.pollInterval) { [weak self] in self?.wake(run) } : nil
    let (isKept, isWoken) = state.withLock { state in
      guard state.isServing, state.run == run else { return (false, false) }
      state.observation = observation
      state.rules = rules
      state.ticking = ticking
      state.polling = polling
      state.resting = makeServing(run)
      state.isTurning = state.isWoken
      return (true, state.isWoken)
    }
    if isWoken { startTurns(Start(run: run)) }
    if isKept { return }
    observation?.cancel()
    rules?.cancel()
    ticking.cancel()
    polling?.cancel()
  }

  private func makeServing(_ run: Int) -> Serving {
    Serving(
      machine: WatchMachine(tokenInterval: options.tokenInterval.microseconds, heldBytes: options.unreadBytes),
      jobs: JobQueue(width: options.tuning.listening.jobs) { [weak self] in self?.begin($0, run) ?? Task {} })
  }

  /// Does something again and again, by the clock of the engine.
  private func every(_ interval: Duration, _ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
    let clock = options.clock
    return Task {
      while (try? await clock.sleep(for: interval)) != nil { body() }
    }
  }

  private func startTurns(_ start: Start) {
    // Not above the tasks of callers that read much: those let others run every few hundred microseconds, while a
    // thread of higher priority, which sleeps between turns, waits for milliseconds until a busy machine runs it.
    Task(executorPreference: start.executor, priority: .medium) { await self.takeTurns(start) }
  }

  /// Takes turns until nothing has happened since the last one began.
  ///
  /// On the executor of a call it takes one: other events may concern other calls.
  private func takeTurns(_ start: Start) async {
    // Taken out of the state and put back, so that it is never copied.
    var serving = state.withLock { $0.run == start.run ? $0.resting.take() : nil }
    while let events = takeEvents(start.run), await takeTurn(events, &serving, start.run), !stopIfIdle(start.run) {
      if rest(&serving, start.run, isLast: start.executor != nil) { return }
    }
    serving?.jobs.cancelAll()
  }

  /// - Returns: `nil` where this time of serving has ended.
  private func takeEvents(_ run: Int) -> [Event]? {
    state.withLock { state in
      guard state.isServing, state.run == run else { return nil }
      defer { state.events = [] }
      state.isWoken = false
      return state.events
    }
  }

  /// Ends the turns of a task, unless something has happened since the last one began.
  ///
  /// - Parameter isLast: Whether another task takes the next turn.
  private func rest(_ serving: inout Serving?, _ run: Int, isLast: Bool) -> Bool {
    let (isOver, isWoken) = state.withLock { state in
      guard state.isServing, state.run == run, isLast || !state.isWoken else { return (false, false) }
      state.resting = serving.take()
      state.isTurning = state.isWoken
      return (true, state.isWoken)
    }
    if isWoken { startTurns(Start(run: run)) }
    return isOver
  }

  func perform(_ actions: [WatchMachine.Action], _ jobs: inout JobQueue) {
    if actions.isEmpty { return }
    let calls = openCalls
    for action in WatchMachine.Action.joined(actions) {
      switch action {
      case .send(let call, let responses): calls[call]?.mailbox.send(responses)
      case .begin(let job): jobs.add(job)
      case .cancel(let job): jobs.cancel(job)
      case .end(let call, let error):
        calls[call]?.mailbox.end(.failure(error))
        state.withLock { _ = $0.calls.removeValue(forKey: call) }
      }
    }
  }

  /// The calls that have not ended.
  var openCalls: [WatchMachine.CallID: OpenCall] { state.withLock { $0.calls } }

  /// A call that has not ended.
  func openCall(_ call: WatchMachine.CallID) -> OpenCall? { state.withLock { $0.calls[call] } }

  /// The caller of a call to ask the guard about; `nil` where no question is needed.
  func guarded(_ call: WatchMachine.CallID) -> GuardedCaller? { openCall(call)?.guarded }

  func isServing(_ run: Int) -> Bool { state.withLock { $0.isServing && $0.run == run } }

  private func stopIfIdle(_ run: Int) -> Bool {
    let before = state.withLock { state in
      guard state.isServing, state.run == run, state.calls.isEmpty, state.events.isEmpty else { return nil as State? }
      defer { state = state.cleared }
      return state
    }
    before?.observation?.cancel()
    before?.rules?.cancel()
    before?.ticking?.cancel()
    before?.polling?.cancel()
    return before != nil
  }

  /// Ends a call when the last reference to it is released.
  private final class CallEnd: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    deinit { body() }

    func keep() {}
  }
}
