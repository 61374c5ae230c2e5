import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// The subject of a target; targets with equal subjects share one.
enum WatchSubject: Hashable, Sendable {
  case query(NormalQuery)
  case documents(Set<PathKey>)

  /// - Throws: `INVALID_ARGUMENT` for a target that cannot be followed in this database.
  init(_ subject: Target.Subject, in database: DatabaseName) throws(FirestoreServiceError) {
    switch subject {
    case .documents(let names):
      let parsed = try names.map { (name) throws(FirestoreServiceError) in try ResourceName(document: name) }
      guard !parsed.isEmpty, parsed.allSatisfy({ $0.database == database }) else {
        throw FirestoreServiceError.refused("A target needs at least one document, all of \(database).")
      }
      self = .documents(Set(parsed.map { PathKey($0.path) }))
    case .query(let parent, var query):
      guard query.findNearest == nil else {
        throw FirestoreServiceError.refused("Queries with find_nearest cannot be listened to.")
      }
      // A change carries the whole document.
      query.select = nil
      let normal = try NormalQuery(query, parent: parent)
      guard normal.parent.database == database else {
        throw FirestoreServiceError.refused("\"\(parent)\" is not in the database of the call, \(database).")
      }
      self = .query(normal)
    }
  }

  /// The part of the log that the subject depends on.
  var scope: ChangeScope {
    switch self {
    case .query(let query): ChangeScope(query)
    case .documents(let pathKeys): .pathKeys(pathKeys)
    }
  }

  /// Whether a document may be in the subject, whatever is in it.
  func covers(_ pathKey: PathKey, _ path: ResourcePath) -> Bool {
    switch self {
    case .query(let query): query.selects(path)
    case .documents(let pathKeys): pathKeys.contains(pathKey)
    }
  }

  /// Whether the subject is documents by name.
  var isDocuments: Bool { if case .documents = self { true } else { false } }

  /// Whether membership depends on more than the document itself.
  var isLimited: Bool {
    if case .query(let query) = self { return query.limit != nil || query.offset > 0 }
    return false
  }

  /// Returns the view of a limited query at a snapshot; `nil` for other subjects.
  ///
  /// - Parameter attempts: The number of runs in vain: the more, the longer the spare of the view.
  func limitedView(in snapshot: Snapshot, attempts: Int = 0) async throws -> LimitedView? {
    guard isLimited, case .query(let query) = self else { return nil }
    guard let wanted = LimitedView.wanted(for: query, attempts: attempts, snapshot.tuning.listening) else {
      return LimitedView(query, try await results(in: snapshot))
    }
    let matches = try await QueryRunner(query: query.first(wanted), snapshot: snapshot).answer().documents
    return try LimitedView(
      query, matches: matches, wanted: wanted, bytes: LimitedView.bytes(attempts: attempts, snapshot.tuning.listening))
  }

  /// Returns the view of a limited query with the given results; `nil` for other subjects.
  func limitedView(_ view: WatchView) -> LimitedView? {
    guard isLimited, case .query(let query) = self else { return nil }
    return LimitedView(query, view)
  }

  /// Whether a document of the database matches, limits aside.
  func matches(_ document: Document, at pathKey: PathKey, _ path: ResourcePath) -> Bool {
    switch self {
    case .query(let query): query.matches(document, at: path)
    case .documents(let pathKeys): pathKeys.contains(pathKey)
    }
  }

  /// Returns all results at a snapshot.
  func results(in snapshot: Snapshot) async throws -> WatchView {
    switch self {
    case .documents(let pathKeys):
      var found: WatchView = [:]
      for case let stored? in try await snapshot.documents(at: Array(pathKeys)) {
        found[stored.pathKey] = stored.document(in: snapshot.name)
      }
      return found
    case .query(let query):
      let documents = try await QueryRunner(query: query, snapshot: snapshot).answer().documents
      return Dictionary(
        try documents.map { (PathKey(try ResourceName(document: $0.name).path), $0) },
        uniquingKeysWith: { first, _ in first })
    }
  }
}
