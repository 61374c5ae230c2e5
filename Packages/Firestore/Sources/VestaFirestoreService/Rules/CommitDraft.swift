import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// The outcome of a list of writes for the documents they name: a pure step, run inside the store's transaction.
///
/// A stored row is taken apart only where a write, an index or a result needs what is in it. Most writes replace a
/// whole document, and need not.
struct CommitDraft {
  /// One document before and after.
  struct Change {
    let pathKey: PathKey
    let path: ResourcePath
    let name: String
    /// The row that is stored; `nil` for none.
    let before: [UInt8]?
    /// The row after the writes so far; `nil` for none.
    fileprivate(set) var after: [UInt8]?
    fileprivate(set) var isChanged = false
    /// The document while writes are applied that need what is in it.
    fileprivate var draft: DocumentDraft?

    /// The document that is stored.
    var original: Document? { get throws { try document(before) } }

    /// The document after the writes so far.
    var document: Document? { get throws { try document(after) } }

    private func document(_ row: [UInt8]?) throws(FirestoreServiceError) -> Document? {
      guard let row else { return nil }
      let content = try DocumentRow(row, of: path)
      return content.document(named: name, fields: content.fields)
    }
  }

  private(set) var changes: [Change]
  private(set) var results: [WriteResult] = []
  private var version: Int64
  private var time: Timestamp

  /// The version of a draft that is made before its commit has one: a time that documents may have, and that no commit
  /// has for some thousand years.
  private static let provisional: Int64 = 253_402_300_799_999_999

  /// - Parameters:
  ///   - targets: The documents that are named, each once.
  ///   - rows: Their stored rows.
  ///   - version: The version of the commit.
  init(targets: [CommitPlan.Target], rows: ArraySlice<[UInt8]?>, version: Int64) {
    self.version = version
    time = Timestamp(microseconds: version)
    changes = zip(targets, rows).map { target, row in
      Change(pathKey: target.pathKey, path: target.path, name: target.name, before: row, after: row)
    }
  }

  /// A draft of a whole plan before its commit.
  init(before plan: CommitPlan, rows: [[UInt8]?]) throws {
    self.init(targets: plan.targets, rows: rows[...], version: CommitDraft.provisional)
    try apply(plan)
  }

  /// Whether these are the rows that the draft was made of.
  func isMade(of rows: ArraySlice<[UInt8]?>) -> Bool { zip(changes, rows).allSatisfy { $0.before == $1 } }

  /// This draft at the version of its commit.
  func stamped(at version: Int64) throws -> CommitDraft {
    var copy = self
    copy.version = version
    copy.time = Timestamp(microseconds: version)
    for index in changes.indices where changes[index].isChanged {
      copy.changes[index].after = try changes[index].stamped(copy.time)
    }
    let provisional = Value.timestamp(FieldTransform.serverTime(of: time))
    let serverTime = Value.timestamp(FieldTransform.serverTime(of: copy.time))
    for index in results.indices {
      if results[index].updateTime == time { copy.results[index].updateTime = copy.time }
      for (part, value) in results[index].transformResults.enumerated() where value == provisional {
        copy.results[index].transformResults[part] = serverTime
      }
    }
    return copy
  }

  /// Applies the writes of a plan, in their order.
  ///
  /// - Throws: The failure of a precondition, or of the resulting document's check.
  mutating func apply(_ plan: CommitPlan) throws {
    results.reserveCapacity(plan.writes.count)
    for (write, target) in plan.writes { results.append(try changes[target].apply(write, at: version)) }
    for index in changes.indices { try changes[index].finish(at: version) }
  }

  /// Gives new documents the times of creation that they have had elsewhere, where these are in the past.
  mutating func restore(_ restored: RestoredTimes) {
    for index in changes.indices where changes[index].isChanged && changes[index].before == nil {
      guard let created = restored.creations[changes[index].path], created <= version, let row = changes[index].after
      else { continue }
      changes[index].after = DocumentRow.created(created, row)
    }
  }

  /// The documents that are different at the end; one that was created and deleted again is not.
  var effective: [Change] { changes.filter { $0.isChanged && !($0.after == nil && $0.before == nil) } }
}

extension CommitDraft.Change {
  /// Applies a write; later writes see it.
  fileprivate mutating func apply(_ write: Write, at version: Int64) throws -> WriteResult {
    if draft == nil, let result = try applyToRow(write, at: version) { return result }
    var current = try draft ?? DocumentDraft(document, name: name, commitTime: Timestamp(microseconds: version))
    // One owner at a time: its arrays would be copied for each write.
    draft = nil
    defer { draft = current }
    return try current.apply(write)
  }

  /// Checks a precondition by the times of the stored row alone.
  private func checkHead(_ precondition: Precondition?, isVerification: Bool) throws(FirestoreServiceError) {
    guard let precondition else { return }
    let head = try after.map { (row) throws(FirestoreServiceError) in
      Document(name: name, updateTime: Timestamp(microseconds: try DocumentRow.version(of: row)))
    }
    try precondition.check(head, name: name, isVerification: isVerification)
  }

  /// Applies a write that does not need what is stored but its times; `nil` for other writes.
  private mutating func applyToRow(_ write: Write, at version: Int64) throws(FirestoreServiceError) -> WriteResult? {
    var isVerification = false
    switch write.operation {
    case .update(_, nil, let transforms) where transforms.isEmpty: break
    case .delete: break
    case .verify: isVerification = true
    case .update, .transform: return nil
    }
    try checkHead(write.precondition, isVerification: isVerification)
    switch write.operation {
    case .update(let document, _, _): return try replace(by: document.fields.stored, at: version)
    case .delete:
      isChanged = isChanged || after != nil
      after = nil
    case .verify, .transform: break
    }
    return WriteResult()
  }

  private mutating func replace(by fields: MapValue, at version: Int64) throws(FirestoreServiceError) -> WriteResult {
    // A row that is too short for its times is replaced like any other.
    let created = after.flatMap { try? DocumentRow.created(of: $0) } ?? version
    let row = DocumentRow(created: created, updated: version, fields: fields).bytes
    if let after, DocumentRow.haveEqualFields(after, row) {
      return WriteResult(updateTime: Timestamp(microseconds: try DocumentRow.version(of: after)))
    }
    after = row
    isChanged = true
    return WriteResult(updateTime: Timestamp(microseconds: version))
  }

  /// Makes the row of a document that was taken apart.
  fileprivate mutating func finish(at version: Int64) throws {
    guard var current = draft else { return }
    draft = nil
    let document = try current.finish()
    draft = current
    guard current.isChanged else { return }
    isChanged = true
    after = document.flatMap { document in
      guard let created = document.createTime?.microseconds else { return nil }
      return DocumentRow(created: created, updated: version, fields: document.fields).bytes
    }
  }

  /// The row at the time of its commit.
  fileprivate func stamped(_ time: Timestamp) throws -> [UInt8]? {
    guard let after, let version = time.microseconds else { return nil }
    let row = DocumentRow.replacing(try DocumentRow.version(of: after), by: version, in: after)
    guard let draft, draft.hasServerTimes, let fields = draft.fields(at: time) else { return row }
    return DocumentRow(created: try DocumentRow.created(of: row), updated: version, fields: fields).bytes
  }
}
