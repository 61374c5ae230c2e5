import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaServiceInterop

/// The caller of a call that the guard is asked about.
///
/// Every question names the documents of one version: that of a read, or the one before a commit.
final class GuardedCaller: Sendable {
  private let gatekeeper: any FirestoreGuard
  private let context: CallContext
  private let clock: ServiceClock

  /// The caller; `nil` where no question is needed: without a guard, and for an owner.
  init?(_ gatekeeper: (any FirestoreGuard)?, _ context: CallContext, _ clock: ServiceClock) {
    guard let gatekeeper, !context.isOwner else { return nil }
    (self.gatekeeper, self.context, self.clock) = (gatekeeper, context, clock)
  }

  private var now: Timestamp { Timestamp(microseconds: clock.now()) }

  /// Asks about the get of a document.
  ///
  /// - Throws: `PERMISSION_DENIED`, and what the guard throws.
  func get(_ name: String, _ document: Document?, _ state: any FirestoreGuardState) async throws {
    switch mayGetAtOnce(name, document) {
    case true?: return
    case false?: throw FirestoreServiceError.denied
    case nil: try await getLater(name, document, state)
    }
  }

  /// Whether the get of a document is allowed; `nil` where the guard cannot say that without a wait.
  func mayGetAtOnce(_ name: String, _ document: Document?) -> Bool? {
    gatekeeper.mayGetAtOnce(name, document, at: { now }, context: context)
  }

  /// Asks about a get that needs a wait.
  ///
  /// - Throws: As ``get(_:_:_:)``.
  func getLater(_ name: String, _ document: Document?, _ state: any FirestoreGuardState) async throws {
    guard try await gatekeeper.mayGet(name, document, state: state, at: now, context: context) else {
      throw FirestoreServiceError.denied
    }
  }

  /// Asks about all results of a query.
  ///
  /// - Parameters:
  ///   - parent: The parent of the query.
  ///   - query: The query as it was sent.
  /// - Throws: `PERMISSION_DENIED`, and what the guard throws.
  func list(_ parent: ResourceName, _ query: StructuredQuery, _ state: any FirestoreGuardState) async throws {
    let asked = FirestoreGuardedQuery(parent: parent.description, query: query)
    guard try await gatekeeper.mayList(asked, state: state, at: now, context: context) else {
      throw FirestoreServiceError.denied
    }
  }

  /// Asks about the writes of a commit.
  ///
  /// - Parameters:
  ///   - rows: The stored rows of the plan's documents.
  ///   - version: The version of the commit; `nil` for one that changes nothing.
  ///   - snapshot: The documents before it, in its transaction.
  /// - Throws: `PERMISSION_DENIED`, and what the guard throws.
  func commit(
    _ plan: CommitPlan, _ rows: ArraySlice<[UInt8]?>, at version: Int64?, in snapshot: Snapshot
  ) async throws {
    if plan.writes.isEmpty { return }
    let time = version.map { Timestamp(microseconds: $0) } ?? now
    let writes = try plan.guardedWrites(rows, in: snapshot.name, at: time)
    let state = SnapshotState(snapshot: snapshot)
    // To the millisecond, as times of the server are in documents: rules compare the two.
    let told = FieldTransform.serverTime(of: time)
    guard try await gatekeeper.mayCommit(writes, state: state, at: told, context: context) else {
      throw FirestoreServiceError.denied
    }
  }
}

/// The documents at the version of a snapshot, whatever its scope.
struct SnapshotState: FirestoreGuardState {
  let snapshot: Snapshot
  /// Notes the documents that the guard looks up; `nil` where they are of no interest.
  var lookedUp: LookedUp?

