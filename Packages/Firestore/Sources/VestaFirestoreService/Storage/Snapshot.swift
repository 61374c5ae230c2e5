import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// One moment of a database, to read from: the present of a store's reader, or a moment in the past.
///
/// The past is the present with what has changed since then put back, from the log. So a read in the past costs the
/// changes since that moment, and writes pay for it with one row of the log.
struct Snapshot {
  let reader: any StoreReader
  let keys: DatabaseKeys
  let name: DatabaseName
  let head: Head
  /// The version that is read.
  let version: Int64
  /// What was there at that version, where it is not what is there now.
  let past: [Place: [UInt8]?]
  /// The indexes that queries may use; `nil` for none.
  let indexes: IndexKeeper?

  var readTime: Timestamp { Timestamp(microseconds: version) }

  /// The latest moment that the reader sees.
  init(reader: any StoreReader, keys: DatabaseKeys, name: DatabaseName, indexes: IndexKeeper?) async throws {
    guard let bytes = try await reader.get(keys.head) else { throw FirestoreError.damaged }
    let head = try Head(bytes)
    self.init(reader: reader, keys: keys, name: name, head: head, version: head.version, past: [:], indexes: indexes)
  }

  init(
    reader: any StoreReader, keys: DatabaseKeys, name: DatabaseName, head: Head, version: Int64,
    past: [Place: [UInt8]?], indexes: IndexKeeper? = nil
  ) {
    self.reader = reader
    self.keys = keys
    self.name = name
    self.head = head
    self.version = version
    self.past = past
    self.indexes = indexes
  }

  /// The moment of an earlier version.
  ///
  /// - Throws: `FAILED_PRECONDITION` when the log does not go back so far.
  func at(_ version: Int64) async throws -> Snapshot {
    if version >= head.version { return self }
    guard version >= head.horizon else {
      throw FirestoreError(
        .failedPrecondition,
        "The requested 'read_time' is too old: \(Timestamp(microseconds: version)) is no longer kept."
      )
    }
    var past: [Place: [UInt8]?] = [:]
    for change in try await changes(after: version) where past[change.place] == nil {
      past[change.place] = .some(change.before)
    }
    return Snapshot(
      reader: reader, keys: keys, name: name, head: head, version: version, past: past, indexes: indexes)
  }

  /// What has been changed after a version, in the order of the commits.
  func changes(after version: Int64) async throws -> [LoggedChange] {
    var changes: [LoggedChange] = []
    for entry in try await reader.entries(in: keys.log(after: version)) {
      changes += try LogRow(entry.value).changes
    }
    return changes
  }

  /// The rows at places, in their order.
  func rows(at places: [Place]) async throws -> [[UInt8]?] {
    guard !past.isEmpty else { return try await reader.get(places.map(keys.document)) }
    let present = try await reader.get(places.filter { past[$0] == nil }.map(keys.document))
    var next = present.makeIterator()
    return places.map { place in past[place] ?? next.next() ?? nil }
  }

  /// The documents at places, in their order; `nil` where there is none.
  func documents(at places: [Place]) async throws -> [StoredDocument?] {
    try zip(places, try await rows(at: places)).map { place, row in
      guard let row else { return nil }
      return try StoredDocument(place: place, row: row)
    }
  }
}

/// A document that was read, with its path.
struct StoredDocument: Sendable {
  let place: Place
  let path: ResourcePath
  let row: DocumentRow

  init(place: Place, path: ResourcePath, row: DocumentRow) {
    self.place = place
    self.path = path
    self.row = row
  }

  init(place: Place, row: [UInt8]) throws {
    self.init(place: place, path: try place.path(), row: try DocumentRow(row))
  }

  /// The document as clients see it.
  func document(in database: DatabaseName) -> Document {
    row.document(named: ResourceName(database: database, path: path).description, fields: row.fields)
  }
}

extension DocumentRow {
  /// The document of the row, with some of its fields.
  func document(named name: String, fields: MapValue) -> Document {
    Document(
      name: name, fields: fields, createTime: Timestamp(microseconds: created),
      updateTime: Timestamp(microseconds: updated))
  }
}

extension Snapshot: IndexedReader {
  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    try await reader.scan(range, order: order, limit: limit, visit)
  }

  func entryPrefix(ofIndex id: Int64) -> [UInt8] { keys.entries(ofIndex: id) }

  func documentPrefix(of collection: ResourcePath) -> [UInt8] { keys.documents(of: collection).lower }
}
