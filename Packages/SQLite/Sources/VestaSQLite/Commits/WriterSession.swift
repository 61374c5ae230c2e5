import CVestaSQLite
import CVestaStoreFiles
import VestaStoreInterop

/// The one connection that writes, and what is known about the file without asking it.
///
/// A body's changes lie in an open SQLite transaction. The first body of a group needs nothing else: when it fails, the
/// transaction is rolled back. Each body after the first has a savepoint, so that its failure is its own.
// Sound as @unchecked Sendable: touched by the task that has the turn in the `WriteQueue` alone.
final class WriterSession: @unchecked Sendable {
  let path: String
  /// The room for transactions that make room.
  let reserve: StoreReserve
  /// The log that the connection writes to.
  private var logIdentity: Platform.FileIdentity?
  private var lastFullDisk: ContinuousClock.Instant?
  private var hasLostLog = false
  private let options: StoreOptions
  private let tuning: StoreTuning
  private var connection: Connection?
  private var log: LogPolicy
  private var bodyHasSavepoint = false

  /// The version of the last commit.
  private(set) var version: StoreVersion

  /// The version that no later commit may be at or below, as the file has it.
  var floor: StoreVersion { stored.floor }

  /// The versions in the file, and the versions that the commit under way writes.
  private var stored: StoredVersions
  private var pending: StoredVersions?
  private var pendingBeforeBody: StoredVersions?

  /// The version that readers see.
  let visible: VisibleVersion

  /// Whether the table of large values may hold any.
  private(set) var hasLarge = false

  /// Opens the file, and makes the tables in an empty one.
  init(path: String, reserve: StoreReserve, options: StoreOptions, tuning: StoreTuning) throws {
    self.path = path
    self.reserve = reserve
    self.options = options
    self.tuning = tuning
    log = LogPolicy(checkpointPages: tuning.checkpointPages, limit: tuning.logLimit)
    // On a full disk the index of the log has no room.
    let fresh = try reserve.lending { try Self.open(path, reserve, options, tuning, "open") }
    stored = try EntryTable(connection: fresh).state()
    version = stored.last
    visible = try VisibleVersion(stored.last, path: path)
    try use(fresh, "open")
  }

  /// The map; a body has begun.
  func table() throws -> EntryTable { EntryTable(connection: try opened("write")) }

  /// Puts a value, and remembers whether large ones have to be looked for from now on.
  func put(_ value: [UInt8], for key: [UInt8], in table: EntryTable) throws {
    if table.isLarge(key: key.count, value: value.count) { hasLarge = true }
    try table.put(value, for: key, hasLarge: hasLarge)
  }

  /// Makes a floor durable with the commit that is under way.
  func setFloor(_ floor: StoreVersion, in table: EntryTable) throws {
    let raised = (pending ?? stored).raised(to: floor)
    try table.setState(raised)
    pending = raised
  }

  // MARK: Bodies

  /// Opens what the next body's changes can be undone by.
  func beginBody() throws {
    let connection = try opened("write")
    bodyHasSavepoint = connection.isInTransaction
    pendingBeforeBody = pending
    try connection.run(bodyHasSavepoint ? .savepoint : .beginWriting)
  }

  /// Keeps the body's changes for the commit.
  func keepBody() throws {
    if bodyHasSavepoint { try opened("write").run(.releaseSavepoint) }
  }

  /// Undoes the body's changes.
  func undoBody() throws {
    pending = pendingBeforeBody
    let connection = try opened("write")
    guard bodyHasSavepoint else { return try connection.run(.rollback) }
    try connection.run(.rollbackToSavepoint)
    try connection.run(.releaseSavepoint)
  }

  /// Whether there is a transaction to put a body in or to commit; SQLite gives one up by itself after some failures.
  var isInTransaction: Bool { connection?.isInTransaction ?? false }

  // MARK: Commits

