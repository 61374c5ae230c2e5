import CVestaSQLite
import CVestaStoreFiles
import VestaStoreInterop

/// The result of a repair.
public struct StoreRepair: Sendable, Hashable {
  /// Whether pages had wrong checksums, which have been written again.
  public let rewroteChecksums: Bool

  /// Whether the write-ahead log was unreadable and has been set aside: transactions that were in it only are lost.
  public let lostLog: Bool
}

extension SQLiteStore {
  /// Mends a store that does not open, as far as nothing of its content is lost.
  ///
  /// Another program that opens the file after a crash, or writes to it, leaves pages without valid checksums, and the
  /// store then refuses the file as `corrupt`. This reads the file without checksums, lets SQLite check its structure
  /// as a whole, and writes it again. A file whose structure is damaged is left as it is: restore a backup then.
  ///
  /// A log with a damaged header is set aside as `store.sqlite-wal.damaged`; `StoreRepair.lostLog` says so.
  ///
  /// ```swift
  /// do {
  ///   store = try await SQLiteStore.open(named: "notes", in: directory)
  /// } catch StoreError.Code.corrupt {
  ///   let repair = try await SQLiteStore.repair(named: "notes", in: directory)
  ///   store = try await SQLiteStore.open(named: "notes", in: directory)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the store, which must be closed.
  ///   - directory: The directory above.
  /// - Returns: The repairs.
  /// - Throws: `StoreError.Code.corrupt` with the problems when the content is damaged; the file is as it was then.
  @discardableResult
  public static func repair(named name: String, in directory: String) async throws -> StoreRepair {
    try await VestaSQLite.offPool { request in
      let files = try StoreFiles(name: name, in: directory)
      defer { files.release() }
      return try StoreError.translating("repair", files.database) { try repair(files, request) }
    }
  }

  private static func repair(_ files: StoreFiles, _ request: WriteRequest) throws -> StoreRepair {
    switch StoreHeader(try Platform.firstBytes(StoreHeader.length, of: files.database) ?? []) {
    case .store: break
    case .newer: throw StoreError(.newerSchema, operation: "repair", path: files.database)
    case .empty, .zeros, .foreign: throw StoreError.beyondRepair(files.database, ["It is not a store."])
    }
    let lostLog = try setDamagedLogAside(files)
    if try isSound(files, request) { return StoreRepair(rewroteChecksums: false, lostLog: lostLog) }
    Platform.sweepUniqueFiles(beside: files.database)
    let (copy, lock) = try Platform.makeUniqueFile(beside: files.database)
    defer { Platform.closeFile(lock) }
    defer { Platform.removeFile(copy) }
    try rewrite(files.database, to: copy, request)
    // The log was written back when the last connection was closed; the rest belongs to the old file.
    Platform.removeFile(files.log)
    try Platform.move(copy, to: files.database)
    return StoreRepair(rewroteChecksums: true, lostLog: lostLog)
  }

  /// Whether the file has valid checksums and a sound structure.
  private static func isSound(_ files: StoreFiles, _ request: WriteRequest) throws -> Bool {
    do {
      let connection = try Connection(path: files.database, operation: "repair")
      defer { connection.close() }
      connection.endStatements(when: request)
      return try connection.problems().isEmpty
    } catch let error as StoreError where error.code == .corrupt {
      return false
    }
  }

  /// Writes the content of a file whose checksums are wrong, but whose structure is sound, to an empty file.
  private static func rewrite(_ source: String, to target: String, _ request: WriteRequest) throws {
    let connection = try Connection(path: source, operation: "repair", verifies: false)
    do {
      defer { connection.close() }
      connection.endStatements(when: request)
      let problems = try connection.problems()
      guard problems.isEmpty else { throw StoreError.beyondRepair(source, problems) }
      let place = target.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
      try connection.execute("PRAGMA synchronous = FULL; VACUUM INTO '\(place)'", operation: "repair")
    }
    let copy = try Connection(path: target, operation: "repair")
    defer { copy.close() }
    copy.endStatements(when: request)
    let problems = try copy.problems()
    guard problems.isEmpty else { throw StoreError.beyondRepair(source, problems) }
    try Platform.syncFile(target)
  }

  private static func setDamagedLogAside(_ files: StoreFiles) throws -> Bool {
    guard LogHeader(try Platform.firstBytes(LogHeader.length, of: files.log) ?? []) == .damaged else { return false }
    try Platform.move(files.log, to: files.log + ".damaged")
    Platform.removeFile(files.database + "-shm")
    return true
  }
}

extension StoreError {
  fileprivate static func beyondRepair(_ path: String, _ problems: [String]) -> StoreError {
    StoreError(
      .corrupt,
      operation: "repair",
      path: path,
      message: "The content of the file is damaged: \(problems.prefix(3).joined(separator: " "))",
      hint: "Restore a backup with SQLiteStore.restore, or remove the directory of the store to start empty."
    )
  }
}
