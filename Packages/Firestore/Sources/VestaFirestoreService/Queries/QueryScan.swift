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
    let (range, order, isOrdered) = extent()
    var (matches, read) = try await scan(range, order, atMost: isOrdered ? query.limit.map { $0 + query.offset } : nil)
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

  /// The documents that match, and how many were read.
  ///
  /// The steps are functions of their own: with all of it in one async function the optimizer of this toolchain crashes.
  private func scan(
    _ range: KeyRange, _ order: ScanOrder, atMost wanted: Int?
  ) async throws -> (matches: [Document], read: Int) {
    var matches: [Document] = []
    var read = 0
    var rest = range
    while matches.count < wanted ?? .max {
      let entries = try await snapshot.reader.entries(in: rest, order: order, limit: QueryScan.batch)
      read += entries.count
      try gather(entries, into: &matches, atMost: wanted ?? .max)
      guard entries.count == QueryScan.batch, let last = entries.last else { break }
      rest = order == .ascending ? rest.after(last.key) : rest.before(last.key)
    }
    try gatherPast(into: &matches)
    return (matches, read)
  }

  private func gather(_ entries: [StoreEntry], into matches: inout [Document], atMost wanted: Int) throws {
    for entry in entries where matches.count < wanted {
      let place = snapshot.keys.place(ofDocumentKey: entry.key)
      if !snapshot.past.isEmpty, snapshot.past[place] != nil { continue }
      if let document = try match(place, entry.value) { matches.append(document) }
    }
  }

  private func gatherPast(into matches: inout [Document]) throws {
    for case (let place, let row?) in snapshot.past {
      if let document = try match(place, row) { matches.append(document) }
    }
  }

  private func match(_ place: Place, _ row: [UInt8]) throws -> Document? {
    let path = try place.path()
    guard query.selects(path) else { return nil }
    let document = StoredDocument(place: place, path: path, row: try DocumentRow(row)).document(in: snapshot.name)
    return query.matches(document) ? document : nil
  }
}
