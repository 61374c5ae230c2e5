import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// Takes results in order, and keeps what offset, limit and a search of the nearest leave.
struct QuerySink {
  private let offset: Int
  private let wanted: Int
  private var nearest: NearestSearch?
  private var found: [Document] = []
  private(set) var skipped = 0
  /// The number of results, also where a search of the nearest keeps only some of them.
  private(set) var taken = 0

  init(_ query: NormalQuery) {
    wanted = query.limit ?? .max
    offset = query.offset
    nearest = query.findNearest.map { NearestSearch(NearestVectors($0)) }
  }

  /// The number of results.
  var count: Int { found.count }

  var documents: [Document] { nearest?.results ?? found }

  /// Whether the next result is one that the offset skips.
  var isSkipping: Bool { skipped < offset }

  var isFull: Bool { taken == wanted && !isSkipping }

  /// The number of results that there is room for, including the skipped ones.
  var room: Int {
    let (sum, isOverflow) = (wanted - taken).addingReportingOverflow(offset - skipped)
    return isOverflow ? .max : sum
  }

  mutating func skip() { skipped += 1 }

  mutating func take(_ document: Document) {
    if isSkipping {
      skip()
    } else if !isFull {
      taken += 1
      if nearest == nil { found.append(document) } else { nearest?.add(document) }
    }
  }
}

/// The results of a query among the documents that have changed since the version of a snapshot, as they were then.
struct PastDocuments {
  /// In the order of the query.
  let documents: [Document]

  init(of query: NormalQuery, in snapshot: Snapshot) throws {
    var found: [Document] = []
    for case (let pathKey, let row?) in snapshot.past {
      if let document = try snapshot.result(of: query, at: pathKey, row) { found.append(document) }
    }
    documents = found.sorted { query.compare($0, $1) < 0 }
  }
}

extension Snapshot {
  /// The document of a row, if it is a result of a query; rows elsewhere are not taken apart.
  func result(of query: NormalQuery, at pathKey: PathKey, _ row: [UInt8]) throws -> Document? {
    let path = try pathKey.path()
    guard query.selects(path) else { return nil }
    let document = StoredDocument(pathKey: pathKey, path: path, row: try DocumentRow(row, of: path)).document(in: name)
    return query.matches(document, at: path) ? document : nil
  }
}
