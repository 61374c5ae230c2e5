public import VestaConcurrency
public import VestaStoreInterop

/// An `OrderedStore` in PostgreSQL, which any number of processes may have open.
///
/// - **Reads** see one snapshot, a transaction of PostgreSQL that only reads: one round trip to begin, one for each
///   `get`, one for each page of a scan. They wait for a connection of the pool, in order of arrival.
/// - **Writes** run their bodies side by side and keep their changes until the end; the commit checks that what was
///   read has not changed. A body runs again where it has, and after some attempts without concurrent commits.
///   Transactions of a process that are ready at the same time share a commit.
/// - **Versions** are handed out while the row of the store's state is locked, so they are the order of the commits in
///   all processes.
public final class PostgresStore: CommitObservable {
  let core: StoreCore
  private let loop: PostgresLoop
  private let listener: CommitListener
  private let bodies = StoreBodies()
  private let reads = FairQueue(limit: .max)
  private let writes = FairQueue(limit: .max)
  private let onClose: @Sendable () -> Void
  private let ended = Latch()

  private init(
    _ core: StoreCore, _ loop: PostgresLoop, _ listener: CommitListener, onClose: @escaping @Sendable () -> Void
  ) {
    self.core = core
    self.loop = loop
    self.listener = listener
    self.onClose = onClose
  }

  /// Opens a store.
  ///
  /// - Parameters:
  ///   - followsServer: Whether a clock that differs much from the server's is put right.
  ///   - lookup: Looks names of hosts up.
  ///   - onClose: Called when the store has been closed.
  static func open(
    named name: String, in space: String, options: PostgresOptions, storeOptions: StoreOptions, followsServer: Bool,
    lookup: @escaping Connector.Lookup = PlatformNames.addresses, onClose: @escaping @Sendable () -> Void = {}
  ) async throws -> PostgresStore {
    guard let url = options.url ?? environmentValue("VESTA_POSTGRES_URL") else {
      throw StoreError(
        .inputOutput, operation: "open", message: "There is no connection string.",
        hint: "Set PostgresOptions.url or the environment's VESTA_POSTGRES_URL to postgresql://user@host/database.")
    }
    let schema = Schema(
      prefix: try checked(options.schemaPrefix), store: name, directory: space, tuning: options.tuning)
    do {
      let connector = try Connector(url, password: options.password, tuning: options.tuning, lookup: lookup)
      let loop = try PostgresLoop(patience: options.patience, now: options.tuning.now)
      do {
        let core = try await core(schema, loop, connector, options, storeOptions, followsServer: followsServer)
        return PostgresStore(core, loop, CommitListener(core, loop, connector), onClose: onClose)
      } catch {
        loop.stop()
        throw error
      }
    } catch {
      throw StoreError(error, operation: "open")
    }
  }

  /// Connects the parts of a store, after its tables have been prepared.
  private static func core(
    _ schema: Schema, _ loop: PostgresLoop, _ connector: Connector, _ options: PostgresOptions,
    _ storeOptions: StoreOptions, followsServer: Bool
  ) async throws -> StoreCore {
    let (last, offset) = try await patiently(options.tuning) {
      try await prepare(schema, loop, connector, storeOptions.clock)
    }
    let reports = CommitReports(after: last.version)
    let setting = Schema.committing(
      isDurable: storeOptions.durability == .full, lockWait: Schema.lockWait(within: options.patience))
    let leader = CommitLeader(
      last, offset: offset, schema: schema, reports: reports, clock: storeOptions.clock,
      followsServer: followsServer, patience: options.patience
    ) {
      let connection = try await loop.open(connector)
      try await connection.run(setting)
      connection.send(Schema.keepAlive)
      return connection
    }
    let pool = ConnectionPool(loop: loop, connector: connector, limit: options.connections)
    return StoreCore(schema: schema, pool: pool, leader: leader, reports: reports)
  }

  /// Tries again where a server that is starting, or has too many connections just now, may answer the next time.
  private static func patiently<Result>(
    _ tuning: PostgresTuning, _ body: () async throws -> Result
  ) async throws -> Result {
    var failures = 0
    while true {
      do {
        return try await body()
      } catch let error as PostgresFailure where error.isPassing {
        failures += 1
        guard let pause = tuning.openRetry.pause(after: failures) else { throw error }
        try await tuning.sleep(pause)
      }
    }
  }

