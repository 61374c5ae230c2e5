import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// A database at one version: the latest one that a store's reader sees, or an earlier one.
///
/// An earlier version is the latest one with what has changed since put back, from the log. How much of the log is read
/// says the scope: the documents, the collection or the group that a call is about.
struct Snapshot {
  let reader: any StoreReader
  let keys: DocumentDatabaseKeys
  let name: DatabaseName
  /// The version that is read.
  let version: Int64
  /// The rows at that version, of the documents that have changed since.
  let past: [PathKey: [UInt8]?]
  /// The indexes that queries may use; `nil` for none.
  let indexes: (any QueryIndexes)?
  /// For how many microseconds the past is kept.
  let retention: Int64
  let tuning: EngineTuning

  var readTime: Timestamp { Timestamp(microseconds: version) }

  /// The latest version that the reader sees.
  init(
    reader: any StoreReader, keys: DocumentDatabaseKeys, name: DatabaseName, indexes: (any QueryIndexes)?,
    retention: Int64,
    tuning: EngineTuning
  ) {
    self.init(
      reader: reader, keys: keys, name: name, version: reader.version.microseconds, past: [:], indexes: indexes,
      retention: retention, tuning: tuning)
  }

  init(
    reader: any StoreReader, keys: DocumentDatabaseKeys, name: DatabaseName, version: Int64, past: [PathKey: [UInt8]?],
    indexes: (any QueryIndexes)?, retention: Int64, tuning: EngineTuning
  ) {
    self.reader = reader
    self.tuning = tuning
    self.keys = keys
    self.name = name
    self.version = version
    self.past = past
    self.indexes = indexes
    self.retention = retention
  }

  /// The version that the past begins with: where the log begins, or where the retention ends.
  ///
  /// A sixteenth more than the retention is there, so that pruning has something to do.
  func horizon() async throws -> Int64 { max(try await prunedHorizon(), oldest) }

  /// The version where the retention ends.
  private var oldest: Int64 { reader.version.microseconds - retention * 17 / 16 }

  /// Whether the documents of a version can be read.
  ///
  /// Before its first version a database had none, which is known as long as all changes since are in the log. Resume
  /// tokens of such a time are refused by ``horizon()`` all the same: they can be those of a store that was replaced.
  private func keeps(_ version: Int64) async throws -> Bool {
    guard version >= oldest else { return false }
    let horizon = try await prunedHorizon()
    if version >= horizon { return true }
    return try await reader.get(keys.made).map { try NumberRow.number($0) } == horizon
  }

  /// The version that the log begins with.
  func prunedHorizon() async throws -> Int64 { try NumberRow.number(try await reader.get(keys.horizon)) }

  /// The same entries at a later version, of which the caller knows that no commit can have it or one before it.
  func later(_ version: Int64) -> Snapshot {
    Snapshot(
      reader: reader, keys: keys, name: name, version: max(version, self.version), past: past, indexes: indexes,
      retention: retention, tuning: tuning)
  }

  /// The same with another reader of the same version.
  func reading(with reader: any StoreReader) -> Snapshot {
    Snapshot(
      reader: reader, keys: keys, name: name, version: version, past: past, indexes: indexes, retention: retention,
      tuning: tuning)
  }

  /// An earlier version; or a later one, of which the caller knows that no commit will have it or one before it.
  ///
  /// - Parameter scope: The scope of the reads.
  /// - Throws: `FAILED_PRECONDITION` when the log does not go back so far.
  func at(_ version: Int64, _ scope: ChangeScope) async throws -> Snapshot {
    var past: [PathKey: [UInt8]?] = [:]
    if version < self.version {
      guard try await keeps(version) else {
        throw FirestoreServiceError(
          .failedPrecondition,
          "The requested 'read_time' is too old: \(Timestamp(microseconds: version)) is no longer kept."
        )
      }
      past = try await firstChanges(after: version, in: scope)
    }
    return Snapshot(
      reader: reader, keys: keys, name: name, version: version, past: past, indexes: indexes,
      retention: retention, tuning: tuning)
  }

