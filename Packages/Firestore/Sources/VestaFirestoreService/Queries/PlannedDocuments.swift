import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// The documents of a plan's entries, read some at a time.
///
/// An index does not say how large its documents are. So few of them are read until some are known, and those that have
/// no room are read again later: a page that waits for a slow caller is in memory for as long as that takes.
struct PlannedDocuments {
  private let snapshot: Snapshot
  private var entries: EntryUnion
  /// The number of documents that were read, and of their bytes.
  private(set) var read = 0
  private(set) var bytes = 0
  /// The number of documents that were read by name, in addition to their entries.
  private var fetched = 0
  private var names: DocumentNames
  /// The entries after the last document that have been read already.
  private var waiting: ArraySlice<PathKey> = []
  /// The bytes of a document by what was read before; 0 when that is not known.
  private let knownBytes: Int

  /// - Parameters:
  ///   - wanted: How many entries are likely to be wanted.
  ///   - progress: The work on the pages before.
  init(_ plan: QueryPlan, wanted: Int, _ progress: RaceProgress, in snapshot: Snapshot) {
    self.snapshot = snapshot
    knownBytes = progress.documentBytes
    names = DocumentNames(in: snapshot.name)
    entries = EntryUnion(plan, wanted: wanted, in: snapshot)
  }

  /// The number of entries that were read.
  var scanned: Int { entries.scanned }

  /// The number of rows that were read.
  var cost: Int { entries.scanned + fetched }

  /// Whether the last call has stopped because no more rows may be read.
  var isPaused: Bool { entries.isPaused }

  /// Says how many rows may be read in all before a pause.
  mutating func allow(_ rows: Int) { entries.allow(rows == .max ? .max : max(0, rows - fetched)) }

  /// The bytes of a document on average; 0 when none is known.
  var documentBytes: Int { read == 0 ? knownBytes : bytes / read }

  /// The number of documents that are likely to fit, by the size of those before.
  func fitting(_ room: Int) -> Int {
    let each = documentBytes
    return each == 0 ? snapshot.tuning.queries.readUnknown : max(1, room / each)
  }

  /// Passes an entry by; false at the end, and at a pause.
  mutating func skip() async throws -> Bool {
    if waiting.popFirst() != nil { return true }
    return try await entries.next() != nil
  }

  /// The next documents, read together; none at the end, and at a pause.
  ///
  /// - Parameters:
  ///   - count: The most documents.
  ///   - room: The bytes after which no document follows; the first one always has room.
  /// - Returns: `nil` for an entry whose document was deleted.
  mutating func next(_ count: Int, room: Int) async throws -> [Document?] {
    var pathKeys: [PathKey] = []
    var rows: [[UInt8]?] = []
    var size = 0
    while pathKeys.count < count, pathKeys.isEmpty || size < room {
      if let pathKey = waiting.popFirst() {
        pathKeys.append(pathKey)
        rows.append(nil)
        continue
      }
      guard let (entry, branch) = try await entries.next() else { break }
      let (pathKey, row) = entries.document(entry, branch)
      if !snapshot.past.isEmpty, snapshot.past[pathKey] != nil { continue }
      pathKeys.append(pathKey)
      rows.append(row)
      size += row?.count ?? 0
    }
    let absent = pathKeys.indices.filter { rows[$0] == nil }
    if !absent.isEmpty {
      fetched += absent.count
      for (index, row) in zip(absent, try await snapshot.rows(at: absent.map { pathKeys[$0] })) { rows[index] = row }
    }
    var documents: [Document?] = []
    size = 0
    for (index, pathKey) in pathKeys.enumerated() {
      guard documents.isEmpty || size < room else {
        waiting = pathKeys[index...] + waiting
        break
      }
      size += rows[index]?.count ?? 0
      documents.append(try rows[index].map { try names.document(at: pathKey, $0) })
    }
    read += documents.count
    bytes += size
    return documents
  }
}