  /// Makes everything since the first body durable and visible, under a version.
  ///
  /// - Throws: The failure. Nothing has been changed then, except after `unknownOutcome`, and the next body can
  ///   begin.
  func commit(_ version: StoreVersion, _ versions: StoreVersions) throws {
    let connection = try opened("commit")
    // Whether frames may be in the log.
    var isCommitting = false
    do {
      if version > self.version, let row = (pending ?? stored).covering(version) {
        try EntryTable(connection: connection).setState(row)
        pending = row
      }
      isCommitting = true
      try publish(version, on: connection)
    } catch {
      // On a full disk there may be no room to erase anything, and nothing whole to be erased.
      let isCut = store_files_log_is_cut(connection.handle) != 0
      abandon()
      if isCommitting, !isCut { try eraseFailedCommit(versions.next()) }
      throw error
    }
  }

  /// Ends the transaction of a connection with COMMIT; readers that begin from then on see the version.
  private func publish(_ version: StoreVersion, on connection: Connection) throws {
    var failure: (any Error)?
    let commit = { [self] () -> StoreVersion in
      do {
        try connection.run(.commit)
        self.version = max(self.version, version)
        stored = pending ?? stored
        pending = nil
      } catch {
        failure = error
      }
      return self.version
    }
    visible.change(syncs: options.durability == .full, commit)
    if let failure { throw failure }
  }

  /// Ends the transaction without keeping anything; a connection that cannot even do that is let go of.
  func abandon() {
    pending = nil
    guard let connection, connection.isInTransaction else { return }
    do {
      try connection.run(.rollback)
    } catch {
      close()
    }
  }

  /// Makes sure that a commit which was reported as failed does not reappear.
  ///
  /// Whatever fails in a commit (a write, the sync, the growth of the log's index), the whole of it may lie in the log
  /// all the same, and the next start after a crash would take it for good. An empty commit is written over its
  /// beginning.
  private func eraseFailedCommit(_ version: StoreVersion) throws {
    do {
      let connection = try opened("commit")
      try connection.run(.beginWriting)
      // A version is skipped: SQLite would write nothing if nothing were different.
      let floor = StoreVersion(microseconds: version.microseconds + StoredVersions.lead)
      let row = StoredVersions(version: version, floor: max(stored.floor, floor), isExact: false)
      try EntryTable(connection: connection).setState(row)
      pending = row
      try publish(version, on: connection)
    } catch {
      abandon()
      throw StoreError(.unknownOutcome, operation: "commit", path: path)
    }
  }

  // MARK: The log

