import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// Answers a query by looking at every document of its collections, in batches: while an index is being made.
///
/// It may stop after a number of rows, and continue with another snapshot of the same version. A document that has
/// changed since that version is taken from the past, by the part whose range contains it.
struct QueryScan: Sendable {
  private let query: NormalQuery
  private var scan: GroupScan
  private var best: BestResults

  init(_ query: NormalQuery, in snapshot: Snapshot) {
    self.query = query
    scan = GroupScan(query.collectionID ?? "", range: Self.range(of: query, snapshot.keys), keys: snapshot.keys)
    best = BestResults(
      query, wanted: BestResults.needed(for: query), spare: snapshot.tuning.queries.spareResults)
  }

  private static func range(of query: NormalQuery, _ keys: DocumentDatabaseKeys) -> KeyRange {
    let path = query.parent.path
    guard !query.allDescendants, let collectionID = query.collectionID else { return keys.documents(below: path) }
    return keys.documents(of: path.appending(collectionID))
  }

  /// Whether all documents have been looked at.
  var isOver: Bool { scan.rest == nil }

  /// Looks at more documents.
  ///
  /// - Parameter rows: The number of rows after which others have their turn.
  /// - Returns: The number of documents.
  mutating func look(atMost rows: Int, in snapshot: Snapshot) async throws -> Int {
    guard let lower = scan.rest?.lower else { return 0 }
    let (together, bytes) = (snapshot.tuning.queries.scannedTogether, snapshot.entryTuning.batchBytes)
    var (left, read) = (rows, 0)
    while left > 0 {
      let wanted = min(together, left)
      guard let entries = try await scan.next(wanted, bytes: bytes, in: snapshot.reader) else { break }
      // Rows of other collections cost as much.
      left -= entries.isEmpty ? wanted : entries.count
      read += entries.count
      try take(entries, in: snapshot)
    }
    try takePast(from: lower, to: scan.rest?.lower, in: snapshot)
    return read
  }

  /// Takes the documents that match.
  private mutating func take(_ entries: [StoreEntry], in snapshot: Snapshot) throws {
    for entry in entries {
      let pathKey = snapshot.keys.pathKey(ofDocumentKey: entry.key)
      if !snapshot.past.isEmpty, snapshot.past[pathKey] != nil { continue }
      if let document = try snapshot.result(of: query, at: pathKey, entry.value) { best.take(document) }
    }
  }

  /// Takes the documents of a range that have changed since the version, as they were then.
  private mutating func takePast(from lower: [UInt8], to upper: [UInt8]?, in snapshot: Snapshot) throws {
    for case (let pathKey, let row?) in snapshot.past {
      let key = snapshot.keys.document(pathKey)
      if key.lexicographicallyPrecedes(lower) { continue }
      if let upper, !key.lexicographicallyPrecedes(upper) { continue }
      if let document = try snapshot.result(of: query, at: pathKey, row) { best.take(document) }
    }
  }

  /// The results in order, offset and limit applied, with all fields; and how many the offset left out.
  mutating func results() -> (documents: [Document], skipped: Int) {
    var sink = QuerySink(query)
    for document in best.results() where !sink.isFull { sink.take(document) }
    return (sink.documents, sink.skipped)
  }
}
