import VestaConcurrency
import VestaStoreInterop

/// Commits the waiting transactions, all at a time, in one transaction of PostgreSQL.
///
/// Bodies run side by side and hold nothing. A transaction that knows its version has reserved it; one that reserved
/// later waits for it for a bounded time, so that versions become visible in their order. Then one task, the leader,
/// takes all that are ready: it locks the row of the store's state (one round trip, which also brings what other
/// processes have committed), refuses those whose reads have changed or whose version is too low, and writes the others
/// in a second round trip that ends with COMMIT. No code of a body runs while the lock is held.
///
/// A unit that gets no answer to its COMMIT is looked for afterwards, under the lock, when no old transaction can be
/// under way: its commits carry its number.
final class CommitLeader: Sendable {
  private struct State: Sendable {
    var clock: VersionClock
    var known: Int64
    var log: ConflictLog
    /// The lead of the server's clock over this machine's, in microseconds.
    var offset: Int64 = 0
    /// Versions that were given to bodies which are running.
    var running: Set<Int64> = []
    var queue: [CommitRequest] = []
    var alone: [LoneTransaction] = []
    var isLeading = false
    var isSignalled = false
    var parked: CheckedContinuation<Void, Never>?
    var connection: PostgresConnection?
    /// The row of the store's state, as it was seen last.
    var last: CommitState
    /// Whether no other process had committed then, so that a commit is likely to find the row as it was.
    var isAlone = true
    var units = 0
    var lastSync = ContinuousClock.now
    /// Versions that were the last ones at some times, oldest first.
    var marks: [(time: ContinuousClock.Instant, version: Int64)] = []
  }

  /// The largest difference of the clocks of server and machine before the server's is followed: two seconds.
  private static let tolerance: Int64 = 2_000_000
  /// For how long commits are listed, whatever clocks do.
  private static let kept: Duration = .seconds(3_600)

  private let state: Locked<State>
  private let schema: Schema
  private let news: CommitNews
  private let clock: StoreClock
  private let followsServer: Bool
  private let patience: Duration
  private let open: @Sendable () async throws -> PostgresConnection

  /// - Parameters:
  ///   - last: The state of the store.
  ///   - offset: The lead of the server's clock over this machine's, in microseconds.
  ///   - followsServer: Whether a clock that differs much from the server's is put right.
  ///   - patience: For how long a server that is away is waited for.
  ///   - open: Opens the connection that commits.
  init(
    _ last: CommitState, offset: Int64, schema: Schema, news: CommitNews, clock: StoreClock, followsServer: Bool,
    patience: Duration, open: @escaping @Sendable () async throws -> PostgresConnection
  ) {
    let start = VersionClock(floor: StoreVersion(microseconds: max(last.version, last.floor)))
    state = Locked(
      State(clock: start, known: last.version, log: ConflictLog(base: last.version, tuning: schema.tuning), last: last))
    if followsServer { state.withLock { $0.offset = offset } }
    self.schema = schema
    self.news = news
    self.clock = clock
    self.followsServer = followsServer
    self.patience = patience
    self.open = open
  }

  /// The last version that this process knows to be committed.
  var known: Int64 { state.withLock { $0.known } }

  /// How many units have been committed, for tests.
  var unitCount: Int { state.withLock { $0.units } }

  // MARK: Versions

  /// The next version; it belongs to a body until it is committed or abandoned.
  func reserve() -> Int64 {
    let reading = clock.now
    return state.withLock { state in
      let version = state.clock.next(at: CommitLeader.corrected(reading, state)).microseconds
      state.running.insert(version)
      return version
    }
  }

  func abandon(_ version: Int64) {
    _ = state.withLock { $0.running.remove(version) }
    wake()
  }

  /// The clock's reading, put right where it is far from the server's.
  private static func corrected(_ reading: StoreTime, _ state: State) -> StoreTime {
    abs(state.offset) > tolerance ? StoreTime(wall: reading.wall + state.offset, steady: reading.steady) : reading
  }

