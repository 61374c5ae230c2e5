public import VestaFirestoreBackend
public import VestaServiceInterop

/// Adds the indexes of a `firestore.indexes.json` to the indexes of a database.
///
/// It does what `firebase deploy --only firestore:indexes` does without `--force`: the indexes of the file are added,
/// the fields of the file get the indexes that it names, and no other index is deleted. One that was made by the
/// administration, or by an earlier file, is deleted by a call of the administration alone.
public enum IndexDeployment {
  /// The number of attempts of a change: each one that fails is another caller's success.
  static let attempts = 100

  /// Declares the indexes of a file.
  ///
  /// - Parameters:
  ///   - text: The text of the file.
  ///   - database: The full name of the database.
  ///   - backend: The administration of the database.
  ///   - context: The caller.
  /// - Throws: `INVALID_ARGUMENT`, with the entry, for a text that declares no indexes, and `FAILED_PRECONDITION` for
  ///   one whose entries cannot be distinguished; no index has changed then.
  public static func deploy(
    _ text: String, to database: String, of backend: any FirestoreAdminBackend, context: CallContext
  ) async throws {
    try await backend.changeIndexes(of: database, context: context) { current in
      (try merged(text, into: current, of: database), ())
    }
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
  /// Changes the indexes that were declared, again where another server has changed them in between.
  ///
  /// - Parameter body: Gets the text of the indexes, and returns the next one and the result; it may run again.
  /// - Throws: `ABORTED` where others change them all the time.
  func changeIndexes<Result>(
    of database: String, context: CallContext, _ body: (String?) throws -> (text: String?, result: Result)
  ) async throws -> Result {
    for _ in 0..<IndexDeployment.attempts {
      let current = try await declaredIndexes(of: database, context: context)
      let (text, result) = try body(current)
      guard let text, text != current else { return result }
      do throws(FirestoreServiceError) {
        try await setIndexes(text, of: database, if: .text(current), context: context)
        return result
      } catch {
        guard error.code == .aborted else { throw error }
      }
    }
    throw IndexesCondition.changed
  }

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
