import VestaBytes
import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// Keeps what a client has been sent and what it has not been able to send, on an `OrderedStore`.
///
/// | table | key after the table | value |
/// |---|---|---|
/// | `1` | the bytes of a path | a leaf and a priority |
/// | `2` | number of a write | the write |
/// | `3` | number of a query | the query |
///
/// The client answers from memory; changes are written later, in order, several of them in one commit.
final class Persistence: Sendable {
  /// The data and writes that were stored when the program ended.
  struct Kept: Sendable {
    var cache: SyncCache
    var writes: [StoredWrite] = []
  }

  private enum Change: Sendable {
    case changes([SyncCache.Change])
    case save(StoredWrite)
    case removeWrite(Int)
    case dropCache
  }

  private struct Job: Sendable {
    let change: Change
    /// Called when the change is in the store, or cannot be stored.
    var then: @Sendable () -> Void = {}
  }

  private let store: LazyResource<any OrderedStore>
  private let lane = CommitLane<Job>(limit: 512)
  private let limit: Int

  /// Persistence in a store.
  ///
  /// - Parameters:
  ///   - limit: How much data is kept, in estimated bytes.
  ///   - open: Opens the store, once.
  init(limit: Int, open: @escaping @Sendable () async throws -> any OrderedStore) {
    self.limit = limit
    store = LazyResource(
      whenClosed: StoreError(.closed, operation: "open", message: "The database's app has been deleted."),
      open: open, close: { try await $0.close() })
  }

  // MARK: Keys

  private static func data(_ path: DatabasePath) -> [UInt8] {
    var key: [UInt8] = [1]
    PathCoding.append(path, to: &key)
    return key
  }

  private static func numbered(_ table: UInt8, _ id: Int) -> [UInt8] {
    var key = KeyEncoder(continuing: [table])
    key.append(int: Int64(id))
    return key.bytes
  }

  private static func number(in key: [UInt8]) throws -> Int {
    var decoder = KeyDecoder(key, from: 1)
    return Int(try decoder.int())
  }

  // MARK: Reading

  /// Reads what is kept.
  ///
  /// A store that cannot be read counts as an empty one. Damaged rows do not take others with them: writes are read one
  /// by one, and data that is damaged is forgotten as a whole, because the service has it. The log says so.
  func load(now: Int64) async -> Kept {
    do {
      let limit = limit
      let (cache, writes) = try await store.get().read { reader in
        (try await Self.cache(reader, limit: limit, now: now), try await Self.writes(reader))
      }
      if cache == nil { submit(.dropCache) }
      for id in writes.damaged { removeWrite(id) }
      return Kept(cache: cache ?? SyncCache(limit: limit, now: now), writes: writes.whole)
    } catch {
      log.error("I-RDB000005", "What is kept on this device cannot be read, and is not used: \(error)")
      return Kept(cache: SyncCache(limit: limit, now: now))
    }
  }

  /// - Returns: What the service has said; `nil` when a row of it is damaged.
  private static func cache(_ reader: any StoreReader, limit: Int, now: Int64) async throws -> SyncCache? {
    let data = try await reader.entries(in: KeyRange(prefix: [1]))
    let tracked = try await reader.entries(in: KeyRange(prefix: [3]))
    do {
      var tree = TreeBuilder(below: 1)
      for entry in data { try tree.add(key: entry.key, value: entry.value) }
      let queries = try tracked.map { entry in
        try SyncCache.TrackedQuery(id: try number(in: entry.key), bytes: entry.value)
      }
      return SyncCache(node: tree.finish(), queries: queries, limit: limit, now: now)
    } catch {
      log.error("I-RDB000015", "The data that is kept on this device is damaged, and is fetched again: \(error)")
      return nil
    }
  }

  private static func writes(_ reader: any StoreReader) async throws -> (whole: [StoredWrite], damaged: [Int]) {
    var whole: [StoredWrite] = [], damaged: [Int] = []
    for entry in try await reader.entries(in: KeyRange(prefix: [2])) {
      let id = try number(in: entry.key)
      do {
        whole.append(try StoredWrite(id: id, bytes: entry.value))
      } catch {
        log.error("I-RDB000016", "The write \(id) that is kept on this device is damaged, and is not sent: \(error)")
        damaged.append(id)
      }
    }
    return (whole, damaged)
  }

