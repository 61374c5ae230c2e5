public import VestaFirestoreBackend
public import VestaServiceInterop

/// Adds the indexes of a `firestore.indexes.json` to the indexes of a database.
///
/// It does what `firebase deploy --only firestore:indexes` does without `--force`: the indexes of the file are added,
/// the fields of the file get the indexes that it names, and no other index is deleted. One that was made by the
/// administration, or by an earlier file, is deleted by a call of the administration alone.
public enum IndexDeployment {
  /// Declares the indexes of a file.
  ///
  /// - Parameters:
  ///   - text: The text of the file.
  ///   - database: The full name of the database.
  ///   - backend: The administration of the database.
  ///   - context: The caller.
  /// - Throws: `INVALID_ARGUMENT`, with the entry, for a text that declares no indexes, and `FAILED_PRECONDITION` for
  ///   one whose entries cannot be told apart; no index has changed then.
  public static func deploy(
    _ text: String, to database: String, of backend: any FirestoreAdminBackend, context: CallContext
  ) async throws {
    let current = try await backend.declaredIndexes(of: database, context: context)
    let merged = try merged(text, into: current, of: database)
    guard merged != current else { return }
    try await backend.setIndexes(merged, of: database, context: context)
  }

  private static func merged(_ text: String, into current: String?, of database: String) throws -> String {
    // Calls change no text that is not plain JSON, so such a text is that of an earlier file as it was.
    guard let current, var file = try? IndexFile(current, of: database) else { return text }
    let before = try file.text
    file.add(try IndexFile(text, of: database))
    let after = try file.text
    return before == after ? current : after
  }
}

extension FirestoreAdminBackend {
  /// The text of the indexes that were declared; `nil` for none, and for a database to which no document was written.
  func declaredIndexes(of database: String, context: CallContext) async throws(FirestoreServiceError) -> String? {
    do {
      return try await indexes(of: database, context: context)
    } catch {
      guard error.code == .notFound else { throw error }
      return nil
    }
  }
}
