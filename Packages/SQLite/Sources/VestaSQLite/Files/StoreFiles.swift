import CVestaStoreFiles
import VestaConcurrency
import VestaStoreInterop

/// The directory of one store, and the right to be the only one who uses it.
///
/// ```
/// <directory>/<name>/lock           held while the store is open; says whether the store was ever complete
/// <directory>/<name>/store.sqlite   the data
/// <directory>/<name>/store.sqlite-wal, -shm   its write-ahead log, while the store is open or after a crash
/// <directory>/<name>/reserve        zeros: the room for transactions that make room on a full disk
/// ```
/// The lock is the system's advisory lock on an open file, which ends with the process however it ends. The note in the
/// lock file distinguishes a new store from one whose data file was removed or emptied: the latter must not start over
/// silently.
final class StoreFiles: Sendable {
  let database: String
  let directory: String
  private let lock: Int32
  private let isReleased = Locked(false)
  private let identity: Platform.FileIdentity
  private let wasComplete: Bool
  // The database file that was opened, to notice when another one takes its place.
  private let opened = Locked<Platform.FileIdentity?>(nil)
  // When the files were last found in their places.
  private let found = Locked<ContinuousClock.Instant?>(nil)

  private static let note = Array("vesta-store 1\n".utf8)
  private static let openHere = Locked<Set<Platform.FileIdentity>>([])

  /// Makes the directory when it is not there, and takes its lock.
  init(name: String, in parent: String) throws {
    guard StoreLimits.isValidName(name) else { throw StoreError(.invalidName, operation: "open", path: parent) }
    let directory = parent.hasSuffix("/") ? parent + name : "\(parent)/\(name)"
    self.directory = directory
    database = "\(directory)/store.sqlite"
    do {
      let made = try Platform.makeDirectories(directory)
      for path in made { try Platform.syncDirectory(Platform.parent(of: path)) }
      (lock, identity) = try Self.takeLock("\(directory)/lock")
      wasComplete = try Platform.firstBytes(Self.note.count, of: lock) == Self.note
    } catch let failure as SystemFailure {
      throw StoreError(system: failure, operation: "open", path: directory)
    }
  }

  deinit { release() }

  /// Gives the lock back; calling it again does nothing.
  func release() {
    let isFirst = isReleased.withLock { isReleased in
      defer { isReleased = true }
      return !isReleased
    }
    guard isFirst else { return }
    // The lock is removed with the file, and the identity of a removed file may be given to another one at once: both
    // go together.
    let (lock, identity) = (lock, identity)
    Self.openHere.withLock { openHere in
      // Given back before the file is closed: a process that is being started has a copy of the descriptor until its
      // program begins, and would keep the lock as long.
      Platform.unlockFile(lock)
      Platform.closeFile(lock)
      openHere.remove(identity)
    }
  }

  /// The room that is kept for transactions which make room.
  var reserve: String { "\(directory)/reserve" }