  /// Raises the floor, durably.
  func raise(to version: StoreVersion?) async throws -> StoreVersion {
    let reading = clock.now
    let (raised, isDone) = state.withLock { state -> (StoreVersion?, Bool) in
      // Committed changes are visible, and no version arrives below them.
      if let version, version.microseconds <= state.known { return (version, true) }
      return (state.clock.raise(to: version, at: CommitLeader.corrected(reading, state)), false)
    }
    guard let raised else {
      throw StoreError(
        .futureVersion, operation: "raiseFloor",
        message: "The version lies more than a minute in the future of the store's clock.",
        hint: "Use a version of the past, or check the clocks of the machines.")
    }
    if isDone { return raised }
    if case .failed(let error) = try await commit(CommitRequest(floor: raised.microseconds)) { throw error }
    return raised
  }

  // MARK: Waiting

  /// Waits for the commit of a transaction.
  ///
  /// - Throws: `CancellationError` when its task is cancelled before the leader has taken it; nothing is kept then.
  func commit(_ request: CommitRequest) async throws -> CommitRequest.Outcome {
    try await request.turn.wait { _ in
      let mustLead = state.withLock { state in
        state.running.remove(request.version)
        state.queue.append(request)
        defer { state.isLeading = true }
        return !state.isLeading
      }
      if mustLead { Task.detached { await self.lead() } } else { wake() }
    } onCancel: { _ in
      self.wake()
    }
  }

  /// Waits for a transaction that is run under the lock, without concurrent commits in this process or another.
  ///
  /// - Returns: `nil` where it has changed nothing.
  func commit(alone transaction: LoneTransaction) async throws -> CommitRequest.Outcome? {
    try await transaction.turn.wait { _ in
      let mustLead = state.withLock { state in
        state.alone.append(transaction)
        defer { state.isLeading = true }
        return !state.isLeading
      }
      if mustLead { Task.detached { await self.lead() } } else { wake() }
    }
  }

  private func lead() async {
    while true {
      if let lone = state.withLock({ $0.alone.isEmpty ? nil : $0.alone.removeFirst() }) {
        await commit(lone)
        continue
      }
      guard let unit = nextUnit() else { return }
      if unit.isEmpty { await pause() } else { await commit(unit) }
    }
  }

  /// Takes the requests to commit now, which may be none; nil when nothing is left to lead.
  private func nextUnit() -> [CommitRequest]? {
    state.withLock { state in
      state.queue.removeAll { $0.turn.isOver }
      let unit = CommitLeader.ready(state.queue, running: state.running, now: .now, schema.tuning)
      state.queue.removeAll { request in unit.contains { $0 === request } }
      guard unit.isEmpty, state.queue.isEmpty, state.alone.isEmpty else { return unit }
      state.isLeading = false
      return nil
    }
  }

  /// The requests that may commit: no transaction with a lower version is running, or it has had time enough; pure.
  static func ready(
    _ queue: [CommitRequest], running: Set<Int64>, now: ContinuousClock.Instant,
    _ tuning: PostgresTuning = PostgresTuning()
  ) -> [CommitRequest] {
    let largestUnit = max(1, tuning.largestUnit)
    let sorted = queue.sorted { $0.version < $1.version }
    guard let lowest = running.min(), let oldest = sorted.map(\.since).min(), now - oldest < tuning.courtesy else {
      return Array(sorted.prefix(largestUnit))
    }
    return Array(sorted.prefix { $0.version < lowest }.prefix(largestUnit))
  }

  /// Waits until something has changed, or some milliseconds have passed.
  private func pause() async {
    let timer = Task {
      try? await Task.sleep(for: self.schema.tuning.courtesy)
      self.wake()
    }
    await withCheckedContinuation { continuation in
      let isSignalled = state.withLock { state in
        defer { state.isSignalled = false }
        if !state.isSignalled { state.parked = continuation }
        return state.isSignalled
      }
      if isSignalled { continuation.resume() }
    }
    timer.cancel()
  }

  private func wake() {
    let parked = state.withLock { state in
      state.isSignalled = state.parked == nil && state.isLeading
      defer { state.parked = nil }
      return state.parked
    }
    parked?.resume()
  }

