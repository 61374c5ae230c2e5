import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaEngineInterop
import VestaStoreInterop

/// A write as it runs in a transaction of the store.
struct WriteOperation: Sendable {
  let path: DatabasePath
  let values: [DatabasePathValue]
  /// The hash that the node at the path must have; `nil` for a write that asks nothing.
  let hash: String?
  /// The part of the call that the events of the write have.
  var cause = EventCause.unknown

  init(put path: DatabasePath, _ node: DatabaseNode, hash: String? = nil) {
    self.path = path
    values = [DatabasePathValue(.root, node)]
    self.hash = hash
  }

  init(merge path: DatabasePath, _ values: [DatabasePathValue], hash: String? = nil) {
    self.path = path
    self.values = values
    self.hash = hash
  }

  /// The paths and the values that the write sets.
  var places: [DatabasePathValue] { values.map { DatabasePathValue(path.appending($0.path), $0.node) } }

  /// The paths in the order in which they are written: the order in which clients put the values of a merge together.
  private var orderedPlaces: [DatabasePathValue] {
    guard values.count > 1 else { return places }
    let trie = values.reduce(into: WriteTrie.empty) { $0.add($1.node, at: $1.path) }
    return trie.writeOrder.map { DatabasePathValue(path.appending($0.path), $0.node) }
  }

  /// Why the write breaks a rule of the tree; `nil` when it does not.
  var problem: DatabaseReply? {
    for place in places { if let problem = TreeLimits.problem(writing: place.node, at: place.path) { return problem } }
    if let (upper, lower) = DatabasePath.overlap(in: values.map(\.path)) {
      let text = "Invalid path in object. Path (\(upper)) is an ancestor of (\(lower))."
      return DatabaseReply(.invalid, message: text)
    }
    return nil
  }

  /// The end of a write.
  enum End: Sendable {
    /// The written values by path, with server values replaced.
    case written([DatabasePathValue])
    /// The hash is not that of the data.
    case stale
    /// There are more rows than may be read for the hash; nothing has been written.
    case large
    /// The guard denies it.
    case denied
  }

  /// Carries the write out, if it asks nothing or the data has its hash.
  ///
  /// - Parameter rows: How many rows are read for the hash at the most; `nil` for all.
  func carryOut(
    in transaction: any StoreTransaction, _ room: RoomContext, now: Int64, rows: Int? = nil,
    for question: WriteQuestion? = nil
  ) async throws -> End {
    let reader = TreeReader(reader: transaction, keys: room.keys)
    let written = try await resolved(reader, now: now)
    // Before the hash: a denied caller learns nothing of the data.
    if let question, !(try await question.mayWrite(written, reader)) { return .denied }
    if let hash {
      guard let isCurrent = try await isCurrent(hash, reader, rows) else { return .large }
      guard isCurrent else { return .stale }
    }
    try await write(written, in: transaction, room)
    return .written(written)
  }

  /// The values by path, in the order in which they are written, with server values replaced.
  func resolved(_ reader: TreeReader, now: Int64) async throws -> [DatabasePathValue] {
    var written: [DatabasePathValue] = []
    for place in orderedPlaces {
      var old: [DatabasePath: DatabaseNode] = [:]
      for path in ServerValues.incrementPaths(of: place.node) {
        old[path] = try await reader.node(place.path.appending(path))
      }
      let node = ServerValues.resolve(place.node, now: now) { old[$0] ?? .empty }
      written.append(DatabasePathValue(place.path, node))
    }
    return written
  }

  /// Writes one node where another is known to be: the rows in which they differ.
  ///
  /// - Parameter limit: The most paths that are written one by one.
  /// - Returns: The written data by path.
  func replace(
    _ old: DatabaseNode, in transaction: any StoreTransaction, _ room: RoomContext, now: Int64, limit: Int
  ) async throws -> [DatabasePathValue] {
    let node = values.reduce(old) { node, value in
      node.setting(value.path, to: ServerValues.resolve(value.node, now: now) { old[value.path.appending($0)] })
    }
    let places = NodeChanges.places(old, node, limit: limit) ?? [DatabasePathValue(.root, node)]
    let written = places.map { DatabasePathValue(path.appending($0.path), $0.node) }
    if written.allSatisfy(\.node.isEmpty) { transaction.freesRoom() }
    try await write(written, in: transaction, room)
    return written
  }

  /// - Returns: Whether the data has a hash; `nil` when there are too many rows to say.
  private func isCurrent(_ hash: String, _ reader: TreeReader, _ rows: Int?) async throws -> Bool? {
    // The empty hash is that of nothing and of nothing else.
    if hash.isEmpty, path.back?.isPriority != true { return try await !reader.exists(path) }
    return try await reader.node(path, rows: rows).map { NodeHash.matches(hash, $0) }
  }

  private func write(
    _ written: [DatabasePathValue], in transaction: any StoreTransaction, _ room: RoomContext
  ) async throws {
    let reader = TreeReader(reader: transaction, keys: room.keys)
    let catalog = try await room.catalogs.read(transaction, room.keys)
    let writer = TreeWriter(transaction: transaction, keys: room.keys, catalog: catalog, hasRows: room.isShared)
    var events = TreeEvents(room.events, cause, scope: room.namespace, writing: written.map(\.path))
    try await events?.begin(reader)
    for value in written { try await writer.write(value.path, value.node) }
    try await events?.finish(reader, in: transaction)
  }
}

/// The operations for the end of a session as rows.
enum EndOperations {
  static func encode(_ value: DatabasePathValue) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(string: value.path.text)
    writer.write(blob: NodeCoding.encode(value.node))
    return writer.bytes
  }

  static func decode(_ bytes: [UInt8]) throws -> DatabasePathValue {
    var reader = ByteReader(bytes)
    let path = DatabasePath(try reader.string())
    return DatabasePathValue(path, try NodeCoding.decode(Array(try reader.blob())))
  }
}
