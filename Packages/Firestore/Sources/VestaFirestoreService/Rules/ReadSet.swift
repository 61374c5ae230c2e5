import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// The documents and queries that a transaction has read, which must be unchanged when it commits.
struct ReadSet: Sendable {
  /// A query and the version at which it was answered.
  struct ReadQuery: Sendable {
    var query: NormalQuery
    var version: Int64
  }

  /// The versions of the documents that were read; `nil` for missing ones.
  private(set) var documents: [PathKey: Int64?] = [:]
  private(set) var queries: [ReadQuery] = []
  /// Whether one document was read twice, and had changed in between: then no commit can be right.
  private(set) var isTorn = false

  /// The number of documents and queries that were read.
  var count: Int { documents.count + queries.count }

  mutating func add(_ pathKey: PathKey, version: Int64?) {
    if let known = documents[pathKey], known != version { isTorn = true }
    documents[pathKey] = .some(version)
  }

  mutating func add(_ query: NormalQuery, version: Int64) {
    queries.append(ReadQuery(query: query, version: version))
  }

  /// Checks the documents.
  ///
  /// - Throws: `ABORTED` when one of them was changed, deleted or created.
  func check(_ pathKeys: [PathKey], rows: ArraySlice<[UInt8]?>) throws(FirestoreServiceError) {
    if isTorn { throw .contention }
    for (pathKey, row) in zip(pathKeys, rows) {
      guard let read = documents[pathKey] else { continue }
      var version: Int64?
      if let row { version = try DocumentRow.version(of: row) }
      if version != read { throw .contention }
    }
  }
}
