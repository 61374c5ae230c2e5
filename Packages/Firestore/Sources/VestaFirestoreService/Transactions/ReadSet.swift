import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaFirestoreBackend

/// What a transaction has read, and what must still be so when it commits.
struct ReadSet: Sendable {
  /// A query and the version at which it was answered.
  struct ReadQuery: Sendable {
    var query: NormalQuery
    var version: Int64
  }

  /// The versions of the documents that were read; `nil` for those that were not there.
  private(set) var documents: [Place: Int64?] = [:]
  private(set) var queries: [ReadQuery] = []
  /// Whether one document was read twice, and had changed in between: then no commit can be right.
  private(set) var isTorn = false

  /// How much was read.
  var count: Int { documents.count + queries.count }

  mutating func add(_ place: Place, version: Int64?) {
    if let known = documents[place], known != version { isTorn = true }
    documents[place] = .some(version)
  }

  mutating func add(_ query: NormalQuery, version: Int64) {
    queries.append(ReadQuery(query: query, version: version))
  }

  /// Checks the documents.
  ///
  /// - Throws: `ABORTED` when one of them has changed, has gone or has come.
  func check(_ places: [Place], rows: ArraySlice<[UInt8]?>) throws(FirestoreServiceError) {
    if isTorn { throw .contention }
    for (place, row) in zip(places, rows) {
      guard let read = documents[place] else { continue }
      var version: Int64?
      if let row { version = try DocumentRow.version(of: row) }
      if version != read { throw .contention }
    }
  }

  /// Checks that no commit since has touched what a query looked for, results and absences alike.
  ///
  /// It reads what was changed since the queries were answered, so it costs these changes and not the results.
  func checkQueries(in snapshot: Snapshot) async throws {
    guard let first = queries.map(\.version).min() else { return }
    // The log no longer tells what was changed since.
    guard first >= (try await snapshot.horizon()) else { throw FirestoreServiceError.contention }
    // Queries of one collection at one version share the look into the log.
    let groups = Dictionary(grouping: queries) { QueryGroup(version: $0.version, parent: $0.query.changeKey) }
    for (group, queries) in groups {
      let changes = try await snapshot.changes(after: group.version, in: ChangeScope(queries[0].query))
      let latest = try await snapshot.documents(at: changes.map(\.place))
      for (change, after) in zip(changes, latest) {
        let before = try change.before.map { try StoredDocument(place: change.place, row: $0) }
        let touched = [before, after].compactMap { $0?.document(in: snapshot.name) }
        for read in queries where touched.contains(where: read.query.matches) {
          throw FirestoreServiceError.contention
        }
      }
    }
  }

  private struct QueryGroup: Hashable {
    var version: Int64
    var parent: String
  }
}

extension NormalQuery {
  /// Equal for queries whose changes are in one scope.
  fileprivate var changeKey: String {
    guard let collectionID else { return "" }
    return allDescendants ? "**/\(collectionID)" : parent.path.appending(collectionID).description
  }
}
