package import VestaFirestoreBackend
import VestaFirestoreModel

/// An index as it is stored: its shape, how far it is, and when it was last of use.
package struct IndexRow: Sendable, Equatable {
  package enum Progress: Sendable, Equatable {
    /// Documents up to this place are in; `nil` for none yet. Writes maintain all of it already.
    case building(after: Place?)
    case ready
    /// Nobody uses it any more: its entries are being deleted, and then the row goes.
    case leaving
    /// A document has an entry that is too long for it. It has no entries, and is not made again until it has aged.
    case unfit
  }

  package var shape: IndexShape
  package var progress: Progress
  /// When a query last used it, to the hour or so.
  package var lastUsed: Int64

  package var isReady: Bool { progress == .ready }

  /// Whether writes maintain its entries.
  package var isMaintained: Bool { progress != .leaving && progress != .unfit }

  package init(shape: IndexShape, progress: Progress, lastUsed: Int64) {
    self.shape = shape
    self.progress = progress
    self.lastUsed = lastUsed
  }

  package var bytes: [UInt8] {
    var writer = RowWriter()
    writer.write(text: shape.collectionID)
    writer.write(byte: shape.isGroup ? 1 : 0)
    writer.write(byte: shape.isNameDescending ? 1 : 0)
    writer.write(count: shape.parts.count)
    for part in shape.parts {
      writer.write(text: part.path.description)
      writer.write(byte: part.kind.rawValue)
    }
    writer.write(int: lastUsed)
    switch progress {
    case .ready: writer.write(byte: 0)
    case .building(nil): writer.write(byte: 1)
    case .leaving: writer.write(byte: 3)
    case .unfit: writer.write(byte: 4)
    case .building(let place?):
      writer.write(byte: 2)
      writer.write(blob: place.bytes)
    }
    return writer.bytes
  }

  package init(_ bytes: [UInt8]) throws(FirestoreServiceError) {
    var reader = RowReader(bytes)
    let collectionID = try reader.text()
    let isGroup = try reader.byte() == 1
    let isNameDescending = try reader.byte() == 1
    var parts: [IndexShape.Part] = []
    for _ in 0..<(try reader.count()) {
      let path = try FieldPath(parsing: try reader.text())
      guard let kind = IndexShape.Kind(rawValue: try reader.byte()) else { throw .damaged }
      parts.append(IndexShape.Part(path: path, kind: kind))
    }
    shape = IndexShape(
      collectionID: collectionID, isGroup: isGroup, parts: parts, isNameDescending: isNameDescending)
    lastUsed = try reader.int()
    switch try reader.byte() {
    case 0: progress = .ready
    case 1: progress = .building(after: nil)
    case 2: progress = .building(after: Place(bytes: try reader.blob()))
    case 3: progress = .leaving
    case 4: progress = .unfit
    default: throw .damaged
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
  /// The indexes that the documents of a collection are in, by its identifier's bytes.
  private var byCollection: [[UInt8]: [Index]] = [:]

  package init(version: Int64, _ indexes: [Index]) {
    self.version = version
    for index in indexes where index.row.progress != .leaving {
      byShape[index.row.shape] = index
      guard index.row.isMaintained else { continue }
      byCollection[Array(index.row.shape.collectionID.utf8), default: []].append(index)
    }
  }

  package var isEmpty: Bool { byShape.isEmpty }

  package func indexes(of collectionID: String) -> [Index] {
    isEmpty ? [] : byCollection[Array(collectionID.utf8)] ?? []
  }
}
