import VestaStoreInterop

/// How much room a store takes.
public struct StoreSize: Sendable, Hashable {
  /// The bytes of the database file.
  public let databaseBytes: Int

  /// The bytes of the database file that hold nothing; they are used again; `SQLiteStore.compact()`
  /// returns them.
  public let freeBytes: Int

  /// The bytes of the write-ahead log, which is bounded and is deleted when the store is closed.
  public let logBytes: Int
}

extension SQLiteStore {
  /// Reads the whole file and looks for damage.
  ///
  /// It verifies the checksum of every page in use, the structure of the tables, and that large values and their
  /// entries belong together. Reads and writes continue during the check.
  ///
  /// - Returns: The defects, a sentence each; empty when the store is sound.
  /// - Throws: `StoreError` when the check could not be done, or `CancellationError`.
  public func checkIntegrity() async throws -> [String] {
    try await offPool { connection, _ in try connection.problems() }
  }

  /// Returns how much room the store takes, and how much of it is free.
  public func size() async throws -> StoreSize {
    let log = files.log
    return try await offPool { connection, _ in
      let page = try connection.number("PRAGMA page_size", operation: "size") ?? 0
      let pages = try connection.number("PRAGMA page_count", operation: "size") ?? 0
      let free = try connection.number("PRAGMA freelist_count", operation: "size") ?? 0
      let logBytes = try StoreError.translating("size", log) { try Platform.size(of: log) }
      return StoreSize(databaseBytes: Int(pages * page), freeBytes: Int(free * page), logBytes: logBytes)
    }
  }

  /// Rewrites the database file without its free space.
  ///
  /// Reads continue; writes wait. It needs room for the content twice: once in the system's
  /// directory for temporary files, in a file without a name, and once in the log. A crash leaves the store as it was.
  ///
  /// - Throws: `StoreError`, or `CancellationError`; the store is as it was then.
  public func compact() async throws {
    try await withExclusiveTurn("compact") { writer in
      try await VestaSQLite.offPool { request in try writer.compact(request) }
    }
  }
}

extension Connection {
  /// The faults of the database, a sentence each.
  func problems() throws -> [String] {
    do {
      return try foundProblems()
    } catch let error as StoreError where error.code == .corrupt {
      return [error.message]
    }
  }

  private func foundProblems() throws -> [String] {
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