  nonisolated(nonsending) func document(_ name: String) async throws -> Document? {
    // Rules look into the database of the call only.
    guard let name = try? ResourceName(document: name, likely: snapshot.name), name.database == snapshot.name else {
      return nil
    }
    let pathKey = PathKey(name.path)
    lookedUp?.note(pathKey)
    guard let row = try await snapshot.unscoped.at(snapshot.version, .pathKeys([pathKey])).row(at: pathKey) else {
      return nil
    }
    let content = try DocumentRow(row, of: name.path)
    return content.document(named: name.description, fields: content.fields)
  }
}

/// The documents that a guard looks up for an answer, there or not.
final class LookedUp: Sendable {
  private let noted = Locked<Set<PathKey>>([])

  var pathKeys: Set<PathKey> { noted.withLock { $0 } }

  func note(_ pathKey: PathKey) { noted.withLock { _ = $0.insert(pathKey) } }
}

/// The documents at a version that the store is not being read at: it is read where the guard looks a document up.
struct VersionState: FirestoreGuardState {
  let engine: DocumentDatabase
  let version: Int64

  nonisolated(nonsending) func document(_ name: String) async throws -> Document? {
    try await engine.reading(version: version, .pathKeys([])) {
      try await SnapshotState(snapshot: $0).document(name)
    }
  }
}

extension Snapshot {
  /// The latest version that the reader sees.
  fileprivate var unscoped: Snapshot {
    Snapshot(reader: reader, keys: keys, name: name, indexes: nil, retention: retention, tuning: tuning)
  }
}

extension CommitPlan {
  /// The writes as a guard sees them: each with its document before and after, whatever its precondition says.
  fileprivate func guardedWrites(
    _ rows: ArraySlice<[UInt8]?>, in database: DatabaseName, at time: Timestamp
  ) throws -> [FirestoreGuardedWrite] {
    let names = targets.map { $0.fullName(in: database) }
    var documents: [Document?] = []
    documents.reserveCapacity(targets.count)
    for (place, row) in rows.enumerated() {
      let content = try row.map { try DocumentRow($0, of: targets[place].path) }
      documents.append(content.map { $0.document(named: names[place], fields: $0.fields) })
    }
    var guarded: [FirestoreGuardedWrite] = []
    guarded.reserveCapacity(writes.count)
    for (write, target) in writes {
      let before = documents[target]
      let after = try write.outcome(of: before, names[target], at: time)
      // Few commits write a document more than once.
      if writes.count > targets.count { documents[target] = after }
      guarded.append(
        FirestoreGuardedWrite(
          write.operation.guardedKind, names[target], before: before, after: after, precondition: write.precondition))
    }
    return guarded
  }
}

extension Write {
  /// The document after the write, whatever its precondition says; `nil` for none.
  fileprivate func outcome(of before: Document?, _ name: String, at time: Timestamp) throws -> Document? {
    switch operation {
    case .verify: return before
    case .delete: return nil
    case .update(let update, nil, let transforms) where transforms.isEmpty:
      // Most writes replace the whole document, for which nothing is put together.
      let fields = update.fields.stored
      let isChange = before.map { $0.fields != fields } ?? true
      return Document(
        name: name, fields: fields, createTime: before?.createTime ?? time,
        updateTime: isChange ? time : before?.updateTime)
    case .update, .transform:
      var draft = DocumentDraft(before, name: name, commitTime: time)
      _ = try draft.apply(Write(operation))
      // A document beyond the limits is refused after the question, so that a denied caller learns nothing of it.
      return try draft.finish(isChecked: false)
    }
  }
}

extension Write.Operation {
  /// The kind of the write for a guard.
  fileprivate var guardedKind: FirestoreGuardedWrite.Kind {
    switch self {
    case .verify: .verification
    case .delete: .deletion
    case .update, .transform: .change
    }
  }
}

extension CommitPlan.Target {
  /// The full name, as the backend says it: nearly always the name of the request.
  fileprivate func fullName(in database: DatabaseName) -> String {
    if name.utf8.dropping(prefix: database.documentsPrefix.utf8) != nil { return name }
    return ResourceName(database: database, path: path).description
  }
}
