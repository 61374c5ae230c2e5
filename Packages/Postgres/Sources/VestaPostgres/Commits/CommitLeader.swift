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
    var ledger: CommitLedger
    var queue = CommitQueue()
    var connection: PostgresConnection?
  }

  private let state: Locked<State>
  let schema: Schema
  let patience: Duration
  private let reports: CommitReports
  private let clock: StoreClock
  private let open: @Sendable () async throws -> PostgresConnection

  /// - Parameters:
  ///   - last: The state of the store.
  ///   - offset: The lead of the server's clock over this machine's, in microseconds.
  ///   - followsServer: Whether a clock that differs much from the server's is put right.
  ///   - patience: For how long a server that is away is waited for.
  ///   - open: Opens the connection that commits.
  init(
    _ last: CommitState, offset: Int64, schema: Schema, reports: CommitReports, clock: StoreClock, followsServer: Bool,
    patience: Duration, open: @escaping @Sendable () async throws -> PostgresConnection
  ) {
    state = Locked(
      State(ledger: CommitLedger(last, offset: followsServer ? offset : nil, now: schema.tuning.now(), schema.tuning)))
    self.schema = schema
    self.reports = reports
    self.clock = clock
    self.patience = patience
    self.open = open
  }

  /// The last version that this process knows to be committed.
  var known: Int64 { state.withLock { $0.ledger.known } }

  /// How many units have been committed, for tests.
  var unitCount: Int { state.withLock { $0.ledger.units } }

  /// The keys that the last commits have changed.
  var log: ConflictLog { state.withLock { $0.ledger.log } }

  /// The row of the store's state, as it was seen last, and whether it is likely to be the same still.
  var seen: (state: CommitState, isAlone: Bool) { state.withLock { ($0.ledger.last, $0.ledger.isAlone) } }

  // MARK: Versions

  /// The next version; it belongs to a body until it is committed or abandoned.
  func reserve() -> Int64 {
    let reading = clock.now
    return state.withLock { $0.ledger.reserve(at: reading) }
  }

  func abandon(_ version: Int64) {
    release(version)
    wake()
  }

  func release(_ version: Int64) { state.withLock { $0.ledger.release(version) } }

  /// Raises the floor, durably.
  func raise(to version: StoreVersion?) async throws -> StoreVersion {
    let reading = clock.now
    switch state.withLock({ $0.ledger.raise(to: version, at: reading) }) {
    case .done(let version): return version
    case .commit(let version):
      let request = CommitRequest(floor: version.microseconds, since: schema.tuning.now())
      if case .failed(let error) = try await commit(request) { throw error }
      return version
    case .refused:
      throw StoreError(
        .futureVersion, operation: "raiseFloor",
        message: "The version lies more than a minute in the future of the store's clock.",
        hint: "Use a version of the past, or check the clocks of the machines.")
    }
  }

  // MARK: Waiting

  /// Waits for the commit of a transaction.
  ///
  /// - Throws: `CancellationError` when its task is cancelled before the leader has taken it; nothing is kept then.
  func commit(_ request: CommitRequest) async throws -> CommitRequest.Outcome {
    try await request.turn.wait { _ in
      lead(
        state.withLock { state in
          state.ledger.release(request.version)
          return state.queue.add(request)
        })
    } onCancel: { _ in
      self.wake()
    }
  }

  /// Waits for a transaction that is run under the lock, without concurrent commits in this process or another.
  ///
  /// - Returns: `nil` where it has changed nothing.
  func commit(alone transaction: LoneTransaction) async throws -> CommitRequest.Outcome? {
    try await transaction.turn.wait { _ in lead(state.withLock { $0.queue.add(transaction) }) }
  }

  private func lead(_ mustLead: Bool) {
    if mustLead { Task.detached { await self.lead() } } else { wake() }
  }

  private func lead() async {
    while true {
      let next = state.withLock { state in
        state.queue.next(running: state.ledger.running, now: schema.tuning.now(), schema.tuning)
      }
      switch next {
      case .transaction(let lone): await commit(lone)
      case .unit(let unit): await commit(unit)
      case .pause: await pause()
      case .end: return
      }
    }
  }

  /// Waits until something has changed, or some milliseconds have passed.
  private func pause() async {
    let timer = Task {
      try? await self.schema.tuning.sleep(self.schema.tuning.courtesy)
      self.wake()
    }
    await withCheckedContinuation { continuation in
      if !state.withLock({ $0.queue.park(continuation) }) { continuation.resume() }
    }
    timer.cancel()
  }

  private func wake() { state.withLock { $0.queue.signal() }?.resume() }

  // MARK: The ledger and the server

  /// Locks the store's state, reads the commits of other processes, and notifies their observers.
  func lock() async throws -> (PostgresConnection, CommitState) {
    let connection = try await connection()
    let (known, before) = (self.known, clock.now)
    let rows = try await connection.run(schema.lock(after: known))
    return (connection, try absorb(rows, known, before))
  }

  /// The time of the store's clock.
  var now: StoreTime { clock.now }

  /// Takes over the rows that were read with the lock.
  ///
  /// - Parameters:
  ///   - known: The version that was asked after.
  ///   - before: When it was asked.
  @discardableResult
  func absorb(_ rows: [Rows], _ known: Int64, _ before: StoreTime) throws -> CommitState {
    guard rows.count >= 3, let last = CommitState(rows[1]) else {
      throw StoreError(.corrupt, operation: "commit", message: "The row of the store's state is not there.")
    }
    let others = try CommitLeader.commits(rows[2])
    let reading = CommitLedger.Reading(
      state: last, others: others, known: known, server: rows[1].integer(0, 3), asked: before, answered: clock.now)
    state.withLock { $0.ledger.absorb(reading, now: schema.tuning.now()) }
    reports.report(others.map(\.version))
    return last
  }

  /// The commits of other processes, with the keys that they have changed.
  private static func commits(_ rows: Rows) throws -> [(version: Int64, changes: ChangedKeys)] {
    try rows.rows.compactMap { row in
      guard row.count == 2, let number = row[0].flatMap(Rows.integer), let bytes = row[1] else { return nil }
      return (number, try ChangedKeys(bytes))
    }
  }

  /// Notes what is committed, and notifies observers.
  @discardableResult
  func finish(_ unit: CommitUnit) -> CommitUnit {
    state.withLock { $0.ledger.finish(unit) }
    reports.report(unit.commits.map(\.version))
    return unit
  }

  /// Notes a state that bars a commit.
  func note(barred: CommitState) { state.withLock { $0.ledger.note(barred) } }

  /// Before which version commits are forgotten; `nil` most of the time.
  func horizon() -> Int64? { state.withLock { $0.ledger.horizon(at: schema.tuning.now()) } }

  // MARK: The connection

  func connection() async throws -> PostgresConnection {
    if let connection = state.withLock({ $0.connection }) { return connection }
    let connection = try await open()
    state.withLock { $0.connection = connection }
    return connection
  }

  func dropConnection() {
    let connection = state.withLock { state in
      defer { state.connection = nil }
      return state.connection
    }
    connection?.drop()
  }

  /// Drops the connection; no request is waiting.
  func stop() { dropConnection() }
}
