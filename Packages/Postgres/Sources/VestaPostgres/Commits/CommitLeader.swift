import VestaConcurrency
import VestaStoreInterop

/// Commits what waits, as many transactions at a time as there are, in one transaction of PostgreSQL.
///
/// Bodies run side by side and hold nothing. A transaction that has been told its version has reserved it; who reserved
/// later waits a moment for it, so that versions become visible in their order. Then one task, the leader, takes all
/// that are ready: it locks the row of the store's state (one round trip, which also brings what other processes have
/// committed), refuses those whose reads have changed or whose version is behind, and writes the others in a second
/// round trip that ends with COMMIT. No code of a body runs while the lock is held.
///
/// A unit that gets no answer to its COMMIT is looked for afterwards, under the lock, when no old transaction can be
/// under way any more: its commits carry its number.
final class CommitLeader: Sendable {
  private struct State: Sendable {
    var clock: VersionClock
    var known: Int64
    var log: ConflictLog
    /// The lead of the server's clock over this machine's, in microseconds.
    var offset: Int64 = 0
    /// Versions that were told to bodies which are running.
    var running: Set<Int64> = []
    var queue: [CommitRequest] = []
    var alone: [LoneTransaction] = []
    var isLeading = false
    var isSignalled = false
    var parked: CheckedContinuation<Void, Never>?
    var connection: PostgresConnection?
    var units = 0
    var lastSync = ContinuousClock.now
  }

  /// How long a version waits for lower ones that are reserved.
  private static let courtesy: Duration = .milliseconds(5)
  /// How many transactions share a commit.
  private static let largestUnit = 256
  /// The largest difference of the clocks of server and machine before the server's is followed: two seconds.
  private static let tolerance: Int64 = 2_000_000
  /// For how many microseconds commits are listed.
  private static let kept: Int64 = 3_600_000_000

  private let state: Locked<State>
  private let schema: Schema
  private let news: CommitNews
  private let clock: StoreClock
  private let followsServer: Bool
  private let patience: Duration
  private let open: @Sendable () async throws -> PostgresConnection

