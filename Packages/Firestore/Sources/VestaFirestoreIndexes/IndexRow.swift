package import VestaFirestoreBackend
package import VestaFirestoreModel

/// An index as it is stored: its shape, how far it is, and when it was last of use.
package struct IndexRow: Sendable, Equatable {
  package enum Progress: Sendable, Equatable {
    /// Documents up to this path key are in; `nil` for none yet. Writes maintain all of it already.
    case building(after: PathKey?)
    case ready
    /// It is no longer used: its entries are being deleted, and then the row.
    case leaving
    /// A document has an entry that is too long for it. It has no entries, and is not made again until it has aged.
    case unfit
  }

  package var shape: IndexShape
  package var progress: Progress
  /// The time of the last query that used it, to the hour or so.
  package var lastUsed: Int64

  package var isReady: Bool { progress == .ready }

  /// Whether writes maintain its entries.
  package var isMaintained: Bool { progress != .leaving && progress != .unfit }

  package init(shape: IndexShape, progress: Progress, lastUsed: Int64) {
    self.shape = shape
    self.progress = progress
    self.lastUsed = lastUsed
  }

  /// The row as it is stored.
  package var bytes: [UInt8] { get throws { try IndexRecord(self).fieldBytes() } }

  package init(_ bytes: [UInt8]) throws(FirestoreServiceError) { self = try IndexRecord(row: bytes).row }
}

/// The fields of an index row.
private struct IndexRecord: FieldRecord {
  private enum State: Int64 {
    case ready = 1
    case building = 2
    case leaving = 3
    case unfit = 4
  }

  private struct Part: FieldRecord {
    var path = ""
    var kind: Int64 = 0

    mutating func visit(_ visitor: inout some RecordVisitor) throws {
      try visitor.field(1, &path)
      try visitor.field(2, &kind)
    }
  }

  private var collectionID = ""
  private var isGroup = false
  private var isNameDescending = false
  private var parts: [Part] = []
  private var lastUsed: Int64 = 0
  /// The progress of an unfinished index.
  private var pathKey: [UInt8]?
  private var state: Int64 = 0

  init() {}

  init(_ row: IndexRow) {
    collectionID = row.shape.collectionID.rawValue
    isGroup = row.shape.isGroup
    isNameDescending = row.shape.isNameDescending
    parts = row.shape.parts.map { Part(path: $0.path.description, kind: Int64($0.kind.rawValue)) }
    lastUsed = row.lastUsed
    switch row.progress {
    case .ready: state = State.ready.rawValue
    case .building(let last): (state, pathKey) = (State.building.rawValue, last?.bytes)
    case .leaving: state = State.leaving.rawValue
    case .unfit: state = State.unfit.rawValue
    }
  }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &collectionID)
    try visitor.field(2, &isGroup)
    try visitor.field(3, &isNameDescending)
    try visitor.field(4, &parts)
    try visitor.field(5, &lastUsed)
    try visitor.field(6, &pathKey)
    try visitor.field(7, &state)
  }

  var shape: IndexShape {
    get throws(FirestoreServiceError) {
      var shape = IndexShape(
        collectionID: CollectionID(collectionID), isGroup: isGroup, parts: [], isNameDescending: isNameDescending)
      for part in parts {
        guard let raw = UInt8(exactly: part.kind), let kind = IndexShape.Kind(rawValue: raw) else { throw .damaged }
        shape.parts.append(IndexShape.Part(path: try FieldPath(parsing: part.path), kind: kind))
      }
      return shape
    }
  }

  var row: IndexRow {
    get throws(FirestoreServiceError) {
      // A row that was cut has no state.
      let progress: IndexRow.Progress =
        switch State(rawValue: state) {
        case .ready: .ready
        case .building: .building(after: pathKey.map { PathKey(bytes: $0) })
        case .leaving: .leaving
        case .unfit: .unfit
        case nil: throw .damaged
        }
      return IndexRow(shape: try shape, progress: progress, lastUsed: lastUsed)
    }
  }
}

/// The indexes of a database at one version of its catalogue.
package struct IndexCatalogue: Sendable {
  package struct Index: Sendable {
    package var id: Int64
    package var row: IndexRow

    package init(id: Int64, row: IndexRow) {
      self.id = id
      self.row = row
    }
  }

  package var version: Int64
  package private(set) var byShape: [IndexShape: Index] = [:]
  /// The indexes that the documents of a collection are in, by its identifier.
  private var byCollection: [CollectionID: [Index]] = [:]

  package init(version: Int64, _ indexes: [Index]) {
    self.version = version
    for index in indexes where index.row.progress != .leaving {
      byShape[index.row.shape] = index
      guard index.row.isMaintained else { continue }
      byCollection[index.row.shape.collectionID, default: []].append(index)
    }
  }

  package var isEmpty: Bool { byShape.isEmpty }

  package func indexes(of collectionID: CollectionID) -> [Index] {
    isEmpty ? [] : byCollection[collectionID] ?? []
  }
}
