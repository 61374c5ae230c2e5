import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

extension ReadSet {
  /// Checks that no commit since has touched what a query looked for, results and absences alike.
  ///
  /// It reads what was changed since the queries were answered, so it costs these changes and not the results.
  func checkQueries(in snapshot: Snapshot) async throws {
    guard let first = queries.map(\.version).min() else { return }
    // The log no longer has what was changed since.
    guard first >= (try await snapshot.horizon()) else { throw FirestoreServiceError.contention }
    // Queries of one collection at one version share the look into the log.
    let groups = Dictionary(grouping: queries) { QueryGroup(version: $0.version, parent: $0.query.changeKey) }
    for (group, queries) in groups {
      let changes = try await snapshot.changes(after: group.version, in: ChangeScope(queries[0].query))
      let latest = try await snapshot.documents(at: changes.map(\.pathKey))
      // Many queries and many changes: each change looks at the queries that may concern it.
      var index = WatchIndex()
      for (number, read) in queries.enumerated() { index.insert(number, .query(read.query)) }
      for (change, after) in zip(changes, latest) {
        let before = try change.before.map { try StoredDocument(pathKey: change.pathKey, row: $0) }
        let touched = [before, after].compactMap { $0?.document(in: snapshot.name) }
        let path = try change.pathKey.path()
        for number in index.candidates(change.pathKey, path, touched)
        where touched.contains(where: { queries[number].query.matches($0, at: path) }) {
          throw FirestoreServiceError.contention
        }
      }
    }
  }
}

private struct QueryGroup: Hashable {
  var version: Int64
  var parent: String
}

extension NormalQuery {
  /// Equal for queries whose changes are in one scope.
  fileprivate var changeKey: String {
    guard let collectionID else { return "" }
    return allDescendants ? "**/\(collectionID)" : parent.path.appending(collectionID).description
  }
}
