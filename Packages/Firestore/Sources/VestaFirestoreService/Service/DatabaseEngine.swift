import VestaFirestoreBackend
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

  init(name: DatabaseName, number: Int64, store: any OrderedStore, options: FirestoreServiceOptions) {
    self.name = name
    self.store = store
    self.options = options
    let keys = DatabaseKeys(number)
    self.keys = keys
    let indexes = IndexKeeper(store: store, keys: keys, options: options)
    self.indexes = indexes
    hub = ListenHub(name, store: store, digest: options.md5) { body in
      try await store.read { reader in
        try await body(try await Snapshot(reader: reader, keys: keys, name: name, indexes: indexes))
      }
    }
    transactions = TransactionPool(options: options)
  }

  /// Finds the database in the store, or makes it.
  static func open(
    _ name: DatabaseName, in store: any OrderedStore, options: FirestoreServiceOptions
  ) async throws -> DatabaseEngine {
    let key = Keys.database(named: name.description)
    if let row = try await store.read({ try await $0.get(key) }) {
      return DatabaseEngine(name: name, number: try number(row), store: store, options: options)
    }
    let now = options.now()
    let made = try await store.write { transaction in
      if let row = try await transaction.get(key) { return try number(row) }
      let others = try await transaction.entries(in: Keys.databases)
      let number = try others.reduce(Int64(0)) { max($0, try Self.number($1.value)) } + 1
      var writer = RowWriter()
      writer.write(int: number)
      try await transaction.put(writer.bytes, for: key)
      try await transaction.put(Head(version: now, horizon: now).bytes, for: DatabaseKeys(number).head)
      return number
    }
    return DatabaseEngine(name: name, number: made.value, store: store, options: options)
  }

  private static func number(_ row: [UInt8]) throws -> Int64 {
    var reader = RowReader(row)
    return try reader.int()
  }

  /// Reads at the latest moment.
  func reading<Result>(_ body: (Snapshot) async throws -> Result) async throws -> Result {
    try await store.read { reader in
      try await body(try await Snapshot(reader: reader, keys: self.keys, name: self.name, indexes: self.indexes))
    }
  }

  /// Reads at a moment in the past; `nil` for the latest.
  func reading<Result>(at time: Timestamp?, _ body: (Snapshot) async throws -> Result) async throws -> Result {
    guard let time else { return try await reading(body) }
    return try await reading { snapshot in
      // Versions may run ahead of a clock that stands or goes back.
      guard let version = time.microseconds, version <= max(options.now(), snapshot.version) else {
        throw FirestoreError.refused("The requested 'read_time' cannot be in the future.")
      }
      return try await body(try await snapshot.at(version))
    }
  }
}
