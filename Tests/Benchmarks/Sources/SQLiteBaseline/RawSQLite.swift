import CVestaSQLite

/// SQLite as one would use it by hand: the same table and settings as the store, and nothing around them.
///
/// It has neither checksums nor a version to keep, and its values are copied into one buffer.
// Sound as @unchecked Sendable: benchmarks run one after the other, and each uses it from one task.
package final class RawSQLite: @unchecked Sendable {
  private var handle: OpaquePointer?
  private let getStatement, putStatement, scanStatement, beginStatement, beginReadStatement,
    commitStatement: OpaquePointer
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)

  package init(path: String) {
    sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
    let settings = """
      PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = 0;
      PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 1000;
      CREATE TABLE IF NOT EXISTS entry (key BLOB PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
      """
    precondition(sqlite3_exec(handle, settings, nil, nil, nil) == SQLITE_OK)
    let handle = handle
    let prepare = { (sql: String) -> OpaquePointer in
      var statement: OpaquePointer?
      sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
      guard let statement else { preconditionFailure(String(cString: sqlite3_errmsg(handle))) }
      return statement
    }
    getStatement = prepare("SELECT value FROM entry WHERE key = ?1")
    putStatement = prepare(
      "INSERT INTO entry (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value")
    scanStatement = prepare("SELECT key, value FROM entry WHERE key >= ?1 ORDER BY key")
    beginStatement = prepare("BEGIN IMMEDIATE")
    beginReadStatement = prepare("BEGIN")
    commitStatement = prepare("COMMIT")
  }

  package func begin() { run(beginStatement) }
  package func beginRead() { run(beginReadStatement) }
  package func commit() { run(commitStatement) }

  package func get(_ key: [UInt8]) -> Int {
    key.withUnsafeBytes { key in
      sqlite3_bind_blob(getStatement, 1, key.baseAddress, Int32(key.count), nil)
      guard sqlite3_step(getStatement) == SQLITE_ROW else { preconditionFailure("a key is missing") }
      let count = Int(sqlite3_column_bytes(getStatement, 0))
      if let bytes = sqlite3_column_blob(getStatement, 0) {
        buffer.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: count))
      }
      sqlite3_reset(getStatement)
      return count
    }
  }

  package func put(_ value: [UInt8], for key: [UInt8]) {
    key.withUnsafeBytes { key in
      value.withUnsafeBytes { value in
        sqlite3_bind_blob(putStatement, 1, key.baseAddress, Int32(key.count), nil)
        sqlite3_bind_blob(putStatement, 2, value.baseAddress, Int32(value.count), nil)
        run(putStatement)
      }
    }
  }

  package func scan(from key: [UInt8], count: Int) -> Int {
    key.withUnsafeBytes { key in
      sqlite3_bind_blob(scanStatement, 1, key.baseAddress, Int32(key.count), nil)
      var sum = 0
      var seen = 0
      while seen < count, sqlite3_step(scanStatement) == SQLITE_ROW {
        sum += Int(sqlite3_column_bytes(scanStatement, 0)) + Int(sqlite3_column_bytes(scanStatement, 1))
        if let bytes = sqlite3_column_blob(scanStatement, 1) { sum += Int(bytes.load(as: UInt8.self)) }
        seen += 1
      }
      sqlite3_reset(scanStatement)
      return sum
    }
  }

  /// Calls the body for a number of rows, in the order of their keys.
  package func rows(
    from key: [UInt8], count: Int, _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
  ) {
    key.withUnsafeBytes { key in
      sqlite3_bind_blob(scanStatement, 1, key.baseAddress, Int32(key.count), nil)
      var seen = 0
      while seen < count, sqlite3_step(scanStatement) == SQLITE_ROW {
        body(column(0), column(1))
        seen += 1
      }
      sqlite3_reset(scanStatement)
    }
  }

  private func column(_ number: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: sqlite3_column_blob(scanStatement, number), count: Int(sqlite3_column_bytes(scanStatement, number)))
  }

  private func run(_ statement: OpaquePointer) {
    precondition(sqlite3_step(statement) == SQLITE_DONE)
    sqlite3_reset(statement)
  }
}