  private static func checked(_ prefix: String) throws -> String {
    let isFine =
      (1...10).contains(prefix.utf8.count)
      && prefix.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
          || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      }
    if isFine, !"\(prefix)_".lowercased().hasPrefix("pg_") { return prefix }
    if isFine {
      throw StoreError(
        .invalidName, operation: "open", message: "PostgreSQL keeps names of schemas that begin with pg_ for itself.",
        hint: "Use another PostgresOptions.schemaPrefix, such as \"vesta\".")
    }
    throw StoreError(
      .invalidName, operation: "open", message: "A schema's name cannot begin with \(prefix.debugDescription).",
      hint: "Use up to ten letters, digits and '_'.")
  }

  /// Makes the tables where they are not there, and refuses another program's tables.
  ///
  /// - Returns: The state of the store, and what the server's clock is ahead of this machine's.
  private static func prepare(
    _ schema: Schema, _ loop: PostgresLoop, _ connector: Connector, _ clock: StoreClock
  ) async throws -> (CommitState, offset: Int64) {
    let connection = try await loop.open(connector)
    defer { connection.drop() }
    try await makeTables(schema, connection)
    try await checkIdentity(schema, connection)
    guard let last = CommitState(try await connection.run(schema.state)[0]) else {
      throw StoreError(.corrupt, operation: "open", message: "The row of the store's state is not there.")
    }
    let before = clock.now
    let server = try await connection.run(Schema.clock)[0].integer(0, 0) ?? before.wall
    return (last, CommitLedger.offset(of: server, between: before.wall, and: clock.now.wall))
  }

  private static func makeTables(_ schema: Schema, _ connection: PostgresConnection) async throws {
    let tables = try await connection.run(schema.inspection)[0]
    let (ours, all) = (tables.integer(0, 0) ?? 0, tables.integer(1, 0) ?? 0)
    guard all == 0 || ours == 4 else {
      throw StoreError(
        .notADatabase, operation: "open", message: "The schema \(schema.name) has tables that are no store's.",
        hint: "Choose another prefix or space in PostgresOptions.")
    }
    if all == 0 {
      let begin = Statement("BEGIN", isPrepared: false)
      try await connection.run([begin] + schema.creation + [Schema.commit])
    }
  }

  /// Refuses the tables of another store, and of a later version.
  private static func checkIdentity(_ schema: Schema, _ connection: PostgresConnection) async throws {
    let identity = try await connection.run(schema.identity)[0]
    let form = identity.integer(0, 0) ?? 0
    guard form <= Schema.form else {
      throw StoreError(
        .newerSchema, operation: "open", message: "The schema \(schema.name) was written by a later version of Vesta.",
        hint: "Use that version or a later one.")
    }
    guard let found = identity.bytes(0, 1), String(decoding: found, as: UTF8.self) == schema.store, form > 0 else {
      throw StoreError(
        .notADatabase, operation: "open", message: "The schema \(schema.name) is not the store \"\(schema.store)\".",
        hint: "Choose another prefix or space in PostgresOptions.")
    }
  }

  // MARK: Reading

  /// Reads from one snapshot; see `OrderedStore`.
  public func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await read(nil, body)
  }

  /// Reads from one snapshot, and brings what the body reads first with its beginning, in one round trip.
  ///
  /// - Parameters:
  ///   - first: The keys that the body reads first.
  ///   - body: The read.
  public func read<Result>(
    expecting first: @autoclosure () -> StoreFirstRead, _ body: (any StoreReader) async throws -> Result
  ) async throws -> Result {
    try await read(.some(first()), body)
  }

  private func snapshot(_ first: StoreFirstRead?) async throws -> PostgresSnapshot {
    do {
      return try await PostgresSnapshot.begin(
        core.pool, core.schema, isInside: bodies.current() != nil, reading: first)
    } catch let error as PostgresFailure {
      throw StoreError(error, operation: "read")
    }
  }

  private func read<Result>(
    _ first: StoreFirstRead?, _ body: (any StoreReader) async throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    guard try reads.enterIfFree() else { throw StoreError.closed("read") }
    defer { reads.leave() }
    let reader = PostgresReader(try await snapshot(first))
    do {
      let result = try await bodies.run(.read) { try await body(reader) }
      if let failure = reader.end() { throw failure }
      return result
    } catch {
      _ = reader.end()
      throw error
    }
  }

  // MARK: Writing

  /// Changes the store: all of the body's changes, or none; see `OrderedStore`.
  @discardableResult
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    try Task.checkCancellation()
    try bodies.refuseInside(.write, "write")
    guard try writes.enterIfFree() else { throw StoreError.closed("write") }
    defer { writes.leave() }
    for attempt in 1... {
      if attempt > core.schema.tuning.attemptsBeside { return try await writeAlone(body) }
      let transaction = PostgresTransaction(core, isInside: bodies.current() != nil)
      let (value, request): (Result, CommitRequest?)
      do {
        (value, request) = try await run(body, in: transaction)
      } catch {
        // A connection that broke while the body read has kept nothing of it.
        guard transaction.failure?.code == .inputOutput, attempt <= 2, !Task.isCancelled else { throw error }
        continue
      }
      guard let request else { return StoreCommit(value: value, version: transaction.version) }
      switch try await core.leader.commit(request) {
      case .committed(let version):
        return StoreCommit(value: value, version: StoreVersion(microseconds: version))
      case .failed(let error): throw error
      case .conflict: continue
      }
    }
    throw CancellationError()
  }

  /// Runs a body, and ends its transaction.
  ///
  /// - Returns: Its result, and the changes to commit; `nil` for none.
  private func run<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result, in transaction: PostgresTransaction
  ) async throws -> (Result, CommitRequest?) {
    do {
      let value = try await bodies.run(.write) { try await body(transaction) }
      try Task.checkCancellation()
      let request = try await transaction.outcome()
      transaction.abandon()
      transaction.end()
      return (value, request)
    } catch {
      transaction.abandon()
      transaction.end()
      throw error
    }
  }

  /// Runs a body without concurrent commits, in a task of the leader.
  private func writeAlone<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    for _ in 0..<max(1, core.schema.tuning.attemptsBeside) {
      let box = Locked<(result: Swift.Result<Result, any Error>, version: StoreVersion)?>(nil)
      let lone = LoneTransaction {
        let transaction = PostgresTransaction(self.core, isInside: true)
        do {
          let (value, request) = try await self.run(body, in: transaction)
          box.withLock { $0 = (.success(value), transaction.version) }
          return request
        } catch {
          box.withLock { $0 = (.failure(error), transaction.version) }
          return nil
        }
      }
      let outcome = try await core.leader.commit(alone: lone)
      switch outcome {
      case .conflict?: continue
      case .failed(let error)?: throw error
      case .committed(let version)?:
        guard let value = try box.withLock({ $0 })?.result.get() else { continue }
        return StoreCommit(value: value, version: StoreVersion(microseconds: version))
      case nil:
        guard let (result, version) = box.withLock({ $0 }) else { continue }
        return StoreCommit(value: try result.get(), version: version)
      }
    }
    throw StoreError(
      .conflict, operation: "write", message: "The transaction met others too often, and was given up.",
      hint: "Try again; spread what many change over several keys.")
  }

  /// How many round trips to the server were made, without the ones that open connections.
  @_spi(Benchmarking)
  public var roundTrips: Int { loop.roundTrips }

  // MARK: Versions

  /// Raises the floor of later versions; see `OrderedStore`.
  ///
  /// A version above the last commit that this process knows costs a commit.
  @discardableResult
  public func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion {
    try bodies.refuseInside(.write, "raiseFloor")
    guard try writes.enterIfFree() else { throw StoreError.closed("raiseFloor") }
    defer { writes.leave() }
    return try await core.leader.raise(to: version)
  }

  // MARK: Commits

  /// Calls back after every commit of any process; see `CommitObservable`.
  public func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> ListenerRegistration {
    listener.start()
    return core.reports.registry.add(observer)
  }

  /// The commits of all processes from here on as a stream, none left out; it ends when the store is closed.
  public var commits: AsyncStream<StoreVersion> {
    listener.start()
    return core.reports.registry.events
  }

  // MARK: Closing

  /// Ends the store: waits for running work, refuses later work, and closes the connections.
  public func close() async throws {
    try bodies.refuseInside(nil, "close")
    let isFirst = writes.close(throwing: StoreError.closed("write"))
    reads.close(throwing: StoreError.closed("read"))
    guard isFirst else { return await ended.wait() }
    await writes.drained()
    await reads.drained()
    await listener.stop()
    core.leader.stop()
    await core.pool.close()
    loop.stop()
    core.reports.finish()
    onClose()
    ended.open()
  }
}
