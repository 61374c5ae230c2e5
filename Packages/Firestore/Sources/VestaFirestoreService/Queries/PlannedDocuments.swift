import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// The documents of a plan's entries, read some at a time.
struct PlannedDocuments {
  private let snapshot: Snapshot
  private var entries: EntryUnion
  /// The number of documents that were read, and of their bytes.
  private(set) var read = 0
  private(set) var bytes = 0
  /// The number of documents that were read by name, in addition to their entries.
  private var fetched = 0
  private var names: DocumentNames

  /// - Parameter wanted: How many entries are likely to be wanted.
  init(_ plan: QueryPlan, wanted: Int, in snapshot: Snapshot) {
    self.snapshot = snapshot
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

  /// The number of documents that are likely to fit, by the size of those before.
  func fitting(_ room: Int) -> Int {
    let each = read == 0 ? 0 : bytes / read
    return each == 0 ? .max : max(1, room / each)
  }

  /// Passes an entry by; false at the end, and at a pause.
  mutating func skip() async throws -> Bool { try await entries.next() != nil }

  /// The next documents, read together; none at the end, and at a pause.
  ///
  /// - Returns: `nil` for an entry whose document was deleted.
  mutating func next(_ count: Int) async throws -> [Document?] {
    var pathKeys: [PathKey] = []
    var rows: [[UInt8]?] = []
    while pathKeys.count < count, let (entry, branch) = try await entries.next() {
      let (pathKey, row) = entries.document(entry, branch)
      if !snapshot.past.isEmpty, snapshot.past[pathKey] != nil { continue }
      pathKeys.append(pathKey)
      rows.append(row)
    }
    read += pathKeys.count
    let absent = pathKeys.indices.filter { rows[$0] == nil }
    if !absent.isEmpty {
      fetched += absent.count
      for (index, row) in zip(absent, try await snapshot.rows(at: absent.map { pathKeys[$0] })) { rows[index] = row }
    }
    return try zip(pathKeys, rows).map { pathKey, row in
      guard let row else { return nil }
      bytes += row.count
      return try names.document(at: pathKey, row)
    }
  }
}