  /// The call that repairs the store of a file: callers of an engine know neither its name nor its directory.
  ///
  /// - Parameter file: A file in the directory of the store; for another path the answer names the function alone.
  static func repairCall(_ file: String) -> String {
    let folders = file.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Substring($0) }
    guard folders.count > 2, folders[folders.count - 1].hasPrefix("store.sqlite") else { return "SQLiteStore.repair" }
    let directory = folders.dropLast(2).joined(separator: "/")
    return "SQLiteStore.repair(named: \"\(folders[folders.count - 2])\", in: \"\(directory)\")"
  }

  /// The write-ahead log of the database.
  var log: String { database + "-wal" }

  /// Refuses a file that is no store, and makes an empty one where there is none.
  func prepareDatabase() throws {
    do {
      let header = StoreHeader(try Platform.firstBytes(StoreHeader.length, of: database) ?? [])
      switch header {
      case .empty where wasComplete, .zeros where wasComplete, .foreign where wasComplete:
        throw StoreError(.corrupt, operation: "open", path: database)
      case .foreign: throw StoreError(.notADatabase, operation: "open", path: database)
      case .newer: throw StoreError(.newerSchema, operation: "open", path: database)
      case .empty: Platform.closeFile(try Platform.openFile(database))
      case .zeros: try startOver()
      case .store: try checkLog()
      }
    } catch let failure as SystemFailure {
      throw StoreError(system: failure, operation: "open", path: database)
    }
  }

  /// Empties a file of zeros, as a loss of power leaves it before the store was ever complete.
  ///
  /// Of its first page the disk may have kept the second half, in which there is nothing but the checksum at its end.
  private func startOver() throws {
    let end = Int(STORE_PAGE_SIZE)
    guard try Platform.isAllZeros(database, but: end - Int(STORE_RESERVED_BYTES)..<end, atMost: 1 << 20) else {
      throw StoreError(.notADatabase, operation: "open", path: database)
    }
    Platform.removeFile(log)
    try Platform.truncate(database)
  }

  /// Refuses a log that SQLite would ignore, with every transaction in it.
  private func checkLog() throws {
    guard LogHeader(try Platform.firstBytes(LogHeader.length, of: log) ?? []) == .damaged else { return }
    throw StoreError(
      .corrupt,
      operation: "open",
      path: log,
      message: "The header of the write-ahead log is damaged; the transactions in it cannot be read.",
      hint: "Restore a backup, or call \(Self.repairCall(log)) to go on without the transactions that were in the log "
        + "only."
    )
  }

  /// Remembers which file has been opened.
  func noteOpened() throws {
    do {
      let identity = try Platform.identity(atPath: database)
      opened.withLock { $0 = identity }
    } catch {
      throw StoreError(system: error, operation: "open", path: database)
    }
  }

  /// Throws when the database, its log or the lock file is not where it was: commits would be written to a file
  /// that is never found again.
  ///
  /// A look costs a commit some microseconds, and cannot see what happens right after it. So one is good for a while.
  ///
  /// - Parameters:
  ///   - interval: The time for which the last look that found them in place is good.
  ///   - writer: Whose log it is.
  func checkInPlace(ifNotWithin interval: Duration, _ writer: WriterSession) throws {
    let now = ContinuousClock.now
    if let last = found.withLock({ $0 }), now - last < interval { return }
    let isInPlace =
      (try? Platform.identity(atPath: database)) == opened.withLock({ $0 })
      && (try? Platform.identity(atPath: "\(directory)/lock")) == identity
    guard isInPlace else { throw Self.moved(database) }
    guard writer.hasItsLog else {
      writer.noteLostLog()
      throw Self.moved(log)
    }
    found.withLock { $0 = now }
  }

  private static func moved(_ path: String) -> StoreError {
    StoreError(
      .inputOutput,
      operation: "commit",
      path: path,
      message: "Files of the store were moved, replaced, cut or removed while it was open.",
      hint: "Close the store, put its directory back, and open it again."
    )
  }

  /// Whether a directory belongs to a store that is open, here or in another process.
  static func isInUse(_ directory: String) throws(SystemFailure) -> Bool {
    try Platform.isLocked("\(directory)/lock")
  }

  /// Notes that the data file is complete and its name durable.
  func markComplete() throws {
    guard !wasComplete else { return }
    do {
      try Platform.syncDirectory(directory)
      try Platform.write(Self.note, to: lock)
    } catch {
      throw StoreError(system: error, operation: "open", path: directory)
    }
  }

  private static func takeLock(_ path: String) throws -> (Int32, Platform.FileIdentity) {
    let descriptor = try Platform.openFile(path)
    do {
      let identity = try Platform.identity(of: descriptor)
      let isFirst = openHere.withLock { $0.insert(identity).inserted }
      guard isFirst else { throw StoreError(.alreadyOpen, operation: "open", path: path) }
      do {
        try Platform.lockFile(descriptor)
      } catch {
        openHere.withLock { _ = $0.remove(identity) }
        throw error
      }
      return (descriptor, identity)
    } catch {
      Platform.closeFile(descriptor)
      throw error
    }
  }
}
