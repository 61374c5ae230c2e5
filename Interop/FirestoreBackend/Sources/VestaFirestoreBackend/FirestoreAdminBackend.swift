public import VestaServiceInterop

/// The administration of the databases of a project: which there are, their indexes, and their content as a whole.
///
/// Promises of every implementation:
/// - All calls are for owners: of another caller they are `PERMISSION_DENIED`, and nothing has happened.
/// - An export is of one version: it has every write that was answered before its call, and none in part.
/// - An import replaces the documents that it names and leaves the others. Listeners are notified. A function is
///   notified unless the call suppresses events. One that fails leaves what it has written so far: it is done again.
/// - An import takes the parts of an export. A document that is new keeps its time of creation. Its time of update is
///   that of the import: no listener may be shown a document that is older than what it has seen.
/// - Two reads at one time agree, whatever is imported between them.
///
/// Left out: a database is not deleted, as listeners would keep its name; ``clear(_:context:)`` empties it. Backups and
/// schedules are the store's.
public protocol FirestoreAdminBackend: Sendable {
  /// The full names of the databases, in the order of their UTF-8 bytes.
  func databases(context: CallContext) async throws(FirestoreServiceError) -> [String]

  /// Makes a database, which a write would also do.
  ///
  /// - Parameters:
  ///   - database: Its full name, `projects/p/databases/d`.
  ///   - context: The caller.
  /// - Throws: `ALREADY_EXISTS`.
  func createDatabase(_ database: String, context: CallContext) async throws(FirestoreServiceError)

  /// Deletes a database with its documents and the indexes that were declared; its listeners see deletes.
  ///
  /// A write, a creation or an import makes a new database of the name.
  ///
  /// - Throws: `NOT_FOUND`.
  func deleteDatabase(_ database: String, context: CallContext) async throws(FirestoreServiceError)

  /// The text of the indexes that were set; `nil` for none.
  func indexes(of database: String, context: CallContext) async throws(FirestoreServiceError) -> String?

  /// Declares the indexes of a database, in place of what was declared before.
  ///
  /// On the return they are declared, and kept over restarts; they are built in the background. One that is no longer
  /// declared becomes one that is dropped when it is unused.
  ///
  /// - Parameters:
  ///   - source: The text of a `firestore.indexes.json`.
  ///   - database: The full name of the database.
  ///   - condition: The indexes that the text replaces.
  ///   - context: The caller.
  /// - Throws: `INVALID_ARGUMENT`, with the entry, for a text that is none; `ABORTED` where the condition does not
  ///   hold: read the indexes again. Nothing has changed then.
  func setIndexes(
    _ source: String, of database: String, if condition: IndexesCondition, context: CallContext
  ) async throws(FirestoreServiceError)

  /// Deletes the documents that are in a database at the time of the call; listeners see deletes.
  func clear(_ database: String, context: CallContext) async throws(FirestoreServiceError)

  /// Gives every document of a database, in parts.
  ///
  /// - Parameters:
  ///   - database: The full name of the database.
  ///   - context: The caller.
  ///   - receive: Takes documents; the export waits for it, and ends with what it throws.
  func export(
    _ database: String, context: CallContext, to receive: ([Document]) async throws -> Void
  ) async throws

  /// Writes documents with their times, in parts.
  ///
  /// - Parameters:
  ///   - database: The full name of the database, which is made where there is none.
  ///   - context: The caller.
  ///   - next: Gives the next documents, whose names may be of any database: the path counts. `nil` after the last
  ///     ones; an error of it ends the import.
  func `import`(
    _ database: String, context: CallContext, from next: () async throws -> [Document]?
  ) async throws
}

/// The declared indexes that a change of them replaces.
public enum IndexesCondition: Sendable, Hashable {
  /// Any indexes.
  case any
  /// The indexes of this text, byte by byte; `nil` where none were declared.
  case text(String?)

  /// Whether it holds for a text.
  public func holds(for current: String?) -> Bool {
    switch self {
    case .any: true
    case .text(let text): text.map { Array($0.utf8) } == current.map { Array($0.utf8) }
    }
  }

  /// The failure of a change whose condition does not hold.
  public static let changed = FirestoreServiceError(
    .aborted, "The indexes were changed by another call. Read them again, and repeat the change.")
}

extension FirestoreAdminBackend {
  /// Declares the indexes of a database, in place of any others.
  public func setIndexes(
    _ source: String, of database: String, context: CallContext
  ) async throws(FirestoreServiceError) {
    try await setIndexes(source, of: database, if: .any, context: context)
  }
}
