import CVestaSQLite
import CVestaStoreFiles
import Dispatch
import VestaStoreInterop

extension SQLiteStore {
  /// Copies the store, as it is at one moment, into a file of its own while it stays in use.
  ///
  /// The copy is written beside the target and renamed when it is complete and durable, so a file with that name is a
  /// whole one. To restore it, make a directory for a store and put the file there as `store.sqlite`.
  ///
  /// ```swift
  /// try await store.backup(to: "/backups/notes-monday.sqlite")
  /// ```
  ///
  /// - Parameter path: The file to write; one that is there is replaced. Its directory must exist.
  /// - Throws: `StoreError` or `CancellationError`; the target is as it was then.
  public func backup(to path: String) async throws {
    let partial = path + ".partial"
    try await aside { connection, isCancelled in
      defer { Platform.removeFile(partial) }
      do {
        Platform.removeFile(partial)
        Platform.closeFile(try Platform.openFile(partial))
        try connection.copy(to: partial, isCancelled: isCancelled)
        try Platform.rename(partial, to: path)
        try Platform.syncDirectory(Platform.parent(of: path))
      } catch let failure as SystemFailure {
        throw StoreError(system: failure, operation: "backup", path: path)
      }
    }
  }

  /// Reads the whole file and looks for damage.
  ///
  /// It verifies the checksum of every page in use, the structure of the tables, and that large values and their
  /// entries belong together. Reads and writes go on meanwhile.
  ///
  /// - Returns: What is wrong, a sentence each; empty when the store is sound.
  /// - Throws: `StoreError` when the check could not be done, or `CancellationError`.
  public func checkIntegrity() async throws -> [String] {
    try await aside { connection, isCancelled in
      do {
        return try connection.problems()
      } catch let error as StoreError where error.code == .corrupt {
        return [error.message]
      }
    }
  }

  /// Does something long on a thread of its own, with a fresh connection on one snapshot; the store stays open for it.
  private func aside<Result: Sendable>(
    _ work: @escaping @Sendable (Connection, _ isCancelled: () -> Bool) throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    // A reader of the pool holds the store open; a connection of our own has read nothing yet, so it reads the disk.
    let place = try await readers.acquire(isNested: ActiveBody.isInside(of: id))
    defer { readers.release(place) }
    let request = WriteRequest { _ in }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global(qos: .utility).async { [path] in
          continuation.resume(
            with: Swift.Result {
              let connection = try Connection(path: path, operation: "read")
              defer { connection.close() }
              return try work(connection) { request.hasBeenCancelled }
            })
        }
      }
    } onCancel: {
      request.cancel()
    }
  }
}

extension Connection {
  /// How many pages are copied between two looks at whether to go on: 8 MB.
  private static let pagesAtOnce: Int32 = 1_000

  /// Copies one moment of the database into an empty file, durably.
  fileprivate func copy(to target: String, isCancelled: () -> Bool) throws {
    // The snapshot is taken first, or a commit meanwhile would make the copy start over.
    try run(.begin)
    _ = try EntryTable(connection: self).version()
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

  /// What is wrong with the database.
  fileprivate func problems() throws -> [String] {
    var problems = try texts("PRAGMA integrity_check", operation: "check").filter { $0 != "ok" }
    let loose = "SELECT count(*) FROM large WHERE id NOT IN (SELECT value FROM entry WHERE typeof(value) = 'integer')"
    if let count = try number(loose, operation: "check"), count > 0 {
      problems.append("\(count) large values belong to no entry.")
    }
    let missing =
      "SELECT count(*) FROM entry WHERE typeof(value) = 'integer' AND value NOT IN (SELECT id FROM large)"
    if let count = try number(missing, operation: "check"), count > 0 {
      problems.append("\(count) entries have lost their large value.")
    }
    return problems
  }
}
