import VestaEventsInterop
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop
import VestaConcurrency

/// The engine of one database.
final class DatabaseEngine: Sendable {
  let name: DatabaseName
  let store: any OrderedStore
  let keys: DatabaseKeys
  let options: FirestoreServiceOptions
  let transactions: TransactionPool
  let hub: ListenHub
  let indexes: IndexKeeper
  let pruner: LogPruner
  let recent: RecentDocuments
  /// Where changes are recorded that functions want.
  let events: EventOutbox?
  /// A version that no commit can have any more, nor one before it, as far as is known here.
  private let floor = Locked(Int64(0))

  /// - Parameters:
  ///   - owner: The number of the engine, by which others know what it holds.
  ///   - recent: What was read lately, of all databases.
  ///   - events: Where changes are recorded that functions want.
  init(
    name: DatabaseName, number: Int64, store: any OrderedStore, options: FirestoreServiceOptions, owner: UInt64,
    recent: RecentDocuments, events: EventOutbox? = nil
  ) {
    self.recent = recent
    self.events = events
    self.name = name
    self.store = store
    self.options = options
    let keys = DatabaseKeys(number)
    self.keys = keys
    let indexes = IndexKeeper(name, store: store, keys: keys, options: options, owner: owner)
    self.indexes = indexes
    let retention = options.retention * 1_000_000
    hub = ListenHub(name, store: store, options: options) { body in
      try await store.read {
        recent.noteSeen($0.version.microseconds)
        try await body(Snapshot(reader: $0, keys: keys, name: name, indexes: indexes, retention: retention))
      }
    }
    transactions = TransactionPool(options: options, engine: owner)
    pruner = LogPruner(store: store, keys: keys, options: options, owner: owner)
  }

  /// Ends what is open; the store stays.
  func close() {
    hub.close()
    transactions.close()
    indexes.close()
    pruner.close()
  }

  // MARK: Reading

  /// Reads the latest version.
  ///
  /// In a store that has stood still, the last commit may be older than the log is kept. The version that is read is
  /// then a later one, which nobody can commit at any more: so it can be read again when commits go on.
  ///
  /// - Parameter first: The keys that the body gets first; a store behind a network brings them with the beginning.
  func reading<Result>(
    expecting first: @autoclosure () -> [[UInt8]] = [], _ body: (Snapshot) async throws -> Result
  ) async throws -> Result {
    let oldest = options.now() - options.retention * 500_000
    while true {
      let result = try await store.read(expecting: .keys(first())) { reader -> Result? in
        let version = max(reader.version.microseconds, floor.withLock { $0 })
        if version < oldest { return nil }
        return try await body(snapshot(of: reader).later(version))
      }
      if let result { return result }
      let version = try await store.raiseFloor(to: nil).microseconds
      floor.withLock { $0 = max($0, version) }
      // A store whose clock is another one is read as it is.
      if version < oldest { return try await store.read { try await body(snapshot(of: $0).later(version)) } }
    }
  }

  private func snapshot(of reader: any StoreReader) -> Snapshot {
    recent.noteSeen(reader.version.microseconds)
    return Snapshot(reader: reader, keys: keys, name: name, indexes: indexes, retention: options.retention * 1_000_000)
  }

  /// A document that was read lately, at a version that is as late as any that somebody has seen.
  func recentDocument(_ name: String) -> (document: Document, version: Int64)? {
    guard let (document, latest) = recent.document(name) else { return nil }
    let version = max(latest, floor.withLock { $0 })
    return version < options.now() - options.retention * 500_000 ? nil : (document, version)
  }

  /// Reads at a read time; `nil` for the latest version.
  ///
  /// Two reads at one time agree, whatever commits run beside them: no commit can have that time or an earlier one any
  /// more.
  ///
  /// - Parameter scope: What will be read.
  func reading<Result>(
    at time: Timestamp?, _ scope: ChangeScope, _ body: (Snapshot) async throws -> Result
  ) async throws -> Result {
    guard let time else { return try await reading(expecting: expected(scope), body) }
    return try await reading(version: try await settled(time), scope, body)
  }

  /// Reads at a version that no later commit can have, nor one before it.
  func reading<Result>(
    version: Int64, _ scope: ChangeScope, _ body: (Snapshot) async throws -> Result
  ) async throws -> Result {
    try await store.read(expecting: .keys(expected(scope))) {
      try await body(try await snapshot(of: $0).at(version, scope))
    }
  }

  /// What is read first by whoever reads a scope: the documents, or which indexes there are.
  func expected(_ scope: ChangeScope) -> [[UInt8]] {
    if case .places(let places) = scope { return places.map(keys.document) }
    return [keys.catalogue]
  }

  /// The version of a read time, once no commit can come at or before it.
  func settled(_ time: Timestamp) async throws -> Int64 {
    guard let version = time.microseconds, version >= 0 else { throw DatabaseEngine.future }
    if version <= (try await store.read { $0.version.microseconds }) { return version }
    guard version <= options.now() else { throw DatabaseEngine.future }
    do {
      try await store.raiseFloor(to: StoreVersion(microseconds: version))
    } catch StoreError.Code.futureVersion {
      throw DatabaseEngine.future
    }
    floor.withLock { $0 = max($0, version) }
    return version
  }

  private static let future = FirestoreServiceError.refused("The requested 'read_time' cannot be in the future.")
}

/// Which databases a store has: a row for each, with the number that stands for it in keys.
enum DatabaseRegister {
  /// The number of a database; `nil` when there is none of this name.
  static func number(of name: DatabaseName, in store: any OrderedStore) async throws -> Int64? {
    let key = Keys.database(named: name.description)
    return try await store.read { reader in try await reader.get(key).map { try NumberRow.number($0) } }
  }

  /// Makes a database, unless it is there.
  ///
  /// - Parameter most: How many databases there may be then; `nil` for any number.
  /// - Returns: Its number; `nil` when there are enough.
  static func create(_ name: DatabaseName, in store: any OrderedStore, most: Int64? = nil) async throws -> Int64? {
    let key = Keys.database(named: name.description)
    return try await store.write { transaction in
      let rows = try await transaction.get([key, Keys.counter])
      if let row = rows[0] { return try NumberRow.number(row) }
      let number = try rows[1].map { try NumberRow.number($0) } ?? 0
      if let most, number >= most { return nil as Int64? }
      let version = try await transaction.commitVersion().microseconds
      let keys = DatabaseKeys(number + 1)
      try await transaction.put(NumberRow.bytes(number + 1), for: key)
      try await transaction.put(NumberRow.bytes(number + 1), for: Keys.counter)
      try await transaction.put(NumberRow.bytes(0), for: keys.catalogue)
      try await transaction.put(NumberRow.bytes(version), for: keys.horizon)
      return number + 1
    }.value
  }
}
