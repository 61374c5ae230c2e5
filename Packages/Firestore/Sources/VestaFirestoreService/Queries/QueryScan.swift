import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// Answers a query by looking at every document of its collections, in batches: while an index is being made.
struct QueryScan {
  let query: NormalQuery
  let snapshot: Snapshot

  /// The results in order, offset and limit applied, with all fields; and how many the offset left out.
  func results() async throws -> (documents: [Document], skipped: Int, read: Int) {
    let tuning = snapshot.tuning.queries
    var best = BestResults(query, wanted: BestResults.needed(for: query), spare: tuning.spareResults)
    var read = 0
    var scan = GroupScan(query.collectionID ?? "", range: range, keys: snapshot.keys)
    let bytes = snapshot.entryTuning.batchBytes
    while let entries = try await scan.next(tuning.scannedTogether, bytes: bytes, in: snapshot.reader) {
      read += entries.count
      try take(entries, into: &best)
    }
    for document in try PastDocuments(of: query, in: snapshot).documents { best.take(document) }
    var sink = QuerySink(query)
    for document in best.results() where !sink.isFull { sink.take(document) }
    return (sink.documents, sink.skipped, read)
  }

  private var range: KeyRange {
    let path = query.parent.path
    guard !query.allDescendants, let collectionID = query.collectionID else {
      return snapshot.keys.documents(below: path)
    }
    return snapshot.keys.documents(of: path.appending(collectionID))
  }

  /// Takes the documents that match.
  private func take(_ entries: [StoreEntry], into best: inout BestResults) throws {
    for entry in entries {
      let pathKey = snapshot.keys.pathKey(ofDocumentKey: entry.key)
      if !snapshot.past.isEmpty, snapshot.past[pathKey] != nil { continue }
      if let document = try snapshot.result(of: query, at: pathKey, entry.value) { best.take(document) }
    }
  }
}
