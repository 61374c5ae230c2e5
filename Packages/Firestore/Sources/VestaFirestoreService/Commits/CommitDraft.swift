import FirestoreInterop
import FirestoreModel

/// What a list of writes makes of the documents they name: a pure step, run inside the store's transaction.
struct CommitDraft {
  /// One document before and after.
  struct Change {
    var place: Place
    var path: ResourcePath
    var before: [UInt8]?
    var document: Document?
    var original: Document?
    var isChanged = false
  }

  private(set) var changes: [Change]
  private(set) var results: [WriteResult] = []
  private var indexes: [Place: Int] = [:]
  private let time: Timestamp

  /// - Parameters:
  ///   - targets: The documents that are named, each once.
  ///   - rows: What is stored of them.
  init(targets: [(Place, ResourcePath)], rows: ArraySlice<[UInt8]?>, database: DatabaseName, version: Int64) throws {
    time = Timestamp(microseconds: version)
    changes = []
    for ((place, path), row) in zip(targets, rows) {
      let stored = try row.map { StoredDocument(place: place, path: path, row: try DocumentRow($0)) }
      let document = stored?.document(in: database)
      indexes[place] = changes.count
      changes.append(Change(place: place, path: path, before: row, document: document, original: document))
    }
  }

  /// Applies a write; later ones see it.
  ///
  /// - Throws: What its precondition says, or what is wrong with the document it makes.
  mutating func apply(_ write: Write, at place: Place) throws(FirestoreError) {
    guard let index = indexes[place] else { throw .damaged }
    let outcome = try write.applied(to: changes[index].document, commitTime: time)
    results.append(outcome.result)
    guard outcome.isChange else { return }
    changes[index].document = outcome.document
    changes[index].isChanged = true
  }

  /// What is different at the end; a document that was made and deleted again is not.
  var effective: [Change] { changes.filter { $0.isChanged && !($0.document == nil && $0.original == nil) } }
}

extension CommitDraft.Change {
  /// The row after the commit.
  var after: [UInt8]? {
    guard let document, let created = document.createTime?.microseconds, let updated = document.updateTime?.microseconds
    else { return nil }
    return DocumentRow(created: created, updated: updated, fields: document.fields).bytes
  }
}