  // MARK: Committing

  /// Commits a unit, and reports the outcome to every caller.
  private func commit(_ requests: [CommitRequest]) async {
    // Requests that are cancelled by now are out; from here on a commit is completed.
    let taken = requests.compactMap { request in request.turn.begin().map { (request, $0) } }
    if taken.isEmpty { return }
    var outcomes: [ObjectIdentifier: CommitRequest.Outcome] = [:]
    do {
      let unit = try await settled(taken.map(\.0))
      for request in unit.accepted { outcomes[ObjectIdentifier(request)] = .committed(request.version) }
      for request in unit.refused { outcomes[ObjectIdentifier(request)] = .conflict }
    } catch {
      let failure = StoreError(error, operation: "commit")
      for (request, _) in taken { outcomes[ObjectIdentifier(request)] = .failed(failure) }
    }
    for (request, continuation) in taken {
      continuation.resume(returning: outcomes[ObjectIdentifier(request)] ?? .conflict)
    }
  }

  /// Runs a transaction with the lock held, and commits it.
  private func commit(_ lone: LoneTransaction) async {
    guard let continuation = lone.turn.begin() else { return }
    var attempt = CommitAttempt(patience: patience)
    while true {
      do {
        if attempt.uncertain != nil, let unit = try await resolved(&attempt) {
          return continuation.resume(returning: .committed(unit.version))
        }
        return continuation.resume(returning: try await commitOnce(lone, &attempt))
      } catch {
        // Its next try would hold the others up for as long again.
        if let error = error as? StoreError, error.code == .conflict {
          return continuation.resume(returning: .failed(error))
        }
        guard let refusal = await refusal(error, &attempt) else { continue }
        return continuation.resume(returning: .failed(StoreError(refusal, operation: "commit")))
      }
    }
  }

  private func commitOnce(
    _ lone: LoneTransaction, _ attempt: inout CommitAttempt
  ) async throws -> CommitRequest.Outcome? {
    let (connection, last) = try await lock()
    let request: CommitRequest?
    do {
      request = try await run(lone)
    } catch {
      connection.send(Schema.rollback)
      throw error
    }
    if let request { _ = state.withLock { $0.running.remove(request.version) } }
    let unit = CommitUnit(request.map { [$0] } ?? [], last, log: state.withLock { $0.log })
    guard let request, !unit.accepted.isEmpty else {
      connection.send(Schema.rollback)
      return request == nil ? nil : .conflict
    }
    try await write(unit, last, on: connection, &attempt)
    return .committed(request.version)
  }

  /// Runs a body while the lock is held, for less time than the server leaves to a session that holds it and is silent.
  private func run(_ lone: LoneTransaction) async throws -> CommitRequest? {
    let limit = Duration.milliseconds(Schema.lockWait(within: patience)) * schema.tuning.shareOfTheLock
    return try await Turn<CommitRequest?>().wait { turn in
      let body = Locked<Task<Void, Never>?>(nil)
      let timer = Task {
        try await Task.sleep(for: limit)
        guard let continuation = turn.begin() else { return }
        body.withLock { $0 }?.cancel()
        continuation.resume(throwing: StoreError.tooSlow(limit))
      }
      let task = Task {
        let request = await lone.run()
        timer.cancel()
        if let continuation = turn.begin() { return continuation.resume(returning: request) }
        // Too late: it is not committed.
        if let request { abandon(request.version) }
      }
      body.withLock { $0 = task }
    }
  }

  /// Commits, again where the server or a connection was away or another commit was in the way.
  private func settled(_ requests: [CommitRequest]) async throws -> CommitUnit {
    var attempt = CommitAttempt(patience: patience)
    while true {
      do {
        if attempt.uncertain != nil, let unit = try await resolved(&attempt) { return unit }
        return try await commitOnce(requests, &attempt)
      } catch {
        if let refusal = await refusal(error, &attempt) { throw refusal }
      }
    }
  }

