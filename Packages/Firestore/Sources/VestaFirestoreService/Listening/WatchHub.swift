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

  private enum Event: Sendable {
    case request(ListenRequest, of: WatchMachine.CallID)
    case end(WatchMachine.CallID)
    case started(WatchMachine.JobID, Result<WatchStart, FirestoreServiceError>)
    case answered(WatchMachine.JobID, WatchMachine.WatchID, Result<Answer, FirestoreServiceError>)
    case rulesChanged
    case tick

    var isRulesChange: Bool { if case .rulesChanged = self { true } else { false } }
    var isEnd: Bool { if case .end = self { true } else { false } }
    var isTick: Bool { if case .tick = self { true } else { false } }
  }

  /// A limited query at a version.
  private struct Answer: Sendable {
    var version: Int64
    var limited: LimitedView?

    /// Applies changes; applies none of them where the changes alone do not determine the results.
    mutating func advance(to snapshot: Snapshot, _ subject: WatchSubject) async throws -> Bool {
      guard version < snapshot.version else { return true }
      guard version >= (try await snapshot.horizon()) else { return false }
      var limited = limited
      for change in try await WatchChange.all(after: version, subject.scope, in: snapshot) {
        let (wasIn, isIn) = change.membership(in: subject)
        if wasIn || isIn, limited?.take(change, isIn: isIn) == .unknown { return false }
      }
      self.limited = limited
      version = snapshot.version
      return true
    }
  }

  /// An object, so that a commit copies references for its many listeners and not their callers.
  private final class OpenCall: Sendable {
    let mailbox: ListenMailbox
    /// Where the call was opened; `nil` for no preference.
    let executor: (any TaskExecutor)?
    /// The caller to ask the guard about; `nil` where no question is needed.
    let guarded: GuardedCaller?

    init(mailbox: ListenMailbox, executor: (any TaskExecutor)?, guarded: GuardedCaller?) {
      self.mailbox = mailbox
      self.executor = executor
      self.guarded = guarded
    }
  }

  /// The state that each turn works with and leaves to the next one.
  private struct Serving: Sendable {
    var machine: WatchMachine
    var jobs: JobQueue
    /// A version at or below which no later commit is possible.
    var floor: Int64 = 0
  }

  private struct State: Sendable {
    var calls: [WatchMachine.CallID: OpenCall] = [:]
    var events: [Event] = []
    var lastCall = 0
    /// The number of times that serving has begun; events of one time do not concern the next.
    var run = 0
    /// Whether calls are served: from the first call to the end of the last one.
    var isServing = false
    /// Whether a task takes turns, or is about to.
    var isTurning = false
    /// Whether something has happened since the last turn began.
    var isWoken = false
    /// Between turns.
    var resting: Serving?
    var observation: ListenerRegistration?
    var rules: ListenerRegistration?
    var ticking: Task<Void, Never>?
    var polling: Task<Void, Never>?

    /// Nothing, as before the first call; numbers are never used again.
    var cleared: State { State(lastCall: lastCall, run: run) }

    /// Notes that something has happened.
    ///
    /// - Returns: Whether a task has to take turns; otherwise one does already.
    mutating func wake() -> Bool {
      defer { (isWoken, isTurning) = (true, true) }
      return !isTurning
    }
  }

  private let state = Locked(State())
  let name: DatabaseName
  private let store: any OrderedStore
  let options: FirestoreServiceOptions
  let gatekeeper: (any FirestoreGuard)?
  let failure: @Sendable (any Error) -> FirestoreServiceError
  private let read: Read

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
    start()
    return ListenCall(
      responses: AsyncThrowingStream {
        defer { end.keep() }
        return try await mailbox.next()
      },
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

  private func close(_ error: FirestoreServiceError) {
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

  private func submit(_ event: Event, of run: Int) { submit { $0.run == run && $0.isServing ? event : nil } }

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
    if let start { begin(start) }
  }

  /// Starts a turn for a commit.
  ///
  /// - Parameter run: The time of serving that it concerns; `nil` for the present one.
  private func wake(_ run: Int?) {
    let start = state.withLock { state -> Start? in
      guard state.isServing, run ?? state.run == state.run, state.wake() else { return nil }
      return Start(run: state.run)
    }
    if let start { begin(start) }
  }

  // MARK: Serving

  /// Starts serving with the first call; it ends with the last one.
  private func start() {
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
      state.resting = serving(run)
      state.isTurning = state.isWoken
      return (true, state.isWoken)
    }
    if isWoken { begin(Start(run: run)) }
    if isKept { return }
    observation?.cancel()
    rules?.cancel()
    ticking.cancel()
    polling?.cancel()
  }

  private func serving(_ run: Int) -> Serving {
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

  /// The beginning of a task that takes turns.
  private struct Start: Sendable {
    let run: Int
    /// `nil` for no preference.
    var executor: (any TaskExecutor)?
  }

  private func begin(_ start: Start) {
    // All listeners wait for this task, which does little: it takes precedence over callers that read much.
    Task(executorPreference: start.executor, priority: .high) { await self.takeTurns(start) }
  }

  /// Takes turns until nothing has happened since the last one began.
  ///
  /// On the executor of a call it takes one: other events may concern other calls.
  private func takeTurns(_ start: Start) async {
    // Taken out of the state and put back, so that it is never copied.
    var serving = state.withLock { $0.run == start.run ? $0.resting.take() : nil }
    while let events = takeEvents(start.run), await turn(events, &serving, start.run), !stopIfIdle(start.run) {
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
    if isWoken { begin(Start(run: run)) }
    return isOver
  }

  /// - Returns: Whether the listeners can still be served.
  private func turn(_ events: [Event], _ resting: inout Serving?, _ run: Int) async -> Bool {
    guard var serving = resting.take() else { return false }
    defer { resting = serving }
    serving.jobs.beginTurn()
    do {
      if events.contains(where: \.isTick) { serving.floor = try await store.raiseFloor(to: nil).microseconds }
      let floor = serving.floor
      try await read { try await self.take(events, &serving.machine, &serving.jobs, $0.later(floor)) }
      return true
    } catch {
      if state.withLock({ $0.isServing && $0.run == run }) { close(failure(error)) }
      return false
    }
  }

  private func take(
    _ events: [Event], _ machine: inout WatchMachine, _ jobs: inout JobQueue, _ snapshot: Snapshot
  ) async throws {
    // Nothing is read for callers that have left.
    for event in events where event.isEnd { try await serve(event, &machine, &jobs, snapshot) }
    // Before the changes: documents that the rules deny now are not sent.
    if events.contains(where: \.isRulesChange) { await askAgain(&machine, &jobs, snapshot) }
    try await advance(&machine, &jobs, to: snapshot)
    for event in events where !event.isEnd { try await serve(event, &machine, &jobs, snapshot) }
  }

  private func advance(_ machine: inout WatchMachine, _ jobs: inout JobQueue, to snapshot: Snapshot) async throws {
    var changes: [WatchChange] = []
    if let version = machine.version, version < snapshot.version, machine.isFollowing {
      guard version >= (try await snapshot.prunedHorizon()) else {
        throw FirestoreServiceError(.unavailable, "The listeners have too many commits to catch up with; listen again.")
      }
      changes = try await WatchChange.all(
        after: version, .everything, in: snapshot, between: options.tuning.listening.betweenBytes)
    }
    for case let (name, failure?) in changes.map({ ($0.name, $0.failure) }) {
      log.error("I-FSS000008", "The listeners of \(name) have been ended: \(failure)")
    }
    if gatekeeper != nil { await ask(about: changes, &machine, &jobs, snapshot) }
    perform(machine.committed(changes, at: snapshot.version), &jobs)
  }

  private func serve(
    _ event: Event, _ machine: inout WatchMachine, _ jobs: inout JobQueue, _ snapshot: Snapshot
  ) async throws {
    switch event {
    case .tick, .rulesChanged: return
    case .end(let call): perform(machine.ended(call), &jobs)
    case .request(.removeTarget(let id), let call): perform(machine.remove(id, of: call), &jobs)
    case .request(.addTarget(let target), let call):
      guard let open = state.withLock({ $0.calls[call] }) else { return }
      if let guarded = open.guarded, let denial = await denial(of: target, guarded, snapshot) {
        return perform(machine.refuse(target, of: call, denial), &jobs)
      }
      let actions = machine.add(target, of: call, in: name, isGuarded: open.guarded != nil)
      await perform(actions, &machine, &jobs, snapshot)
    case .started(let job, .failure(let error)):
      perform(machine.refused(job, error), &jobs)
      jobs.end(job)
    case .started(let job, .success(var start)):
      if let (_, view, isBlocked) = machine.pending(job) {
        if isBlocked { return jobs.again(job) }
        do {
          guard try await start.advance(to: snapshot, view: view, asking: false) else { return jobs.again(job) }
          if gatekeeper != nil { try await ask(about: start, of: job, &machine, &jobs, snapshot) }
          perform(machine.joined(job, start), &jobs)
        } catch let error as FirestoreServiceError {
          // A document of this target that cannot be read stops no other.
          perform(machine.refused(job, error), &jobs)
        }
      }
      jobs.end(job)
    case .answered(let job, let watch, let result):
      jobs.end(job)
      try await take(result, of: job, watch, &machine, &jobs, snapshot)
    }
  }

  /// Brings the answer of a limited query to the version of the turn.
  ///
  /// An answer that is out of date is requested once more outside the turns, in which all calls of the database would
  /// wait.
  private func take(
    _ result: Result<Answer, FirestoreServiceError>, of job: WatchMachine.JobID, _ watch: WatchMachine.WatchID,
    _ machine: inout WatchMachine, _ jobs: inout JobQueue, _ snapshot: Snapshot
  ) async throws {
    guard let (subject, known, attempts) = machine.known(watch, for: job) else { return }
    do {
      var answer = try result.get()
      if try await !answer.advance(to: snapshot, subject) {
        guard attempts >= options.tuning.listening.requeries, answer.limited?.hasSpare == false else {
          return perform(machine.missed(watch), &jobs)
        }
        answer.limited = try await subject.limitedView(in: snapshot)
      }
      let facts = try await (answer.limited?.view ?? [:]).facts(since: known, in: snapshot)
      perform(machine.answered(watch, answer.limited, facts), &jobs)
    } catch let error as FirestoreServiceError {
      perform(machine.failed(watch, error), &jobs)
    }
  }

  /// Does the work of a job concurrently with the task that serves.
  private func begin(_ job: WatchMachine.Job, _ run: Int) -> Task<Void, Never> {
    Task {
      switch job.work {
      case .start(let request, let target):
        self.submit(.started(job.id, await self.start(request, for: target, job.attempts)), of: run)
      case .requery(let watch, let subject):
        self.submit(.answered(job.id, watch, await self.answer(subject, job.attempts)), of: run)
      }
    }
  }

  /// Works out a start, and brings it near the latest version.
  private func start(
    _ request: StartRequest, for target: Int32, _ attempts: Int
  ) async -> Result<WatchStart, FirestoreServiceError> {
    do {
      var start: WatchStart?
      try await read {
        start = try await WatchStart(
          request, in: $0, digest: self.options.md5, now: self.options.now(), attempts: attempts)
      }
      // Many commits may have happened in between; fewer happen while they are processed.
      try await read { snapshot in
        if let before = start?.version, before < snapshot.version { _ = try await start?.advance(to: snapshot) }
      }
      // Of documents that a guard is asked about, no state is sent but the one that it is asked about.
      if gatekeeper == nil || !request.subject.isDocuments { start?.prepare(for: target) }
      guard let start else { return .failure(.shutDown) }
      return .success(start)
    } catch {
      return .failure(failure(error))
    }
  }

  /// Runs a limited query, and brings the answer near the latest version.
  private func answer(_ subject: WatchSubject, _ attempts: Int) async -> Result<Answer, FirestoreServiceError> {
    do {
      var answer: Answer?
      try await read { snapshot in
        let limited = try await subject.limitedView(in: snapshot, attempts: attempts)
        answer = Answer(version: snapshot.version, limited: limited)
      }
      // Many commits may have happened in between; fewer happen while they are processed.
      try await read { snapshot in _ = try await answer?.advance(to: snapshot, subject) }
      guard let answer else { return .failure(.shutDown) }
      return .success(answer)
    } catch {
      return .failure(failure(error))
    }
  }

  func perform(_ actions: [WatchMachine.Action], _ jobs: inout JobQueue) {
    if actions.isEmpty { return }
    let calls = state.withLock { $0.calls }
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

  /// The caller of a call to ask the guard about; `nil` where no question is needed.
  func guarded(_ call: WatchMachine.CallID) -> GuardedCaller? { state.withLock { $0.calls[call]?.guarded } }

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