  // MARK: Writing

  func store(_ changes: [SyncCache.Change]) { submit(.changes(changes)) }

  /// Keeps a write, then calls the body.
  func save(_ write: StoredWrite, then: @escaping @Sendable () -> Void) { submit(.save(write), then: then) }

  /// Forgets a write, then calls the body.
  func removeWrite(_ id: Int, then: @escaping @Sendable () -> Void = {}) { submit(.removeWrite(id), then: then) }

  private func submit(_ change: Change, then: @escaping @Sendable () -> Void = {}) {
    lane.submit(Job(change: change, then: then)) { [self] jobs in await carryOut(jobs) }
  }

  private func carryOut(_ jobs: [Job]) async {
    do {
      _ = try await store.get().write { transaction in
        for job in jobs { try await Self.carryOut(job.change, in: transaction) }
      }
    } catch {
      log.error("I-RDB000006", "Changes could not be kept on this device: \(error)")
    }
    for job in jobs { job.then() }
  }

  private static func carryOut(_ change: Change, in transaction: any StoreTransaction) async throws {
    switch change {
    case .save(let write): try await transaction.put(write.bytes, for: numbered(2, write.id))
    case .removeWrite(let id): try await transaction.delete(numbered(2, id))
    case .dropCache: for table in [1, 3] as [UInt8] { try await transaction.deleteRange(KeyRange(prefix: [table])) }
    case .changes(let changes):
      for change in changes {
        switch change {
        case .query(let query): try await transaction.put(query.bytes, for: numbered(3, query.id))
        case .dropQuery(let id): try await transaction.delete(numbered(3, id))
        case .node(let path, let node): try await write(node, at: path, in: transaction)
        }
      }
    }
  }

  private static func write(
    _ node: DatabaseNode, at path: DatabasePath, in transaction: any StoreTransaction
  ) async throws {
    if path.back?.isPriority == true, let place = path.parent {
      let row = try await transaction.get(data(place)).map { try NodeCoding.decodeRow($0) }
      let value = NodeCoding.encode(leaf: row?.leaf, priority: node.leaf)
      if row?.leaf == nil, node.isEmpty {
        try await transaction.delete(data(place))
      } else {
        try await transaction.put(value, for: data(place))
      }
      return
    }
    for place in sequence(first: path, next: { $0.parent }).dropFirst() where !node.isEmpty {
      guard let bytes = try await transaction.get(data(place)), case let row = try NodeCoding.decodeRow(bytes),
        row.leaf != nil
      else { continue }
      if row.priority == nil {
        try await transaction.delete(data(place))
      } else {
        try await transaction.put(NodeCoding.encode(leaf: nil, priority: row.priority), for: data(place))
      }
    }
    try await transaction.deleteRange(KeyRange(prefix: data(path)))
    var rows: [(key: [UInt8], value: [UInt8])] = []
    TreeRows.forEach(of: node, prefix: data(path)) { rows.append(($0, $1)) }
    for row in rows { try await transaction.put(row.value, for: row.key) }
    if node.isEmpty { try await removeEmptyParents(of: path, in: transaction) }
  }

  /// A node whose last child is gone is gone too, and its priority with it.
  private static func removeEmptyParents(of path: DatabasePath, in transaction: any StoreTransaction) async throws {
    for place in sequence(first: path, next: { $0.parent }).dropFirst() {
      let rest = try await transaction.entries(in: KeyRange(prefix: data(place)), limit: 2)
      guard let row = rest.first else { continue }
      guard rest.count == 1, row.key == data(place), try NodeCoding.decodeRow(row.value).leaf == nil else { return }
      try await transaction.delete(row.key)
    }
  }

  /// Writes what is still to be written, and closes the store.
  func close() async {
    await lane.idle()
    do {
      try await store.close()
    } catch {
      log.error("I-RDB000007", "The store of this device could not be closed: \(error)")
    }
  }
}

private let log = Logger(service: "VestaDatabase")
