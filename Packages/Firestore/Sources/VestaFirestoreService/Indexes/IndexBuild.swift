import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// Makes an index: reads many documents a page at a time, sorts their entries, and writes these a part at a time.
///
/// Entries that are written in order share pages of the store's file; one by one, in the order of the documents, each
/// would cost a separate page. A part written between commits is never older than their writes: each part
/// leaves out the documents that the log says have changed since the first page was read, and the last part adds those
/// as they are then. So neither a read nor a write of the store is long, whatever the size of the collection.
struct IndexBuild: Sendable {
  /// Documents that are added together.
  struct Run: Sendable {
    fileprivate enum State: Sendable {
      case reading, writing, written, outdated, ready
    }

    fileprivate var scan: GroupScan
    fileprivate var shape: IndexShape
    /// The entries that have neither been written nor left out.
    fileprivate var entries = SortedEntries()
    /// The last document that was looked at; `nil` when that was all.
    fileprivate var last: PathKey?
    /// Up to this commit the log has been looked at.
    fileprivate(set) var version: Int64
    fileprivate var changed: Set<PathKey> = []
    fileprivate var state = State.reading

    /// Whether there are more documents to read for this run.
    var isReading: Bool { state == .reading }

    /// Whether there is more to write of this run.
    var isOpen: Bool { state == .writing }

    /// Whether the index needs no further run.
    var isLast: Bool { state == .ready }
  }

  private let keys: DocumentDatabaseKeys
  private let name: DatabaseName
  /// For how many microseconds the log is kept.
  private let retention: Int64
  private let id: Int64

  /// The number of entries of a run, or little more: some ten megabytes in memory.
  private let size: Int

  /// The number of documents that are read together.
  private let page: Int

  private let tuning: EngineTuning

  init(
    of id: Int64, keys: DocumentDatabaseKeys, name: DatabaseName, retention: Int64 = .max / 32,
    tuning: EngineTuning = EngineTuning()
  ) {
    self.retention = retention
    self.name = name
    self.id = id
    self.keys = keys
    self.tuning = tuning
    size = tuning.indexes.entriesInRun
    page = tuning.indexes.documentsInPage
  }

  /// Begins the next run with its first page; `nil` when the index is ready, or was dropped.
  func next(in reader: any StoreReader) async throws -> Run? {
    guard let row = try await row(in: reader), case .building(let pathKey) = row.progress else { return nil }
    var range = KeyRange(prefix: keys.documents)
    if let pathKey { range = range.after(keys.document(pathKey)) }
    let scan = GroupScan(row.shape.collectionID, range: range, keys: keys)
    return try await read(Run(scan: scan, shape: row.shape, version: reader.version.microseconds), in: reader)
  }

  /// Reads the next page of a run.
  func read(_ run: Run, in reader: any StoreReader) async throws -> Run {
    var run = run
    if let documents = try await run.scan.next(min(size, page), bytes: tuning.entries.batchBytes, in: reader) {
      run.entries.add(
        try documents.flatMap { try entries(of: keys.pathKey(ofDocumentKey: $0.key), $0.value, run.shape) })
    }
    if run.scan.rest != nil, run.entries.count < size { return run }
    run.last = run.scan.rest == nil ? nil : run.scan.last
    run.state = .writing
    return run
  }

  /// Writes the next part of a run, and after the last part notes how far the index is.
  ///
  /// - Parameter part: The number of entries to write; the writes of others wait until it is done.
  /// - Returns: The run after that.
  func write(_ run: Run, part: Int, in transaction: any StoreTransaction) async throws -> Run {
    var run = run
    guard var row = try await row(in: transaction), case .building = row.progress else {
      run.state = .ready
      return run
    }
    let log = Snapshot(reader: transaction, keys: keys, name: name, indexes: nil, retention: retention, tuning: tuning)
    guard run.version >= (try await log.horizon()) else {
      // The log no longer has what has changed since the documents were read.
      run.state = .outdated
      return run
    }
    run.changed.formUnion(try await log.changedPathKeys(after: run.version, inGroup: row.shape.collectionID))
    run.version = transaction.version.microseconds
    for _ in 0..<part {
      guard let entry = run.entries.next() else { break }
      if !run.changed.contains(entry.pathKey) { try await transaction.put(entry.value, for: entry.key) }
    }
    guard run.entries.isEmpty else { return run }
    try await addChanged(run, row.shape, in: transaction)
    if let last = run.last {
      row.progress = .building(after: last)
      run.state = .written
    } else {
      row.progress = .ready
      run.state = .ready
      let version = try NumberRow.number(try await transaction.get(keys.catalogue))
      try await transaction.put(NumberRow.bytes(version + 1), for: keys.catalogue)
    }
    try await transaction.put(try row.bytes, for: keys.index(id))
    return run
  }

  /// Adds the documents that have changed since they were read; their changes removed the old entries.
  private func addChanged(_ run: Run, _ shape: IndexShape, in transaction: any StoreTransaction) async throws {
    let pathKeys = Array(run.changed)
    for (pathKey, row) in zip(pathKeys, try await transaction.get(pathKeys.map(keys.document))) {
      guard let row else { continue }
      for entry in try entries(of: pathKey, row, shape) { try await transaction.put(entry.value, for: entry.key) }
    }
  }

  private func row(in reader: any StoreReader) async throws -> IndexRow? {
    try await reader.get(keys.index(id)).map { try IndexRow($0) }
  }

  private func entries(of pathKey: PathKey, _ row: [UInt8], _ shape: IndexShape) throws -> [SortedEntries.Entry] {
    let path = try pathKey.path()
    guard path.parent.collectionID == shape.collectionID else { return [] }
    let prefix = keys.entries(ofIndex: id)
    let entries = shape.entries(path, try DocumentRow(row, of: path).fields, at: pathKey)
    try UnfitIndex.check(entries.keys, of: id)
    return entries.map { (prefix + $0, $1, pathKey) }
  }
}
