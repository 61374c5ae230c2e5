import VestaStoreInterop

extension SQLiteStore {
  /// Puts a backup in the place of a store.
  ///
  /// The backup is copied, checked as a whole, and only then takes the place of the store's file, in one step. After a
  /// crash the store is the old one or the new one.
  ///
  /// ```swift
  /// try await SQLiteStore.restore(named: "notes", in: "/var/lib/app", from: "/backups/notes-monday.sqlite")
  /// let store = try await SQLiteStore.open(named: "notes", in: "/var/lib/app")
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the store, which must be closed; it need not exist.
  ///   - directory: The directory above.
  ///   - backup: A file that `backup(to:)` wrote.
  /// - Throws: `StoreError`, and the store is as it was: `corrupt` for an empty or damaged backup, `notADatabase` for
  ///   another file, `locked` for the file of a store that is open, or of one that was not closed.
  public static func restore(named name: String, in directory: String, from backup: String) async throws {
    try await VestaSQLite.offPool { request in
      let files = try StoreFiles(name: name, in: directory)
      defer { files.release() }
      try StoreError.translating("restore", backup) { try checkSource(backup, files) }
      try StoreError.translating("restore", files.database) { try restore(files, from: backup, request) }
    }
  }

  /// Refuses what is no whole backup at first sight.
  private static func checkSource(_ backup: String, _ files: StoreFiles) throws {
    guard let bytes = try Platform.firstBytes(StoreHeader.length, of: backup) else { throw SystemFailure.missingFile }
    switch StoreHeader(bytes) {
    case .store: break
    case .empty, .zeros: throw StoreError.unusableBackup(backup, "The backup is empty.")
    case .newer: throw StoreError(.newerSchema, operation: "restore", path: backup)
    case .foreign: throw StoreError(.notADatabase, operation: "restore", path: backup)
    }
    let isOwn = try Platform.identity(atPath: Platform.parent(of: backup)) == Platform.identity(atPath: files.directory)
    let hasLog = try Platform.size(of: backup + "-wal") > 0
    let isInUse = try StoreFiles.isInUse(Platform.parent(of: backup))
    guard !isOwn, !hasLog, !isInUse else {
      throw StoreError(
        .locked,
        operation: "restore",
        path: backup,
        message: "The file belongs to a store that is open, or was not closed; alone it is not whole.",
        hint: "Use a file that backup(to:) wrote."
      )
    }
  }

  private static func restore(_ files: StoreFiles, from backup: String, _ request: WriteRequest) throws {
    Platform.sweepUniqueFiles(beside: files.database)
    let (copy, lock) = try Platform.makeUniqueFile(beside: files.database)
    defer { Platform.closeFile(lock) }
    defer { for suffix in ["", "-wal", "-shm"] { Platform.removeFile(copy + suffix) } }
    guard try Platform.copy(backup, to: copy, isCancelled: { request.hasBeenCancelled }) else {
      throw CancellationError()
    }
    try check(copy, request, named: backup)
    writeLogBack(files)
    for suffix in ["-wal", "-shm"] { Platform.removeFile(files.database + suffix) }
    try Platform.move(copy, to: files.database)
    try files.markComplete()
    try Platform.syncDirectory(files.directory)
  }

  /// Reads all of a copy, and looks for damage.
  private static func check(_ copy: String, _ request: WriteRequest, named backup: String) throws {
    let problems: [String]
    do {
      let connection = try Connection(path: copy, operation: "restore")
      defer { connection.close() }
      connection.endStatements(when: request)
      problems = try connection.problems()
    } catch let error as StoreError where error.code == .corrupt {
      throw StoreError.unusableBackup(backup, error.message)
    }
    guard problems.isEmpty else {
      throw StoreError.unusableBackup(backup, "The backup is damaged: \(problems.prefix(3).joined(separator: " "))")
    }
  }

  /// Writes the old store's log back, so that the old file is whole should the process end before the rename.
  private static func writeLogBack(_ files: StoreFiles) {
    guard (try? Platform.size(of: files.log)) ?? 0 > 0 else { return }
    // A damaged old store is about to be replaced anyway.
    guard let connection = try? Connection(path: files.database, operation: "restore") else { return }
    try? EntryTable(connection: connection).begin()
    connection.close()
  }
}

extension StoreError {
  fileprivate static func unusableBackup(_ path: String, _ message: String) -> StoreError {
    StoreError(
      .corrupt, operation: "restore", path: path, message: message,
      hint: "Use another backup; the store is as it was.")
  }
}
