import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// The rows of a device's store.
///
/// | table | key after the table | value |
/// |---|---|---|
/// | `1` | the bytes of a path | a leaf and a priority |
/// | `2` | number of a write | the write |
/// | `3` | number of a query | the query |
enum DeviceRows {
  static let data: UInt8 = 1
  static let writes: UInt8 = 2
  static let queries: UInt8 = 3

  // MARK: Keys

  private static func key(_ path: DatabasePath) -> [UInt8] {
    var key: [UInt8] = [data]
    PathCoding.append(path, to: &key)
    return key
  }

  private static func key(_ table: UInt8, _ id: Int) -> [UInt8] {
    var key = KeyEncoder(continuing: [table])
    key.append(int: Int64(id))
    return key.bytes
  }

  /// The number in the key of a write or a query.
  static func number(in key: [UInt8]) throws -> Int {
    var decoder = KeyDecoder(key, from: 1)
    return Int(try decoder.int())
  }

  // MARK: Changes

  /// Carries out a change; doing so again changes nothing.
  static func apply(_ change: DeviceChange, in transaction: any StoreTransaction) async throws {
    switch change {
    case .nothing: break
    case .save(let write): try await transaction.put(write.bytes, for: key(writes, write.id))
    case .forget(let id): try await transaction.delete(key(writes, id))
    case .dropCache: try await dropCache(in: transaction)
    case .replaceCache(let node, let tracked):
      try await dropCache(in: transaction)
      try await write(node, at: .root, in: transaction)
      for query in tracked { try await transaction.put(query.bytes, for: key(queries, query.id)) }
    case .changes(let changes):
      for change in changes { try await apply(change, in: transaction) }
    }
  }

  private static func apply(_ change: SyncCache.Change, in transaction: any StoreTransaction) async throws {
    switch change {
    case .query(let query): try await transaction.put(query.bytes, for: key(queries, query.id))
    case .dropQuery(let id): try await transaction.delete(key(queries, id))
    case .node(let path, let node): try await write(node, at: path, in: transaction)
    }
  }

  private static func dropCache(in transaction: any StoreTransaction) async throws {
    for table in [data, queries] { try await transaction.deleteRange(KeyRange(prefix: [table])) }
  }

  private static func write(
    _ node: DatabaseNode, at path: DatabasePath, in transaction: any StoreTransaction
  ) async throws {
    if path.back?.isPriority == true, let place = path.parent {
      return try await writePriority(node.leaf, at: place, in: transaction)
    }
    if !node.isEmpty { try await removeLeaves(above: path, in: transaction) }
    try await transaction.deleteRange(KeyRange(prefix: key(path)))
    var rows: [(key: [UInt8], value: [UInt8])] = []
    TreeRows.forEach(of: node, prefix: key(path)) { rows.append(($0, $1)) }
    for row in rows { try await transaction.put(row.value, for: row.key) }
    if node.isEmpty { try await removeEmptyParents(of: path, in: transaction) }
  }

  /// Removes the values of all paths above a path, and keeps their priorities.
  private static func removeLeaves(
    above path: DatabasePath, in transaction: any StoreTransaction
  ) async throws {
    for place in sequence(first: path, next: { $0.parent }).dropFirst() {
      guard let bytes = try await transaction.get(key(place)), case let row = try NodeCoding.decodeRow(bytes),
        row.leaf != nil
      else { continue }
      if row.priority == nil {
        try await transaction.delete(key(place))
      } else {
        try await transaction.put(NodeCoding.encode(leaf: nil, priority: row.priority), for: key(place))
      }
    }
  }

  private static func writePriority(
    _ priority: DatabaseLeaf?, at place: DatabasePath, in transaction: any StoreTransaction
  ) async throws {
    let row = try await transaction.get(key(place)).map { try NodeCoding.decodeRow($0) }
    if row?.leaf == nil, priority == nil {
      try await transaction.delete(key(place))
    } else {
      try await transaction.put(NodeCoding.encode(leaf: row?.leaf, priority: priority), for: key(place))
    }
  }

  /// A node without a child is deleted, and its priority with it.
  private static func removeEmptyParents(of path: DatabasePath, in transaction: any StoreTransaction) async throws {
    for place in sequence(first: path, next: { $0.parent }).dropFirst() {
      let rest = try await transaction.entries(in: KeyRange(prefix: key(place)), limit: 2)
      guard let row = rest.first else { continue }
      guard rest.count == 1, row.key == key(place), try NodeCoding.decodeRow(row.value).leaf == nil else { return }
      try await transaction.delete(row.key)
    }
  }
}
