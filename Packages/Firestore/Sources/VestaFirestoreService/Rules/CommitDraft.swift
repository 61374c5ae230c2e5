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
    let place: Place
    let path: ResourcePath
    let name: String
    /// The row that is stored; `nil` for none.
    let before: [UInt8]?
    /// The row after the writes so far; `nil` for none.
    fileprivate(set) var after: [UInt8]?
    fileprivate(set) var isChanged = false

    /// The document that is stored.
    var original: Document? { get throws { try document(before) } }

    /// The document after the writes so far.
    var document: Document? { get throws { try document(after) } }

    private func document(_ row: [UInt8]?) throws(FirestoreServiceError) -> Document? {
      guard let row else { return nil }
      let content = try DocumentRow(row)
      return content.document(named: name, fields: content.fields)
    }
  }

  private(set) var changes: [Change]
  private(set) var results: [WriteResult] = []
  private var version: Int64
  private var time: Timestamp

  /// The version of a draft that is made before its commit has one; no commit has it.
  private static let provisional = Int64.max / 4

  /// - Parameters:
  ///   - targets: The documents that are named, each once.
  ///   - rows: What is stored of them.
  ///   - version: The version of the commit.
  init(targets: [CommitPlan.Target], rows: ArraySlice<[UInt8]?>, version: Int64) {
    self.version = version
    time = Timestamp(microseconds: version)
    changes = zip(targets, rows).map { target, row in
      Change(place: target.place, path: target.path, name: target.name, before: row, after: row)
    }
  }

  /// A draft of a whole plan before its commit; the plan must not depend on the commit time.
  init(before plan: CommitPlan, rows: [[UInt8]?]) throws {
    self.init(targets: plan.targets, rows: rows[...], version: CommitDraft.provisional)
    for (write, target) in plan.writes { try apply(write, to: target) }
  }

  /// This draft at the version of its commit; `nil` when other rows are stored than those that it was made of.
  func stamped(at version: Int64, ifStored rows: ArraySlice<[UInt8]?>) -> CommitDraft? {
    guard zip(changes, rows).allSatisfy({ $0.before == $1 }) else { return nil }
    var copy = self
    copy.version = version
    copy.time = Timestamp(microseconds: version)
    for index in changes.indices where changes[index].isChanged {
      copy.changes[index].after = changes[index].after.map {
        DocumentRow.replacing(CommitDraft.provisional, by: version, in: $0)
      }
    }
    for index in results.indices where results[index].updateTime == time { copy.results[index].updateTime = copy.time }
    return copy
  }

  /// Applies a write to one of the targets; later writes see it.
  ///
  /// - Throws: What its precondition says, or what is wrong with the document it makes.
  mutating func apply(_ write: Write, to target: Int) throws {
    if try replace(write, target) { return }
    let outcome = try write.applied(to: try changes[target].document, commitTime: time)
    results.append(outcome.result)
    guard outcome.isChange else { return }
    changes[target].after = outcome.document.flatMap { document in
      guard let created = document.createTime?.microseconds else { return nil }
      return DocumentRow(created: created, updated: version, fields: document.fields).bytes
    }
    changes[target].isChanged = true
  }

  /// Applies a write that makes a whole document new, without looking into the one before; `false` for other writes.
  private mutating func replace(_ write: Write, _ target: Int) throws(FirestoreServiceError) -> Bool {
    guard case .update(let document, nil, let transforms) = write.operation, transforms.isEmpty else { return false }
    if case .updateTime = write.precondition { return false }
    let present = changes[target].after
    // The precondition asks for existence only.
    try write.precondition?.check(present == nil ? nil : Document(name: document.name), name: document.name)
    let created = try present.map { (row) throws(FirestoreServiceError) in try DocumentRow.created(of: row) } ?? version
    let row = DocumentRow(created: created, updated: version, fields: document.fields.stored).bytes
    if let present, DocumentRow.haveEqualFields(present, row) {
      results.append(WriteResult(updateTime: Timestamp(microseconds: try DocumentRow.version(of: present))))
      return true
    }
    results.append(WriteResult(updateTime: time))
    changes[target].after = row
    changes[target].isChanged = true
    return true
  }

  /// The documents that are different at the end; one that was created and deleted again is not.
  var effective: [Change] { changes.filter { $0.isChanged && !($0.after == nil && $0.before == nil) } }
}
