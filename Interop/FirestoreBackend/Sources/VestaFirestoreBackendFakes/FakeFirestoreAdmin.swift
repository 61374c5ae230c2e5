import VestaConcurrency
public import VestaFirestoreBackend
import VestaServiceInterop

/// An administration over any backend, by its queries and commits, for tests of what stands on the seam.
///
/// It serves every caller, and imported documents have the times of the import. It knows the databases that it was told
/// of, and keeps texts of indexes without reading them.
public final class FakeFirestoreAdmin: FirestoreAdminBackend {
  private struct State {
    var databases: Set<String> = []
    var indexes: [String: String] = [:]
  }

  private let backend: any FirestoreBackend
  private let state = Locked(State())

  /// An administration of the databases of a backend.
  public init(_ backend: any FirestoreBackend) { self.backend = backend }

  /// The databases that were made, written to by an import, or given indexes.
  public func databases(context: CallContext) async throws(FirestoreServiceError) -> [String] {
    state.withLock { $0.databases.sorted() }
  }

  /// Notes a database.
  public func createDatabase(_ database: String, context: CallContext) async throws(FirestoreServiceError) {
    guard state.withLock({ $0.databases.insert(database).inserted }) else {
      throw FirestoreServiceError(.alreadyExists, "There is a database \(database) already.")
    }
  }

  /// Deletes what a query of everything finds, and forgets the database.
  public func deleteDatabase(_ database: String, context: CallContext) async throws(FirestoreServiceError) {
    let isKnown = state.withLock { state in
      state.indexes[database] = nil
      return state.databases.remove(database) != nil
    }
    guard isKnown else { throw FirestoreServiceError(.notFound, "There is no database \(database).") }
    try await clear(database, context: context)
  }

  /// The text that was set.
  public func indexes(of database: String, context: CallContext) async throws(FirestoreServiceError) -> String? {
    state.withLock { $0.indexes[database] }
  }

  /// Keeps a text.
  public func setIndexes(
    _ source: String, of database: String, if condition: IndexesCondition, context: CallContext
  ) async throws(FirestoreServiceError) {
    let isSet = state.withLock { state in
      guard condition.holds(for: state.indexes[database]) else { return false }
      state.databases.insert(database)
      state.indexes[database] = source
      return true
    }
    if !isSet { throw IndexesCondition.changed }
  }

  /// Deletes what a query of everything finds.
  public func clear(_ database: String, context: CallContext) async throws(FirestoreServiceError) {
    do {
      let writes = try await documents(of: database, context).map { Write.delete($0.name) }
      if !writes.isEmpty { _ = try await backend.commit(.init(database: database, writes: writes), context: context) }
    } catch let error as FirestoreServiceError {
      throw error
    } catch {
      throw FirestoreServiceError(.unknown, "\(error)")
    }
  }

  /// Gives what a query of everything finds, all together.
  public func export(
    _ database: String, context: CallContext, to receive: ([Document]) async throws -> Void
  ) async throws {
    let documents = try await documents(of: database, context)
    if !documents.isEmpty { try await receive(documents) }
  }

  /// Writes documents, one commit for each part.
  public func `import`(
    _ database: String, context: CallContext, from next: () async throws -> [Document]?
  ) async throws {
    state.withLock { _ = $0.databases.insert(database) }
    while let part = try await next() {
      let writes = part.map { document in
        let path = document.name.split(separator: "/", maxSplits: 5).last.map(String.init) ?? ""
        return Write.update(Document(name: "\(database)/documents/\(path)", fields: document.fields))
      }
      if !writes.isEmpty { _ = try await backend.commit(.init(database: database, writes: writes), context: context) }
    }
  }

  private func documents(of database: String, _ context: CallContext) async throws -> [Document] {
    var found: [Document] = []
    let query = StructuredQuery(from: [.init(collectionID: "", allDescendants: true)])
    try await backend.runQuery(.init(parent: database + "/documents", query: query), context: context) { response in
      if let document = response.document { found.append(document) }
    }
    return found
  }
}