  /// Pauses after a failure, if the next try may do better.
  ///
  /// - Returns: The outcome for the caller; `nil` when there is to be another try.
  private func refusal(_ error: any Error, _ attempt: inout CommitAttempt) async -> (any Error)? {
    dropConnection()
    let failure = error as? PostgresFailure
    // While the outcome of a COMMIT is unknown, another refusal does not decide it.
    guard attempt.uncertain != nil || failure?.isConflict == true || failure?.isPassing == true else { return error }
    guard await attempt.mayGoOn() else { return attempt.uncertain == nil ? error : StoreError.unknownOutcome }
    if failure?.isLockTimeout == true { await endSilentHolder() }
    return nil
  }

  /// Ends the session of a process that has the lock and has fallen silent.
  private func endSilentHolder() async {
    let silence = Schema.lockWait(within: patience)
    _ = try? await connection().run(schema.endSilentHolder(after: silence))
  }

  /// Commits in one round trip if no other process has committed since; in two otherwise.
  private func commitOnce(_ requests: [CommitRequest], _ attempt: inout CommitAttempt) async throws -> CommitUnit {
    let (last, isAlone) = state.withLock { ($0.last, $0.isAlone) }
    guard isAlone else {
      let (connection, last) = try await lock()
      return try await commit(requests, last, on: connection, &attempt)
    }
    let guess = CommitUnit(requests, last, log: state.withLock { $0.log })
    // Whatever others have committed, these requests have read values that have changed.
    if guess.accepted.isEmpty { return guess }
    let connection = try await connection()
    let (known, before) = (self.known, clock.now)
    let beginning = schema.lock(after: known) + schema.expect(last)
    attempt.begin(guess)
    let statements = guess.statements(in: schema, unit: attempt.number, last, forgettingBefore: horizon())
    let answer = await connection.answer(to: beginning + statements, then: guess.isEmpty ? [] : [schema.notify])
    guard let failure = answer.failure else {
      try absorb(answer.rows, known, before)
      return finish(guess)
    }
    attempt.note(failure)
    // The state is another one, and the lock is there.
    guard attempt.uncertain == nil, answer.rows.count == beginning.count - 1 else { throw failure }
    let now = try absorb(answer.rows, known, before)
    connection.send(Schema.forgetGuess)
    return try await commit(requests, now, on: connection, &attempt)
  }

  /// Commits what can be committed; the lock is held.
  private func commit(
    _ requests: [CommitRequest], _ last: CommitState, on connection: PostgresConnection, _ attempt: inout CommitAttempt
  ) async throws -> CommitUnit {
    let unit = CommitUnit(requests, last, log: state.withLock { $0.log })
    if unit.accepted.isEmpty {
      connection.send(Schema.rollback)
      return unit
    }
    try await write(unit, last, on: connection, &attempt)
    return unit
  }

  /// Writes a unit and ends the transaction; the lock is held.
  private func write(
    _ unit: CommitUnit, _ last: CommitState, on connection: PostgresConnection, _ attempt: inout CommitAttempt
  ) async throws {
    attempt.begin(unit)
    let statements = unit.statements(in: schema, unit: attempt.number, last, forgettingBefore: horizon())
    let answer = await connection.answer(to: statements, then: unit.isEmpty ? [] : [schema.notify])
    if let failure = answer.failure {
      attempt.note(failure)
      throw failure
    }
    _ = finish(unit)
  }

  /// Looks for the unit whose COMMIT was not answered: under the lock, when its transaction cannot be under way.
  ///
  /// Where it is not there, the floor is raised above it: should it still be on its way to the server, it finds another
  /// state than it expects, and has no effect.
  ///
  /// - Returns: The unit, if it was committed.
  private func resolved(_ attempt: inout CommitAttempt) async throws -> CommitUnit? {
    guard let unit = attempt.uncertain, let version = unit.commits.last?.version else { return nil }
    let (connection, last) = try await lock()
    let rows = try await connection.run(schema.unit(of: version))
    if rows.first?.bytes(0, 0) == attempt.number {
      connection.send(Schema.rollback)
      return finish(unit)
    }
    let barred = CommitState(version: last.version, floor: max(last.floor, version), hasLong: last.hasLong)
    try await connection.run(schema.set(barred), Schema.commit)
    state.withLock { $0.last = barred }
    attempt.uncertain = nil
    return nil
  }