  /// - Parameters:
  ///   - version: The last version of the store.
  ///   - floor: The floor of the store.
  ///   - followsServer: Whether a clock that differs much from the server's is put right.
  ///   - patience: For how long a server that is away is waited for.
  ///   - open: Opens the connection that commits.
  init(
    version: Int64, floor: Int64, schema: Schema, news: CommitNews, clock: StoreClock, followsServer: Bool,
    patience: Duration, open: @escaping @Sendable () async throws -> PostgresConnection
  ) {
    let start = VersionClock(floor: StoreVersion(microseconds: max(version, floor)))
    state = Locked(State(clock: start, known: version, log: ConflictLog(base: version)))
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

  private static func corrected(_ reading: StoreTime, _ state: State) -> StoreTime {
    abs(state.offset) > tolerance ? StoreTime(wall: reading.wall + state.offset, steady: reading.steady) : reading
  }

  /// Raises the floor, durably.
  func raise(to version: StoreVersion?) async throws -> StoreVersion {
    let reading = clock.now
    let (raised, isDone) = state.withLock { state -> (StoreVersion?, Bool) in
      // What is committed is visible, and nothing comes below it.
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

  /// Waits for a transaction that is run under the lock, while nobody else commits, in this process or another.
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
      let (unit, isDone) = state.withLock { state -> ([CommitRequest], Bool) in
        state.queue.removeAll { $0.turn.isOver }
        let unit = CommitLeader.ready(state, now: .now)
        state.queue.removeAll { request in unit.contains { $0 === request } }
        if unit.isEmpty, state.queue.isEmpty, state.alone.isEmpty {
          state.isLeading = false
          return ([], true)
        }
        return (unit, false)
      }
      if isDone { return }
      if unit.isEmpty { await pause() } else { await commit(unit) }
    }
  }

  /// The requests that may proceed: none with a lower version is running, or it has had time enough.
  private static func ready(_ state: State, now: ContinuousClock.Instant) -> [CommitRequest] {
    let sorted = state.queue.sorted { $0.version < $1.version }
    guard let lowest = state.running.min(), let oldest = sorted.map(\.since).min(), now - oldest < courtesy else {
      return Array(sorted.prefix(largestUnit))
    }
    return Array(sorted.prefix { $0.version < lowest }.prefix(largestUnit))
  }

  /// Waits until something has changed, or some milliseconds have gone by.
  private func pause() async {
    let timer = Task {
      try? await Task.sleep(for: CommitLeader.courtesy)
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

  /// Commits a unit, and tells everybody what has come of it.
  private func commit(_ requests: [CommitRequest]) async {
    // Whoever has been cancelled by now is out; from here on a commit is completed.
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
    let number = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    var sent: CommitUnit?
    do {
      let (connection, last) = try await lock()
      let request = await lone.run()
      if let request { _ = state.withLock { $0.running.remove(request.version) } }
      let requests = request.map { [$0] } ?? []
      let unit = CommitUnit(requests, version: last.version, floor: last.floor, log: state.withLock { $0.log })
      guard let request, !unit.accepted.isEmpty else {
        connection.send(Schema.rollback)
        return continuation.resume(returning: request == nil ? nil : .conflict)
      }
      sent = unit
      try await connection.run(
        unit.statements(in: schema, unit: number, hasLong: last.hasLong, forgettingBefore: nil))
      _ = finish(unit)
      continuation.resume(returning: .committed(request.version))
    } catch {
      dropConnection()
      continuation.resume(returning: await afterFailure(error, of: sent, number))
    }
  }

  /// Finds out whether a unit that was sent and not answered was committed; if not, the bodies run again.
  private func afterFailure(_ error: any Error, of unit: CommitUnit?, _ number: [UInt8]) async -> CommitRequest.Outcome
  {
    guard let failure = error as? PostgresFailure, failure.isConflict || failure.isPassing else {
      return .failed(StoreError(error, operation: "commit"))
    }
    guard let unit, failure.isPassing else { return .conflict }
    let deadline = ContinuousClock.now + patience
    while ContinuousClock.now < deadline {
      if let (connection, _) = try? await lock(), let isThere = try? await isThere(unit, number, connection) {
        if isThere, let version = unit.commits.last?.version {
          _ = finish(unit)
          return .committed(version)
        }
        connection.send(Schema.rollback)
        return .conflict
      }
      dropConnection()
      try? await Task.sleep(for: .milliseconds(250))
    }
    return .failed(.unknownOutcome)
  }

  /// Commits, again where the server or a connection was away or somebody was in the way.
  private func settled(_ requests: [CommitRequest]) async throws -> CommitUnit {
    let number = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    let deadline = ContinuousClock.now + patience
    var wait = Duration.milliseconds(10)
    // What was sent with a COMMIT that nobody has answered.
    var uncertain: CommitUnit?
    while true {
      do {
        let (connection, last) = try await lock()
        if let unit = uncertain {
          if try await isThere(unit, number, connection) { return finish(unit) }
          uncertain = nil
        }
        let unit = CommitUnit(requests, version: last.version, floor: last.floor, log: state.withLock { $0.log })
        if unit.accepted.isEmpty {
          connection.send(Schema.rollback)
          return finish(unit)
        }
        let statements = unit.statements(
          in: schema, unit: number, hasLong: last.hasLong, forgettingBefore: horizon(last.version))
        uncertain = unit.commits.isEmpty ? nil : unit
        try await connection.run(statements)
        return finish(unit)
      } catch {
        dropConnection()
        guard let failure = error as? PostgresFailure, failure.isConflict || failure.isPassing else { throw error }
        // A conflict is a refusal of the whole; a server that goes down may have committed before.
        if failure.isConflict { uncertain = nil }
        guard ContinuousClock.now + wait < deadline else {
          if uncertain == nil { throw error }
          throw StoreError.unknownOutcome
        }
        try? await Task.sleep(for: wait)
        wait = min(wait * 2, .seconds(1))
      }
    }
  }

  private struct Last {
    var version: Int64
    var floor: Int64
    var hasLong: Bool
  }

  /// Locks the store's state, and learns and tells what others have committed.
  private func lock() async throws -> (PostgresConnection, Last) {
    let connection = try await connection()
    let (known, clockBefore) = (self.known, clock.now)
    let rows = try await connection.run(schema.lock(after: known))
    guard rows.count == 5, let version = rows[2].integer(0, 0), let floor = rows[2].integer(0, 1),
      let long = rows[2].integer(0, 2)
    else { throw StoreError(.corrupt, operation: "commit", message: "The row of the store's state is not there.") }
    var others: [(version: Int64, changes: ChangedKeys)] = []
    for row in rows[3].rows {
      guard row.count == 2, let number = row[0].flatMap(Rows.integer), let bytes = row[1] else { continue }
      others.append((number, try ChangedKeys(bytes)))
    }
    let reading = clock.now
    state.withLock { state in
      if version < known || ContinuousClock.now - state.lastSync > .seconds(3_000) {
        // The list of commits may not go back so far.
        state.log = ConflictLog(base: version)
      } else {
        for other in others { state.log.add(other.version, other.changes) }
      }
      state.lastSync = .now
      state.known = max(state.known, version)
      if followsServer, let server = rows[4].integer(0, 0) {
        state.offset = server - (clockBefore.wall + reading.wall) / 2
      }
      let highest = StoreVersion(microseconds: max(version, floor))
      state.clock.follow(highest, at: CommitLeader.corrected(reading, state))
    }
    news.tell(others.map(\.version))
    return (connection, Last(version: version, floor: floor, hasLong: long != 0))
  }

  /// Whether a unit whose COMMIT was not answered has been committed; the lock is held, so nothing is under way.
  private func isThere(_ unit: CommitUnit, _ number: [UInt8], _ connection: PostgresConnection) async throws -> Bool {
    guard let version = unit.commits.last?.version else { return false }
    let rows = try await connection.run(schema.unit(of: version))
    guard rows.first?.bytes(0, 0) == number else { return false }
    connection.send(Schema.rollback)
    return true
  }

  /// Records the commits of a unit, and reports them.
  private func finish(_ unit: CommitUnit) -> CommitUnit {
    state.withLock { state in
      for commit in unit.commits where commit.version > state.known { state.log.add(commit.version, commit.changes) }
      state.known = max(state.known, unit.version)
      if !unit.commits.isEmpty { state.units += 1 }
    }
    news.tell(unit.commits.map(\.version))
    return unit
  }

  /// Before which version commits are forgotten; `nil` most of the time.
  private func horizon(_ version: Int64) -> Int64? {
    state.withLock { $0.units } % 512 == 0 ? version - CommitLeader.kept : nil
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

  /// Drops the connection; nothing is waiting any more.
  func stop() { dropConnection() }
}