  /// Writes the log back into the database file when it has grown, so that it can start over.
  ///
  /// Called with the turn and between transactions. Readers never wait for it. A reader of an older version keeps the
  /// log from starting over; once the log has reached its limit, this waits a little for such readers to end, and new
  /// ones no longer need the log. A failure concerns no caller: the commits are safe in the log, and it is tried
  /// again.
  func keepLogShort() async {
    guard let connection else { return }
    switch log.decide(pages: connection.logPages) {
    case .writeBack where !hasItsLog, .startOver where !hasItsLog: return
    case .nothing: return
    case .writeBack: _ = connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE)
    case .startOver: await restartLog(of: connection, within: tuning.logPatience)
    }
  }

  /// Writes the log back and lets it start over where there is no room behind it, on a full disk.
  ///
  /// The database file has the room for that already. Without the room of the log nothing more could be written,
  /// and nothing deleted.
  ///
  /// - Parameter patience: How long to wait for readers that keep the log.
  func startLogOver(patience: Duration) async {
    guard let connection, !connection.isInTransaction, hasItsLog else { return }
    await restartLog(of: connection, within: patience)
  }

  /// Lets the log start over as soon as no reader keeps it.
  private func restartLog(of connection: Connection, within patience: Duration) async {
    let deadline = tuning.now() + patience
    while connection.checkpoint(SQLITE_CHECKPOINT_RESTART) == SQLITE_BUSY, tuning.now() < deadline {
      // A cancelled task does not sleep, and must not spin.
      guard (try? await tuning.sleep(.milliseconds(1))) != nil else { return }
    }
  }

  /// Notes that a commit found no room.
  func noteFullDisk() { lastFullDisk = tuning.now() }

  /// Whether a commit found no room lately.
  var isShortOfRoom: Bool {
    guard let lastFullDisk else { return false }
    return tuning.now() - lastFullDisk < tuning.shortTime
  }

  /// Whether the log is where it was and as long as it was written.
  var hasItsLog: Bool {
    guard let connection else { return true }
    return !connection.hasShortLog && (try? Platform.identity(atPath: path + "-wal")) == logIdentity
  }

  /// Saves the commits of a log that was moved or removed: the file is still open, and is written back.
  ///
  /// A log that was cut is left as it is: the rest is good up to the cut, and pages from behind it would
  /// spoil the database.
  func rescueLostLog() {
    guard hasLostLog, let connection else { return }
    guard !connection.hasShortLog else { return connection.keepLogWhenClosed() }
    if !connection.isInTransaction { _ = connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE) }
  }

  /// Notes that the log is not where it was, or not as long.
  func noteLostLog() { hasLostLog = true }

  /// Rewrites the database without its free space, between transactions.
  func compact(_ request: WriteRequest) throws {
    let connection = try opened("compact")
    connection.endStatements(when: request)
    defer { connection.endStatements(when: nil) }
    // The copy that this makes is as large as the database, and no page of it belongs in memory.
    try connection.execute("PRAGMA temp_store = FILE", operation: "compact")
    defer { try? connection.execute("PRAGMA temp_store = MEMORY", operation: "compact") }
    try connection.execute("VACUUM", operation: "compact")
    // The file is cut to its new length when the log is written back. Readers may hold that up until later.
    _ = connection.checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
  }

  /// How many pages the log had after the last commit.
  var logPages: Int { connection?.logPages ?? 0 }

  /// Notes the exact versions in the file, for the next start; without them it uses the floor, as after a crash.
  ///
  /// - Parameter floor: The highest version that readers were promised no commit at or below of.
  func noteEnd(floor: StoreVersion) {
    guard !stored.isExact, let connection, !connection.isInTransaction else { return }
    let row = StoredVersions(version: version, floor: max(version, floor), isExact: true)
    do {
      try connection.run(.beginWriting)
      try EntryTable(connection: connection).setState(row)
      pending = row
      try publish(version, on: connection)
    } catch {
      abandon()
    }
  }

  /// Lets the file go.
  func close() {
    if let connection, connection.hasShortLog { connection.keepLogWhenClosed() }
    connection?.close()
    connection = nil
  }

  /// For tests: see `store_files_delay_sync`.
  func delaySyncs(microseconds: Int) {
    if let connection { _ = store_files_delay_sync(connection.handle, Int32(microseconds)) }
  }

  /// For tests: see `store_files_fail_syncs`.
  func failSyncs(_ count: Int) {
    if let connection { _ = store_files_fail_syncs(connection.handle, Int32(count)) }
  }

  /// For tests: limits the database to a number of pages.
  func limitPages(to count: Int) throws {
    _ = try opened("test").number("PRAGMA max_page_count = \(count)", operation: "test")
  }

  /// For tests: whether SQLite keeps in memory what it would otherwise put into temporary files.
  func keepsInMemory() throws -> Bool {
    try opened("test").number("PRAGMA temp_store", operation: "test") == 2
  }

  /// The connection; a new one when the last one had to be let go of.
  private func opened(_ operation: String) throws -> Connection {
    if let connection { return connection }
    let fresh = try Self.open(path, reserve, options, tuning, operation)
    stored = try EntryTable(connection: fresh).state()
    try use(fresh, operation)
    return fresh
  }

  private static func open(
    _ path: String, _ reserve: StoreReserve, _ options: StoreOptions, _ tuning: StoreTuning, _ operation: String
  ) throws -> Connection {
    let failures = store_files_read_failures()
    do {
      let connection = try Connection(path: path, operation: operation)
      connection.borrow(from: reserve)
      connection.tune(tuning)
      try Schema.prepareWriter(connection, options: options, tuning: tuning)
      return connection
    } catch let error as StoreError where error.code == .corrupt && store_files_read_failures() > failures {
      // Nothing is known to be damaged: the disk did not say what is in the file.
      throw StoreError(.inputOutput, operation: operation, path: path)
    }
  }

  private func use(_ fresh: Connection, _ operation: String) throws {
    hasLarge = try fresh.number("SELECT 1 FROM large LIMIT 1", operation: operation) != nil
    try visible.watch(fresh)
    logIdentity = try? Platform.identity(atPath: path + "-wal")
    connection = fresh
  }
}
