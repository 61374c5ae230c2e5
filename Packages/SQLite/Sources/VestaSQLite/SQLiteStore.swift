public import VestaConcurrency
public import VestaStoreInterop

/// An ordered store in one SQLite file.
///
/// Reads run on the calling thread, without suspending, each on a separate reader connection and snapshot. Writes
/// take turns: the task that finds the turn free runs its body at once, in its own task and on its own thread. A task
/// that arrives in the meantime waits, and is served by the leader within the same commit, so transactions share
/// one sync.
///
/// - A crash at any time leaves every transaction that was acknowledged, and of the others each whole or not at all.
/// - A body that waits for something slow delays the writers after it, never a reader.
/// - A transaction body may run in another task than the one that called `write`, as the contract says; it may run
///   again when that task is cancelled.
///
/// ```swift
/// let store = try await SQLiteStore.open(named: "notes", in: "/var/lib/app")
/// try await store.write { try await $0.put(Array("hello".utf8), for: Array("greeting".utf8)) }
/// let greeting = try await store.read { try await $0.get(Array("greeting".utf8)) }
/// try await store.close()
/// ```
public final class SQLiteStore: OrderedStore, CommitObservable {
  struct Turns {
    var queue = WriteQueue()
    var whenIdle = Waiters()
  }

  let readers: ReaderPool
  let writer: WriterSession
  let bodies = StoreBodies()
  let files: StoreFiles
  let tuning: StoreTuning
  let versions: StoreVersions
  let commitNotifications = ListenerRegistry<StoreVersion>()
  let turns = Locked(Turns())
  private let isEnding = Locked(false)
  private let ended = Latch()
  private let visible: VisibleVersion

  struct Floors {
    /// Later commits are above this version after a crash too, without another write.
    var durable: StoreVersion
    /// The highest floor that has been asked for; closing makes it durable.
    var raised: StoreVersion
  }

  let floors: Locked<Floors>

  /// Opens a store, and makes it when it is not there; with the promises of `StoreProvider.openStore`.
  ///
  /// After a crash this brings the file back into order, which takes longer the longer the log is: about 0.1 s.
  ///
  /// - Parameters:
  ///   - name: The name of the content; the name of its directory.
  ///   - directory: The directory above.
  ///   - options: How the store is to behave.
  /// - Returns: The open store; close it.
  /// - Throws: `StoreError` with the path and a hint; nothing is left open then.
  public static func open(
    named name: String, in directory: String, options: StoreOptions = StoreOptions()
  ) async throws -> SQLiteStore {
    try SQLiteStore(named: name, in: directory, options: options, tuning: StoreTuning())
  }

  init(named name: String, in directory: String, options: StoreOptions, tuning: StoreTuning) throws {
    files = try StoreFiles(name: name, in: directory)
    try files.prepareDatabase()
    let reserve = StoreReserve(path: files.reserve, tuning: tuning)
    writer = try WriterSession(path: files.database, reserve: reserve, options: options, tuning: tuning)
    try files.noteOpened()
    try files.markComplete()
    versions = StoreVersions(above: max(writer.version, writer.floor), clock: options.clock)
    floors = Locked(Floors(durable: writer.floor, raised: max(writer.version, writer.floor)))
    visible = writer.visible
    readers = ReaderPool(path: files.database, tuning: tuning)
    self.tuning = tuning
  }

  /// The database file.
  public var path: String { files.database }

  // MARK: Reading

