import CVestaSQLite
import VestaStoreInterop

extension SQLiteStore {
  /// Copies the store, as it is at one version, into a separate file while it stays in use.
  ///
  /// The copy is written to a new file next to the target, made durable, and renamed: a file with the name of the
  /// target is always a whole backup, also when several tasks back up to it at once. A link in the place of the target
  /// is replaced, not followed. The remains of a killed backup to the same target are removed.
  ///
  /// ```swift
  /// try await store.backup(to: "/backups/notes-monday.sqlite")
  /// ```
  ///
  /// - Parameter path: The file to write; an existing one is replaced. Its directory must exist, and must not be that
  ///   of an open store.
  /// - Throws: `StoreError` or `CancellationError`; the target is as it was then. `StoreError.Code.invalidName` for a
  ///   target in the directory of this or another open store.
  public func backup(to path: String) async throws {
    try await offPool { connection, request in
      try StoreError.translating("backup", path) {
        guard try !StoreFiles.isInUse(Platform.parent(of: path)) else { throw StoreError.targetInUse("backup", path) }
        Platform.sweepUniqueFiles(beside: path)
        let (partial, lock) = try Platform.makeUniqueFile(beside: path)
        defer {
          Platform.removeFile(partial)
          Platform.closeFile(lock)
        }
        try connection.copy(to: partial) { request.hasBeenCancelled }
        try Platform.move(partial, to: path)
      }
    }
  }
}

extension StoreError {
  fileprivate static func targetInUse(_ operation: String, _ path: String) -> StoreError {
    StoreError(
      .invalidName,
      operation: operation,
      path: path,
      message: "The target lies in the directory of a store that is open.",
      hint: "Write the backup to a directory without a store; close a store before you restore it."
    )
  }
}

extension Connection {
  /// How many pages are copied between two looks at whether to continue: 8 MB.
  private static let pagesAtOnce: Int32 = 1_000

  /// Copies one version of the database into an empty file, durably.
  func copy(to target: String, isCancelled: () -> Bool) throws {
    // The snapshot is taken first, or a concurrent commit would make the copy start over.
    try run(.begin)
    try EntryTable(connection: self).begin()
    let copy = try Connection(path: target, operation: "backup")
    defer { copy.close() }
    guard let backup = sqlite3_backup_init(copy.handle, "main", handle, "main") else {
      throw copy.failure(sqlite3_extended_errcode(copy.handle), operation: "backup")
    }
    var status = SQLITE_OK
    while status == SQLITE_OK, !isCancelled() { status = sqlite3_backup_step(backup, Self.pagesAtOnce) }
    let end = sqlite3_backup_finish(backup)
    try run(.commit)
    if status == SQLITE_OK { throw CancellationError() }
    guard status == SQLITE_DONE, end == SQLITE_OK else {
      throw copy.failure(status == SQLITE_DONE ? end : status, operation: "backup")
    }
  }
}