  /// Locks the store's state, reads the commits of other processes, and notifies their observers.
  private func lock() async throws -> (PostgresConnection, CommitState) {
    let connection = try await connection()
    let (known, before) = (self.known, clock.now)
    let rows = try await connection.run(schema.lock(after: known))
    return (connection, try absorb(rows, known, before))
  }

  /// The commits of other processes, with the keys that they have changed.
  private static func commits(_ rows: Rows) throws -> [(version: Int64, changes: ChangedKeys)] {
    try rows.rows.compactMap { row in
      guard row.count == 2, let number = row[0].flatMap(Rows.integer), let bytes = row[1] else { return nil }
      return (number, try ChangedKeys(bytes))
    }
  }

  /// Takes over the rows that were read with the lock.
  ///
  /// - Parameters:
  ///   - known: The version that was asked after.
  ///   - before: When it was asked.
  @discardableResult
  private func absorb(_ rows: [Rows], _ known: Int64, _ before: StoreTime) throws -> CommitState {
    guard rows.count >= 3, let last = CommitState(rows[1]) else {
      throw StoreError(.corrupt, operation: "commit", message: "The row of the store's state is not there.")
    }
    let others = try CommitLeader.commits(rows[2])
    let reading = clock.now
    state.withLock { state in
      if last.version < known || ContinuousClock.now - state.lastSync > .seconds(3_000) {
        // The list of commits may not go back so far.
        state.log = ConflictLog(base: last.version, tuning: schema.tuning)
      } else {
        for other in others { state.log.add(other.version, other.changes) }
      }
      state.isAlone = others.isEmpty && last == state.last
      state.last = last
      state.lastSync = .now
      state.known = max(state.known, last.version)
      if followsServer, let server = rows[1].integer(0, 3) {
        state.offset = CommitLeader.offset(of: server, between: before.wall, and: reading.wall)
      }
      let highest = StoreVersion(microseconds: max(last.version, last.floor))
      state.clock.follow(highest, at: CommitLeader.corrected(reading, state))
    }
    news.tell(others.map(\.version))
    return last
  }

  /// The least lead of the server's clock, if it was read some time between two readings of the own one.
  static func offset(of server: Int64, between before: Int64, and after: Int64) -> Int64 {
    if server > after { return server - after }
    return server < before ? server - before : 0
  }

  /// Notes what is committed, and notifies observers.
  private func finish(_ unit: CommitUnit) -> CommitUnit {
    state.withLock { state in
      for commit in unit.commits where commit.version > state.known { state.log.add(commit.version, commit.changes) }
      state.known = max(state.known, unit.version)
      if unit.version >= state.last.version {
        state.last = CommitState(version: unit.version, floor: unit.floor, hasLong: unit.hasLong)
      }
      if !unit.commits.isEmpty { state.units += 1 }
    }
    news.tell(unit.commits.map(\.version))
    return unit
  }

  /// Before which version commits are forgotten; `nil` most of the time.
  ///
  /// Versions may jump with a clock, so it is the version that was the last one an hour ago by the steady clock.
  private func horizon() -> Int64? {
    let now = ContinuousClock.now
    return state.withLock { state in
      guard state.units % 32 == 0 else { return nil }
      if state.marks.last.map({ now - $0.time > .seconds(300) }) ?? true { state.marks.append((now, state.known)) }
      let old = state.marks.prefix { now - $0.time > CommitLeader.kept }
      state.marks.removeFirst(max(0, old.count - 1))
      return old.last?.version
    }
  }

  // MARK: The connection

  private func connection() async throws -> PostgresConnection {
    if let connection = state.withLock({ $0.connection }) { return connection }
    let connection = try await open()
    state.withLock { $0.connection = connection }
    return connection
  }

  private func dropConnection() {
    let connection = state.withLock { state in
      defer { state.connection = nil }
      return state.connection
    }
    connection?.drop()
  }

  /// Drops the connection; no request is waiting.
  func stop() { dropConnection() }
}
