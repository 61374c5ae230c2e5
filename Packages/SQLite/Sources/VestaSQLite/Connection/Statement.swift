import CVestaSQLite
import VestaStoreInterop

/// A prepared statement.
///
/// Bytes are bound without a copy: they must stay where they are until the statement is reset, so every use binds all
/// of its parameters again and ends with `reset`. Column bytes are valid until the next step.
struct Statement {
  let handle: OpaquePointer
  unowned(unsafe) let connection: Connection  // The connection owns the statement and outlives it.
  let operation: String

  func bind(_ index: Int32, _ bytes: UnsafeRawBufferPointer) throws {
    // A null pointer would bind NULL instead of no bytes.
    let status =
      bytes.isEmpty
      ? sqlite3_bind_zeroblob(handle, index, 0)
      : sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), nil)  // nil: not copied
    guard status == SQLITE_OK else { throw connection.failure(status, operation: operation) }
  }

  func bind(_ index: Int32, _ number: Int64) throws {
    let status = sqlite3_bind_int64(handle, index, number)
    guard status == SQLITE_OK else { throw connection.failure(status, operation: operation) }
  }

  /// Moves to the next row; false at the end.
  ///
  /// After a throw the statement has been reset.
  func step() throws -> Bool {
    let status = sqlite3_step(handle)
    if status == SQLITE_ROW { return true }
    if status == SQLITE_DONE { return false }
    let failure = connection.failure(status, operation: operation)
    sqlite3_reset(handle)
    throw failure
  }

  /// Runs to the end and resets.
  func run() throws {
    while try step() {}
    reset()
  }

  func reset() { sqlite3_reset(handle) }

  func finalize() { sqlite3_finalize(handle) }

  /// The kind of a column: `SQLITE_BLOB`, `SQLITE_INTEGER`, ...
  func kind(_ column: Int32) -> Int32 { sqlite3_column_type(handle, column) }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  func text(_ column: Int32) -> String { sqlite3_column_text(handle, column).map { String(cString: $0) } ?? "" }

  /// The bytes of a column where SQLite has them.
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
  }
}
