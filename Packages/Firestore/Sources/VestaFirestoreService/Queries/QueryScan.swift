import FirestoreInterop
import FirestoreModel
import StoreInterop

/// Answers a query by looking at every document of its collections, in batches.
struct QueryScan {
  let query: NormalQuery
  let snapshot: Snapshot

  private static let batch = 256

  /// The results in order, offset and limit applied, with all fields; and how many the offset left out.
  func results() async throws -> (documents: [Document], skipped: Int, read: Int) {
    var matches: [Document] = []
    let (range, order, isOrdered) = extent()
    let wanted = isOrdered ? query.limit.map { $0 + query.offset } : nil
    let read = try await scan(range, order) { document in
      matches.append(document)
      return wanted.map { matches.count < $0 } ?? true
    }
    if !isOrdered { matches.sort { query.compare($0, $1) < 0 } }
    let rest = matches.dropFirst(query.offset)
    var results = Array(rest.prefix(query.limit ?? rest.count))
    if let search = query.findNearest { results = NearestVectors(search).nearest(in: results) }
    return (results, matches.count - rest.count, read)
  }

  /// What is looked at; and whether it comes in the order of the query.
  private func extent() -> (KeyRange, ScanOrder, isOrdered: Bool) {
    let path = query.parent.path
    guard !query.allDescendants, let collectionID = query.collectionID else {
      return (snapshot.keys.documents(below: path), .ascending, false)
    }
    let range = snapshot.keys.documents(of: path.appending(collectionID))
    // The past is not in the range: what has been deleted since comes behind.
    guard query.orders.count == 1, snapshot.past.isEmpty else { return (range, .ascending, false) }
    return (range, query.orders[0].descending ? .descending : .ascending, true)
  }

  /// Hands over the documents that match until it is told to stop; gives the number of documents that were read.
  private func scan(_ range: KeyRange, _ order: ScanOrder, _ take: (Document) -> Bool) async throws -> Int {
    var rest: KeyRange? = range
    var read = 0
    while let part = rest {
      var entries: [StoreEntry] = []
      let end = try await snapshot.reader.scan(part, order: order, limit: QueryScan.batch) { key, value in
        entries.append(StoreEntry(key: key.bytes, value: value.bytes))
        return .next
      }
      read += entries.count
      for entry in entries {
        let place = snapshot.keys.place(ofDocumentKey: entry.key)
        if !snapshot.past.isEmpty, snapshot.past[place] != nil { continue }
        if let document = try match(place, entry.value), !take(document) { return read }
      }
      rest = end.rest
    }
    for case (let place, let row?) in snapshot.past {
      if let document = try match(place, row), !take(document) { return read }
    }
    return read
  }

  private func match(_ place: Place, _ row: [UInt8]) throws -> Document? {
    let path = try place.path()
    guard query.selects(path) else { return nil }
    let document = StoredDocument(place: place, path: path, row: try DocumentRow(row)).document(in: snapshot.name)
    return query.matches(document) ? document : nil
  }
}
