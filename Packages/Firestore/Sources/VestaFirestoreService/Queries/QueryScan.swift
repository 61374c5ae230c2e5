import FirestoreInterop
import FirestoreModel
import StoreInterop

/// Answers a query by looking at every document of its collections, in batches.
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
    /// Whether what is looked at comes in the order of the query.
    let isOrdered: Bool
    /// With this many matches the best are kept; what comes behind the last of them then is no result.
    private var worst: Document?

    init(wanted: Int?, isOrdered: Bool) {
      self.wanted = wanted
      self.isOrdered = isOrdered
    }

    var isEnough: Bool { isOrdered && wanted.map { matches.count >= $0 } ?? false }

    /// Takes a match; of an unordered scan for few results it keeps few, so that a large collection fits.
    mutating func take(_ document: Document, _ query: NormalQuery) {
      if let worst, query.compare(worst, document) <= 0 { return }
      matches.append(document)
      guard !isOrdered, let wanted, matches.count >= 2 * wanted + 256 else { return }
      matches.sort { query.compare($0, $1) < 0 }
      matches.removeSubrange(wanted...)
      worst = matches.last
    }
  }

  /// The results in order, offset and limit applied, with all fields; and how many the offset left out.
  func results() async throws -> (documents: [Document], skipped: Int, read: Int) {
    let (range, order, isOrdered) = extent()
    var found = Found(wanted: query.limit.map { $0 + query.offset }, isOrdered: isOrdered)
    var rest: KeyRange? = range
    while let part = rest {
      let (entries, end) = try await batch(of: part, order)
      try take(entries, into: &found)
      rest = found.isEnough ? nil : end.rest
    }
    try takePast(into: &found)
    if !isOrdered { found.matches.sort { query.compare($0, $1) < 0 } }
    let selected = found.matches.dropFirst(query.offset)
    var results = Array(selected.prefix(query.limit ?? selected.count))
    if let search = query.findNearest { results = NearestVectors(search).nearest(in: results) }
    return (results, found.matches.count - selected.count, found.read)
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

  private func batch(of range: KeyRange, _ order: ScanOrder) async throws -> ([StoreEntry], ScanEnd) {
    var entries: [StoreEntry] = []
    let end = try await snapshot.reader.scan(range, order: order, limit: QueryScan.batch) { key, value in
      entries.append(StoreEntry(key: key.bytes, value: value.bytes))
      return .next
    }
    return (entries, end)
  }

  /// Takes the documents that match, until there are enough.
  private func take(_ entries: [StoreEntry], into found: inout Found) throws {
    found.read += entries.count
    for entry in entries where !found.isEnough {
      let place = snapshot.keys.place(ofDocumentKey: entry.key)
      if !snapshot.past.isEmpty, snapshot.past[place] != nil { continue }
      if let document = try match(place, entry.value) { found.take(document, query) }
    }
  }

  /// Takes what has changed since the moment of the snapshot, as it was then.
  private func takePast(into found: inout Found) throws {
    for case (let place, let row?) in snapshot.past where !found.isEnough {
      if let document = try match(place, row) { found.take(document, query) }
    }
  }

  private func match(_ place: Place, _ row: [UInt8]) throws -> Document? {
    let path = try place.path()
    guard query.selects(path) else { return nil }
    let document = StoredDocument(place: place, path: path, row: try DocumentRow(row)).document(in: snapshot.name)
    return query.matches(document) ? document : nil
  }
}