  /// Reads at one version in time; see `OrderedStore`.
  ///
  /// Up to 64 bodies read at once; a body beyond them waits, suspended, unless it is inside another one.
  public func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try Task.checkCancellation()
    let lease = try await readers.acquire(inside: bodies.current())
    let reader = SQLiteReader(lease.connection, visible)
    do {
      let result = try await bodies.run(.read) { try await body(reader) }
      if let failure = reader.failure { throw failure }
      try reader.end()
      readers.release(lease)
      return result
    } catch {
      retire(lease, reader)
      throw error
    }
  }

  /// Takes a connection back from a read that failed; one that is broken is not used again.
  private func retire(_ lease: ReaderLease, _ reader: SQLiteReader) {
    do {
      try reader.end()
      if lease.connection.isInTransaction { try lease.connection.run(.rollback) }
      readers.release(lease)
    } catch {
      readers.discard(lease)
    }
  }

  // MARK: Writing

  /// Changes the store: all of the body's changes, or none; see `OrderedStore`.
  @discardableResult
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    try Task.checkCancellation()
    try bodies.refuseInside(.write, "write", path: path)
    let result = Locked<Result?>(nil)
    let request = WriteRequest { transaction in
      let value = try await body(transaction)
      result.withLock { $0 = value }
    }
    let outcome = await withTaskCancellationHandler {
      await submit(request)
    } onCancel: {
      cancel(request)
    }
    let version = try outcome.get()
    guard let value = result.withLock({ $0 }) else { throw CancellationError() }
    return StoreCommit(value: value, version: version)
  }

  // MARK: Versions

  /// How far a floor is made durable ahead of the one asked for, so that not every call writes: one second.
  private static let floorStep: Int64 = 1_000_000

  /// Raises the floor of later versions; see `OrderedStore`.
  ///
  /// About once a second this writes to the file, so that the floor survives a restart.
  @discardableResult
  public func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion {
    try bodies.refuseInside(.write, "raiseFloor", path: path)
    if turns.withLock({ $0.queue.isClosed }) { throw StoreError(.closed, operation: "raiseFloor", path: path) }
    let raised = try await bodies.whileWaiting("raiseFloor", path: path) { try await versions.raise(to: version) }
    // A version at or below the last floor written survives a crash already, and closing writes the highest one.
    let isDurable = floors.withLock { floors in
      floors.raised = max(floors.raised, raised)
      return raised <= floors.durable
    }
    if turns.withLock({ $0.queue.isClosed }) { throw StoreError(.closed, operation: "raiseFloor", path: path) }
    guard !isDurable else { return raised }
    let writer = writer
    try await write { transaction in
      let floor = StoreVersion(microseconds: raised.microseconds + Self.floorStep)
      guard raised > writer.floor, let transaction = transaction as? SQLiteTransaction else {
        return
      }
      try transaction.setFloor(floor)
    }
    return raised
  }

  // MARK: Commits

  /// Observers are called by the task that commits a group of writes, before any of these returns.
  public var tellsBeforeAcknowledging: Bool { true }

  /// Calls back after every commit; see `CommitObservable`.
  public func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> ListenerRegistration {
    commitNotifications.add(observer)
  }

  /// The commits from here on as a stream, none left out; it ends when the store is closed.
  public var commits: AsyncStream<StoreVersion> { commitNotifications.events }

  // MARK: Closing

  /// Ends the store; see `OrderedStore`.
  ///
  /// The log is written back into the file on the way, so that the file alone is the whole store then.
  public func close() async throws {
    try bodies.refuseInside(nil, "close", path: path)
    let isFirst = isEnding.withLock { isEnding in
      defer { isEnding = true }
      return !isEnding
    }
    guard isFirst else { return await ended.wait() }
    // Writes first: who sees that reads are refused knows that waiting writes are.
    refuseWrites()
    readers.refuse()
    // The transactions that have begun are committed.
    await turns.wait(in: \.whenIdle) { $0.queue.isIdle }
    await readers.close()
    writer.noteEnd(floor: floors.withLock { $0.raised })
    writer.close()
    writer.reserve.close()
    commitNotifications.finish()
    files.release()
    ended.open()
  }

  /// Refuses new and waiting transactions.
  private func refuseWrites() {
    let refused = turns.withLock { $0.queue.close() }
    for waiter in refused { waiter.resume(.done(.failure(StoreError(.closed, operation: "write", path: path)))) }
  }

  /// Makes every sync of the writer take so much longer, to see what a slow disk would do.
  ///
  /// - Parameter microseconds: How much longer; zero for no longer.
  @_spi(Benchmarking)
  public func delaySyncs(microseconds: Int) async throws {
    try await withTurn { $0.delaySyncs(microseconds: microseconds) }
  }

  /// Uses the writer exclusively.
  func withTurn(_ body: @escaping @Sendable (WriterSession) throws -> Void) async throws {
    let writer = writer
    try await write { _ in try body(writer) }
  }

  /// How many transactions wait to be served.
  var waitingWrites: Int { turns.withLock { $0.queue.waitingCount } }

  /// How many pages the log had after the last commit.
  func logPages() async throws -> Int {
    let pages = Locked(0)
    try await withTurn { writer in pages.withLock { $0 = writer.logPages } }
    return pages.withLock { $0 }
  }
}
