import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

/// Answers a query by looking at every document of its collections, in batches: while an index is being made.
struct QueryScan {
  let query: NormalQuery
  let snapshot: Snapshot

  private static let batch = 256

  /// What has been found so far.
  private struct Found {
    var matches: [Document] = []
    var read = 0
    /// How many of the first results are wanted; `nil` for all.
    let wanted: Int?
    /// With many matches the best are kept; what comes behind the last of them then is no result.
    private var worst: Document?

    init(wanted: Int?) { self.wanted = wanted }

    /// Takes a match; where few results are wanted it keeps few, so that a large collection fits.
    mutating func take(_ document: Document, _ query: NormalQuery) {
      if let worst, query.compare(worst, document) <= 0 { return }
      matches.append(document)
      guard let wanted, matches.count >= 2 * wanted + 256 else { return }
      matches.sort { query.compare($0, $1) < 0 }
      matches.removeSubrange(wanted...)
      worst = matches.last
    }
  }

  /// The results in order, offset and limit applied, with all fields; and how many the offset left out.
  func results() async throws -> (documents: [Document], skipped: Int, read: Int) {
    var found = Found(wanted: query.limit.map { $0 + query.offset })
    var scan = GroupScan(query.collectionID ?? "", range: range, keys: snapshot.keys)
    while let entries = try await scan.next(QueryScan.batch, in: snapshot.reader) { try take(entries, into: &found) }
    for document in try PastDocuments(of: query, in: snapshot).documents { found.take(document, query) }
    found.matches.sort { query.compare($0, $1) < 0 }
    var sink = QuerySink(query)
    for document in found.matches where !sink.isFull { sink.take(document) }
    return (sink.documents, sink.skipped, found.read)
  }

  private var range: KeyRange {
    let path = query.parent.path
    guard !query.allDescendants, let collectionID = query.collectionID else {
      return snapshot.keys.documents(below: path)
    }
    return snapshot.keys.documents(of: path.appending(collectionID))
  }

  /// Takes the documents that match.
  private func take(_ entries: [StoreEntry], into found: inout Found) throws {
    found.read += entries.count
    for entry in entries {
      let place = snapshot.keys.place(ofDocumentKey: entry.key)
      if !snapshot.past.isEmpty, snapshot.past[place] != nil { continue }
      if let document = try snapshot.result(of: query, at: place, entry.value) { found.take(document, query) }
    }
  }
}
