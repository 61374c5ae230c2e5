import CVestaSQLite
import CVestaStoreFiles
import VestaStoreInterop

/// The tables, and the settings of a connection.
///
/// Chosen by measuring 100-byte, 1-KiB and 100-KiB values over three shapes and three sizes of pages; the README has
/// the table. In short, against the obvious `WITHOUT ROWID` table on pages of 4096 bytes: gets of 1 KiB are 4.4 times
/// faster, gets of 100 KiB 4.9 times, gets of 100 bytes 0.9 times, and random puts of 100 bytes 0.7 times.
enum Schema {
  /// The making of a store: all of it or nothing.
  private static let tables = """
    CREATE TABLE entry (key BLOB PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
    CREATE TABLE large (id INTEGER PRIMARY KEY, value BLOB NOT NULL);
    CREATE TABLE state (
      id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL, floor INTEGER NOT NULL, exact INTEGER NOT NULL);
    INSERT INTO state VALUES (1, 0, 0, 1);
    """

  /// Readies a connection for writing, and makes the tables in an empty file.
  static func prepareWriter(_ connection: Connection, options: StoreOptions, tuning: StoreTuning) throws {
    if connection.isReadOnly { throw StoreError(.readOnly, operation: "open", path: connection.path) }
    let isEmpty = try connection.number("SELECT count(*) FROM sqlite_schema", operation: "open") == 0
    if isEmpty { try reserveBytes(connection) }
    let synchronous = options.durability == .full ? "FULL" : "NORMAL"
    let overwrites = options.overwritesDeleted
    // `fullfsync` is what reaches the disk on Apple's systems; elsewhere it does nothing. Pages that a body's savepoint
    // keeps for its undoing stay in memory: in a file, which more than 64 KiB of them would go to, they would cost a
    // group of writers more than their commit.
    try connection.execute(
      """
      PRAGMA page_size = \(STORE_PAGE_SIZE);
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = \(synchronous);
      PRAGMA fullfsync = 1;
      PRAGMA checkpoint_fullfsync = 1;
      PRAGMA temp_store = MEMORY;
      PRAGMA secure_delete = \(overwrites ? 1 : 0);
      PRAGMA cache_size = -\(tuning.writerCacheKilobytes);
      PRAGMA journal_size_limit = \(tuning.logLimit * Int(STORE_PAGE_SIZE));
      """, operation: "open")
    connection.watchLog()
    if isEmpty { try makeTables(connection) }
    try verify(connection)
    try bringUpToDate(connection)
  }

  /// Readies a connection for reading.
  static func prepareReader(_ connection: Connection, cacheKilobytes: Int) throws {
    try connection.execute("PRAGMA query_only = 1; PRAGMA cache_size = -\(cacheKilobytes)", operation: "open")
  }

  private static func reserveBytes(_ connection: Connection) throws {
    var count = Int32(STORE_RESERVED_BYTES)
    let status = sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &count)
    guard status == SQLITE_OK else { throw connection.failure(status, operation: "open") }
  }

  private static func makeTables(_ connection: Connection) throws {
    try connection.execute(
      """
      BEGIN IMMEDIATE;
      \(tables)
      PRAGMA application_id = \(StoreHeader.applicationID);
      PRAGMA user_version = \(StoreHeader.schemaVersion);
      COMMIT;
      PRAGMA wal_checkpoint(TRUNCATE);
      """, operation: "open")
  }

  /// Changes a file of an earlier version, all of it or nothing.
  private static func bringUpToDate(_ connection: Connection) throws {
    let version = try connection.number("PRAGMA user_version", operation: "open") ?? 0
    guard (1..<Int64(StoreHeader.schemaVersion)).contains(version) else { return }
    // Version 2 added the floor; the versions before it were counters, which are below any time. In version 3 the
    // row is no longer written by every commit.
    let floor = version == 1 ? "ALTER TABLE state ADD COLUMN floor INTEGER NOT NULL DEFAULT 0;" : ""
    try connection.execute(
      """
      BEGIN IMMEDIATE;
      \(floor)
      ALTER TABLE state ADD COLUMN exact INTEGER NOT NULL DEFAULT 1;
      PRAGMA user_version = \(StoreHeader.schemaVersion);
      COMMIT;
      """, operation: "open")
  }

  private static func verify(_ connection: Connection) throws {
    let application = try connection.number("PRAGMA application_id", operation: "open") ?? 0
    let version = try connection.number("PRAGMA user_version", operation: "open") ?? 0
    guard application == StoreHeader.applicationID else {
      throw StoreError(.notADatabase, operation: "open", path: connection.path)
    }
    guard version <= StoreHeader.schemaVersion else {
      throw StoreError(.newerSchema, operation: "open", path: connection.path)
    }
  }
}
