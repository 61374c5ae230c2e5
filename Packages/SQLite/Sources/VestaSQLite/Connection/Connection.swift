import CVestaSQLite
import CVestaStoreFiles
import VestaStoreInterop

/// A connection to the database file, with its prepared statements.
///
/// It reads one consistent version between `begin` and `commit`. Used by one body at a time: the reader pool and the
/// turn of the writer see to that, so SQLite's own mutexes are off.
// Sound as @unchecked Sendable: a connection has one holder at a time, which takes and returns it under a lock.
final class Connection: @unchecked Sendable {
  let path: String

  /// Whether it is one of the readers with a large page cache.
  let isWarm: Bool

  let handle: OpaquePointer

  /// See `StoreTuning`.
  var inlineLimit = StoreTuning().inlineLimit
  var entriesBetweenChecks = StoreTuning().entriesBetweenChecks

  private var isClosed = false
  // Kept as long as the connection asks it for room.
  private var reserve: StoreReserve?

  /// How long to wait, in milliseconds, for a program from outside that looks into the file.
  private static let patience: Int32 = 1_000
  private var statements = [Statement?](repeating: nil, count: Query.allCases.count)

  /// How many pages the write-ahead log held after the last commit on this connection.
  private(set) var logPages = 0

  /// Opens the file, which must be there.
  ///
  /// - Parameters:
  ///   - path: The database file.
  ///   - operation: The operation of the store, for error messages.
  ///   - isWarm: Whether it is one of the readers with a large page cache.
  ///   - verifies: Whether the checksums of pages are verified; `repair` reads without.
  init(path: String, operation: String, isWarm: Bool = false, verifies: Bool = true) throws {
    self.path = path
    self.isWarm = isWarm
    guard store_files_register() == SQLITE_OK else {
      throw StoreError(sqlite: SQLITE_ERROR, system: 0, operation: operation, path: path)
    }
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let status = sqlite3_open_v2(path, &handle, flags, verifies ? STORE_VFS_NAME : STORE_REPAIR_VFS_NAME)
    guard status == SQLITE_OK, let handle else {
      defer { sqlite3_close_v2(handle) }
      throw StoreError(
        sqlite: status, system: handle.map(sqlite3_system_errno) ?? 0, operation: operation, path: path)
    }
    self.handle = handle
    sqlite3_busy_timeout(handle, Self.patience)
  }

  deinit { close() }

  /// Takes over the bounds of a store.
  func tune(_ tuning: StoreTuning) {
    (inlineLimit, entriesBetweenChecks) = (max(1, tuning.inlineLimit), max(1, tuning.entriesBetweenChecks))
  }

  /// Closes the connection, which is unusable; calling it again does nothing.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    for statement in statements { statement?.finalize() }
    sqlite3_close_v2(handle)
  }

  /// Whether a transaction is open; SQLite ends one by itself after some failures.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// How many rows the last statement changed.
  var changes: Int { Int(sqlite3_changes(handle)) }

  /// A prepared statement, made on first use and kept; bind everything before each use.
  func statement(_ query: Query) throws -> Statement {
    if let statement = statements[query.rawValue] { return statement }
    let statement = try prepare(query.sql, operation: query.operation)
    statements[query.rawValue] = statement
    return statement
  }

  /// Runs a prepared statement without parameters and results.
  func run(_ query: Query) throws { try statement(query).run() }

  /// Runs SQL that is not worth keeping.
  func execute(_ sql: String, operation: String) throws {
    let status = sqlite3_exec(handle, sql, nil, nil, nil)
    guard status == SQLITE_OK else { throw failure(status, operation: operation) }
  }

  /// The first column of the first row as a number; `nil` without a row.
  func number(_ sql: String, operation: String) throws -> Int64? {
    let statement = try prepare(sql, operation: operation)
    defer { statement.finalize() }
    return try statement.step() ? statement.integer(0) : nil
  }

  /// The first column of all rows, as strings.
  func texts(_ sql: String, operation: String) throws -> [String] {
    let statement = try prepare(sql, operation: operation)
    defer { statement.finalize() }
    var texts: [String] = []
    while try statement.step() { texts.append(statement.text(0)) }
    return texts
  }

  /// The failure, with the path and the system's reason.
  func failure(_ status: Int32, operation: String) -> StoreError {
    StoreError(sqlite: status, system: sqlite3_system_errno(handle), operation: operation, path: path)
  }

  /// Writes the log back, without waiting; the status of SQLite.
  func checkpoint(_ mode: Int32) -> Int32 {
    sqlite3_busy_timeout(handle, 0)
    defer { sqlite3_busy_timeout(handle, Self.patience) }
    return sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, nil) & 0xFF
  }

  /// Whether the file can only be read.
  var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

  /// Ends statements that take long once a request has been cancelled; they fail with SQLITE_INTERRUPT then.
  func endStatements(when request: WriteRequest?) {
    guard let request else { return sqlite3_progress_handler(handle, 0, nil, nil) }
    // The request outlives the connection: `offPool` keeps both until the connection is closed.
    let context = Unmanaged.passUnretained(request).toOpaque()
    sqlite3_progress_handler(
      handle, 10_000,
      { context in
        guard let context else { return 0 }
        return Unmanaged<WriteRequest>.fromOpaque(context).takeUnretainedValue().hasBeenCancelled ? 1 : 0
      }, context)
  }

  /// Asks a reserve for room on a full disk.
  func borrow(from reserve: StoreReserve) {
    let lender = Unmanaged.passUnretained(reserve).toOpaque()
    _ = store_files_borrow(
      handle,
      { lender, length in
        guard let lender else { return 0 }
        return Unmanaged<StoreReserve>.fromOpaque(lender).takeUnretainedValue().take(Int(length))
      }, lender)
    self.reserve = reserve
  }

  /// Whether the log has been made shorter than what this connection wrote to it.
  var hasShortLog: Bool { store_files_log_is_short(handle) != 0 }

  /// Leaves the log as it is when the connection is closed.
  func keepLogWhenClosed() { _ = store_files_keep_log(handle) }

  /// Keeps `logPages` up to date; this takes the place of SQLite's automatic checkpoints.
  func watchLog() {
    // The hook is called inside `commit` of this connection, on the thread that owns it.
    let context = Unmanaged.passUnretained(self).toOpaque()
    _ = sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        guard let context else { return SQLITE_OK }
        Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().logPages = Int(pages)
        return SQLITE_OK
      }, context)
  }

  private func prepare(_ sql: String, operation: String) throws -> Statement {
    var handle: OpaquePointer?
    let status = sqlite3_prepare_v3(self.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
    guard status == SQLITE_OK, let handle else { throw failure(status, operation: operation) }
    return Statement(handle: handle, connection: self, operation: operation)
  }
}
