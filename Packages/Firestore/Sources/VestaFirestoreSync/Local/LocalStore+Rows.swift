import VestaFirestoreModel

extension LocalStore {
  /// The rows that have changed since the last call.
  package mutating func takeRows() -> [CacheRow] {
    let (taken, used) = (changes, uses.takeChanged())
    var rows = shown.remote.takeIndexRows()
    if taken.isEmpty, used.isEmpty { return rows }
    changes = CacheChanges()
    func add(_ key: CacheKey, _ value: [UInt8]?) { rows.append(CacheRow(key: key.bytes, value: value)) }
    rows += shown.writes.rows(of: taken.batches)
    for key in taken.documents { add(.document(key), shown.remote[key].isValid ? shown.remote[key].row : nil) }
    for key in used { add(.sequenceNumber(key), uses.number(of: key).map { RowWriter.bytes(of: $0) }) }
    for id in taken.targets { add(.target(id), targets.records[id]?.bytes) }
    for entry in taken.targetDocuments {
      add(.targetDocument(entry.id, entry.key), targets.keys(of: entry.id).contains(entry.key) ? [] : nil)
    }
    for id in taken.bundles { add(.bundle(id), bundles.bundles[id]?.row) }
    for name in taken.namedQueries { add(.namedQuery(name), bundles.queries[name]?.row) }
    if taken.globals { add(.globals, globals) }
    return rows
  }

  /// The rows of pending writes that have changed since the last call, of the current user and of others; of nothing
  /// else rows are made.
  package mutating func takeBatchRows() -> (current: [CacheRow], others: [CacheRow]) {
    defer { dropChanges() }
    let (writes, user) = (shown.writes, shown.writes.user)
    return (
      writes.rows(of: changes.batches.filter { $0.user == user }),
      writes.rows(of: changes.batches.filter { $0.user != user })
    )
  }

  /// Forgets which rows have changed, where none are made.
  package mutating func dropChanges() {
    if !changes.isEmpty { changes = CacheChanges() }
    _ = uses.takeChanged()
  }

  private var globals: [UInt8] {
    var writer = RowWriter(reserving: 32)
    writer.write(int: Int64(targets.highestID))
    writer.write(time: targets.lastRemoteSnapshotVersion)
    writer.write(int: uses.number)
    writer.write(int: Int64(byteSize))
    return writer.bytes
  }
}

extension RowWriter {
  fileprivate static func bytes(of number: Int64) -> [UInt8] {
    var writer = RowWriter(reserving: 8)
    writer.write(fixed: UInt64(bitPattern: number))
    return writer.bytes
  }
}

extension BundleCache.Bundle {
  fileprivate var row: [UInt8] {
    var writer = RowWriter(reserving: 32)
    writer.write(int: Int64(version))
    writer.write(time: createTime)
    return writer.bytes
  }
}

extension BundleCache.NamedQuery {
  fileprivate var row: [UInt8] {
    var writer = RowWriter()
    writer.write(time: readTime)
    writer.write(blob: query.bytes)
    return writer.bytes
  }
}