  /// Returns the rows of documents before their first change after a version.
  private func firstChanges(after version: Int64, in scope: ChangeScope) async throws -> [PathKey: [UInt8]?] {
    var past: [PathKey: [UInt8]?] = [:]
    guard case .pathKeys(let pathKeys) = scope else {
      try await visitChanges(after: version, in: scope) { change in
        if past[change.pathKey] == nil { past[change.pathKey] = .some(change.before) }
        return .next
      }
      return past
    }
    var rest: Set<PathKey> = []
    for (pathKey, row) in zip(pathKeys, try await reader.get(pathKeys.map(keys.document))) {
      // A document that is there and is older has not changed since.
      if let row, try DocumentRow.version(of: row) <= version { continue }
      if let row, let before = try await self.row(of: pathKey, leadingTo: row, at: version) {
        past[pathKey] = .some(before)
      } else {
        rest.insert(pathKey)
      }
    }
    if rest.isEmpty { return past }
    try await visitChanges(after: version, in: .pathKeys(rest)) { change in
      if rest.remove(change.pathKey) != nil { past[change.pathKey] = .some(change.before) }
      return rest.isEmpty ? .stop : .next
    }
    return past
  }

  /// The row of a document at an earlier version: a row says when it was written, and the log of that version has the
  /// row before it.
  ///
  /// - Returns: `nil` where this does not say: the document was not there in between, or has changed very often.
  private func row(of pathKey: PathKey, leadingTo row: [UInt8], at version: Int64) async throws -> [UInt8]? {
    var row = row
    for _ in 0..<tuning.log.stepsBack {
      let written = try DocumentRow.version(of: row)
      if written <= version { return row }
      guard let before = try await self.row(of: pathKey, before: written) else { return nil }
      row = before
    }
    return nil
  }

  /// The row of a document before it was changed at a version; `nil` where there was none.
  private func row(of pathKey: PathKey, before version: Int64) async throws -> [UInt8]? {
    var part: Int64 = 0
    // Small commits, which most are, have one part.
    while let row = try await reader.get(keys.log(LogPosition(version: version, part: part))) {
      if let change = try LogRow(row).changes.first(where: { $0.pathKey == pathKey }) { return change.before }
      part += 1
    }
    return nil
  }

  /// The row at a path key.
  func row(at pathKey: PathKey) async throws -> [UInt8]? {
    if let row = past[pathKey] { return row }
    return try await reader.get(keys.document(pathKey))
  }

  /// The rows at path keys, in their order.
  func rows(at pathKeys: [PathKey]) async throws -> [[UInt8]?] {
    guard !past.isEmpty else { return try await reader.get(pathKeys.map(keys.document)) }
    let present = try await reader.get(pathKeys.filter { past[$0] == nil }.map(keys.document))
    var next = present.makeIterator()
    return pathKeys.map { pathKey in past[pathKey] ?? next.next() ?? nil }
  }

  /// The documents at path keys, in their order; `nil` where there is none.
  func documents(at pathKeys: [PathKey]) async throws -> [StoredDocument?] {
    try zip(pathKeys, try await rows(at: pathKeys)).map { pathKey, row in
      guard let row else { return nil }
      return try StoredDocument(pathKey: pathKey, row: row)
    }
  }
}

/// A document that was read, with its path.
struct StoredDocument: Sendable {
  let pathKey: PathKey
  let path: ResourcePath
  let row: DocumentRow

  init(pathKey: PathKey, path: ResourcePath, row: DocumentRow) {
    self.pathKey = pathKey
    self.path = path
    self.row = row
  }

  init(pathKey: PathKey, row: [UInt8]) throws {
    let path = try pathKey.path()
    self.init(pathKey: pathKey, path: path, row: try DocumentRow(row, of: path))
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
  var entryTuning: EntryTuning { tuning.entries }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    try await reader.scan(range, order: order, limit: limit, visit)
  }

  func entryPrefix(ofIndex id: Int64) -> [UInt8] { keys.entries(ofIndex: id) }

  func documentPrefix(of collection: ResourcePath) -> [UInt8] { keys.documents(of: collection).lower }
}
