import CVestaSQLite
import VestaStoreInterop

extension StoreError {
  /// The store error for a status of SQLite.
  ///
  /// - Parameters:
  ///   - status: The extended result code.
  ///   - system: The error number of the system; zero when there is none.
  ///   - operation: The store's operation.
  ///   - path: The file.
  init(sqlite status: Int32, system: Int32, operation: String, path: String) {
    let failure = SystemFailure(code: system)
    let code = Code(sqlite: status, system: failure)
    var message = "\(code.sentence)"
    if code == .inputOutput || code == .readOnly || code == .diskFull {
      message += " SQLite says: \(String(cString: sqlite3_errstr(status & 0xFF)))"
      message += system == 0 ? " (\(status))." : " (\(status), \(failure.text))."
    }
    if status == Code.checksumFailure {
      message = "A page of the file does not have the checksum that it was written with."
    }
    self.init(code, operation: operation, path: path, message: message, hint: code.hint(path))
  }

  /// The store error for an error of the system.
  init(system failure: SystemFailure, operation: String, path: String) {
    // No time makes it pass: it must not be answered as a service that is out of reach.
    if failure.isNotADirectory {
      self.init(
        .notADatabase, operation: operation, path: path,
        message: "A file is where the directory of the store has to be. The system says: \(failure.text).",
        hint: "Name another directory, or move that file away.")
      return
    }
    let code: Code =
      failure.isNoSpace ? .diskFull : failure.isNotPermitted ? .readOnly : failure.isLocked ? .locked : .inputOutput
    let message = "\(code.sentence) The system says: \(failure.text)."
    self.init(code, operation: operation, path: path, message: message, hint: code.hint(path))
  }

  /// A failure whose sentences follow from its kind.
  init(_ code: Code, operation: String, path: String) {
    self.init(code, operation: operation, path: path, message: code.sentence, hint: code.hint(path))
  }
}

extension StoreError.Code {
  fileprivate init(sqlite status: Int32, system: SystemFailure) {
    // A checksum that does not match is reported as a kind of I/O error, and so is a log whose index cannot grow.
    if status == Self.checksumFailure {
      self = .corrupt
      return
    }
    if status == SQLITE_IOERR | (19 << 8) {
      self = .diskFull
      return
    }
    switch status & 0xFF {
    // Our statements are right: where one is not understood, the tables were removed.
    case SQLITE_ERROR: self = .corrupt
    case SQLITE_FULL: self = .diskFull
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_SCHEMA: self = .corrupt
    case SQLITE_READONLY, SQLITE_PERM: self = .readOnly
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: self = .locked
    case SQLITE_IOERR where system.isNoSpace: self = .diskFull
    case SQLITE_IOERR where system.isNotPermitted, SQLITE_CANTOPEN where system.isNotPermitted: self = .readOnly
    default: self = .inputOutput
    }
  }

  /// The code for a page whose checksum does not match: SQLITE_IOERR_DATA, a macro that is not imported.
  static var checksumFailure: Int32 { SQLITE_IOERR | (32 << 8) }

  fileprivate var sentence: String {
    switch self {
    case .closed: "The store has been closed."
    case .ended: "The body that this reader or transaction was made for has returned."
    case .nested: "A transaction of this store is waiting for this one, which would have to wait for it."
    case .keyTooLong: "The key is longer than \(StoreLimits.maximumKeyLength) bytes."
    case .valueTooLong: "The value is longer than \(StoreLimits.maximumValueLength) bytes."
    case .invalidName: "The name of the store cannot be used."
    case .alreadyOpen: "This process has the store open already."
    case .locked: "Another process has the store open."
    case .notADatabase: "The file is not a store of Vesta."
    case .newerSchema: "The file was written by a later version of Vesta."
    case .corrupt: "The file is damaged."
    case .diskFull: "There is no room left for the store."
    case .readOnly: "The store cannot be written."
    case .unknownOutcome: "The disk failed during the commit, which may or may not be kept."
    default: "Input or output failed."
    }
  }

  fileprivate func hint(_ path: String) -> String? {
    switch self {
    case .closed: "Open it again, or end its users first."
    case .ended: "Use it inside the body only."
    case .nested: "Use the transaction you were given."
    case .invalidName: "Use letters, digits, '-', '_' and '.', at most 100, not beginning with a dot."
    case .alreadyOpen: "Share the open store, or close it first."
    case .futureVersion: "Use a version of the past, or check the clock."
    case .locked:
      "End the other process, or name another directory for this one: VESTA_DIRECTORY, or --data of a server."
    case .notADatabase: "Move the file away, or choose another directory."
    case .newerSchema: "Use at least the version of Vesta that wrote it."
    case .corrupt:
      "Close the store (end the program, or delete the app) and call \(StoreFiles.repairCall(path)): it mends what another "
        + "program wrote. If that fails, restore a backup."
    case .diskFull: "Free some room and try again; nothing that was acknowledged is lost."
    case .readOnly: "Check who owns the directory and its files, and whether the disk is mounted read-only."
    case .unknownOutcome: "Check the disk, then read back what was to be written."
    case .inputOutput: "Check the path and the disk, and try again."
    default: nil
    }
  }
}
