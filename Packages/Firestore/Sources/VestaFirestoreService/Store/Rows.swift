import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// A document as it is stored: when it was made, when it was changed, what is in it.
struct DocumentRow: Sendable, Equatable {
  /// Versions: microseconds since 1970.
  var created: Int64
  var updated: Int64
  var fields: MapValue

  var bytes: [UInt8] {
    var writer = RowWriter()
    writer.write(int: created)
    writer.write(int: updated)
    writer.write(map: fields)
    return writer.bytes
  }

  init(created: Int64, updated: Int64, fields: MapValue) {
    self.created = created
    self.updated = updated
    self.fields = fields
  }

  init(_ bytes: [UInt8]) throws(FirestoreServiceError) {
    var reader = RowReader(bytes)
    created = try reader.int()
    updated = try reader.int()
    fields = try reader.map()
  }

  /// Reads the row of a document; damage is reported with its path.
  init(_ bytes: [UInt8], of path: ResourcePath) throws(FirestoreServiceError) {
    do { try self.init(bytes) } catch { throw error.at("documents/\(path)") }
  }

  /// Returns the create time of a row's document.
  static func created(of row: [UInt8]) throws(FirestoreServiceError) -> Int64 {
    var reader = RowReader(row)
    return try reader.int()
  }

  /// Returns the update time of a row's document.
  static func version(of row: [UInt8]) throws(FirestoreServiceError) -> Int64 {
    var reader = RowReader(row, from: 8)
    return try reader.int()
  }

  /// Replaces a version in the times of a row.
  static func replacing(_ version: Int64, by other: Int64, in row: [UInt8]) -> [UInt8] {
    var writer = RowWriter(reserving: 8)
    writer.write(int: version)
    let old = writer.bytes
    writer = RowWriter(reserving: 8)
    writer.write(int: other)
    let new = writer.bytes
    var row = row
    for start in [0, 8] where row.count >= start + 8 && row[start..<start + 8].elementsEqual(old) {
      row.replaceSubrange(start..<start + 8, with: new)
    }
    return row
  }

  /// A row with another time of creation.
  static func created(_ created: Int64, _ row: [UInt8]) -> [UInt8] {
    var writer = RowWriter(reserving: row.count)
    writer.write(int: created)
    return writer.bytes + row.dropFirst(8)
  }

  /// Whether two rows have the same fields; the times aside, equal fields are equal bytes.
  static func haveEqualFields(_ row: [UInt8], _ other: [UInt8]) -> Bool {
    row.count == other.count && row.dropFirst(16).elementsEqual(other.dropFirst(16))
  }
}

/// A number in a separate row.
enum NumberRow {
  static func bytes(_ number: Int64) -> [UInt8] {
    var writer = RowWriter(reserving: 8)
    writer.write(int: number)
    return writer.bytes
  }

  static func number(_ bytes: [UInt8]?) throws(FirestoreServiceError) -> Int64 {
    guard let bytes else { throw .damaged }
    var reader = RowReader(bytes)
    return try reader.int()
  }
}

/// Which parts of the log have documents of one collection, and which documents, by what their path keys end with.
///
/// Its key has the last of the parts.
struct ChangeRow: Sendable, Equatable {
  struct Part: Sendable, Equatable {
    var position: LogPosition
    var ids: [[UInt8]]
  }

  /// In the order of the log.
  var parts: [Part]

  var bytes: [UInt8] {
    var writer = RowWriter()
    for part in parts {
      writer.write(int: part.position.version)
      writer.write(count: Int(part.position.part))
      writer.write(count: part.ids.count)
      for id in part.ids { writer.write(blob: id) }
    }
    return writer.bytes
  }

  init(parts: [Part]) { self.parts = parts }

  init(_ bytes: [UInt8]) throws(FirestoreServiceError) {
    var reader = RowReader(bytes)
    parts = []
    while !reader.isAtEnd {
      let position = LogPosition(version: try reader.int(), part: Int64(try reader.count()))
      var ids: [[UInt8]] = []
      for _ in 0..<(try reader.count()) { ids.append(try reader.blob()) }
      parts.append(Part(position: position, ids: ids))
    }
  }

  /// The rows of each collection that parts of the log have documents of, by the collections' prefixes.
  ///
  /// - Parameter limit: A row takes no other part from this size on.
  static func rows(of log: [(position: LogPosition, row: LogRow)], limit: Int) -> [[UInt8]: [ChangeRow]] {
    var rows: [[UInt8]: (full: [ChangeRow], last: ChangeRow, size: Int)] = [:]
    for (position, row) in log {
      for (collection, changes) in Dictionary(grouping: row.changes, by: \.pathKey.collectionPrefix) {
        let ids = changes.map { Array($0.pathKey.bytes.dropFirst(collection.count)) }
        var entry = rows.removeValue(forKey: collection) ?? ([], ChangeRow(parts: []), 0)
        if entry.size >= limit { entry = (entry.full + [entry.last], ChangeRow(parts: []), 0) }
        entry.last.parts.append(Part(position: position, ids: ids))
        entry.size += ids.reduce(16) { $0 + $1.count + 2 }
        rows[collection] = entry
      }
    }
    return rows.mapValues { $0.full + [$0.last] }
  }
}

/// A position in the log, in a separate row.
enum PositionRow {
  static func bytes(_ position: LogPosition) -> [UInt8] {
    var writer = RowWriter(reserving: 16)
    writer.write(int: position.version)
    writer.write(int: position.part)
    return writer.bytes
  }

  static func position(_ bytes: [UInt8]) throws(FirestoreServiceError) -> LogPosition {
    var reader = RowReader(bytes)
    return LogPosition(version: try reader.int(), part: try reader.int())
  }
}

/// One change of a commit: where, and what was there before.
struct LoggedChange: Sendable, Equatable {
  var pathKey: PathKey
  /// The row that the commit replaced; `nil` where there was none.
  var before: [UInt8]?

  /// The bytes of both, and what is written around them at the most.
  var size: Int { pathKey.bytes.count + (before?.count ?? 0) + 16 }
}

/// A part of what a commit changed; large commits have several.
struct LogRow: Sendable, Equatable {
  var changes: [LoggedChange]

  var bytes: [UInt8] {
    var writer = RowWriter(reserving: changes.reduce(0) { $0 + $1.size })
    for change in changes {
      writer.write(blob: change.pathKey.bytes)
      writer.write(byte: change.before == nil ? 0 : 1)
      if let before = change.before { writer.write(blob: before) }
    }
    return writer.bytes
  }

  init(changes: [LoggedChange]) { self.changes = changes }

  init(_ bytes: [UInt8]) throws(FirestoreServiceError) {
    var reader = RowReader(bytes)
    changes = []
    while !reader.isAtEnd {
      let pathKey = PathKey(bytes: try reader.blob())
      let before = try reader.byte() == 0 ? nil : try reader.blob()
      changes.append(LoggedChange(pathKey: pathKey, before: before))
    }
  }

  /// The changes of a commit in rows of a size that every store takes.
  ///
  /// - Parameter limit: A part ends after the change with which it reaches this size.
  static func rows(of changes: [LoggedChange], limit: Int) -> [LogRow] {
    var rows: [LogRow] = []
    var part: [LoggedChange] = []
    var size = 0
    for change in changes {
      part.append(change)
      size += change.size
      if size >= limit {
        rows.append(LogRow(changes: part))
        (part, size) = ([], 0)
      }
    }
    if !part.isEmpty { rows.append(LogRow(changes: part)) }
    return rows
  }
}
