import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

/// The rows of the databases of a store: for each name the number that keys have for it.
///
/// The number of a deleted database is negative. It stays, since other engines may know it: what they write makes the
/// database exist again.
enum DatabaseRegister {
  /// The number of a database; `nil` when there is none of this name.
  static func number(of name: DatabaseName, in store: any OrderedStore) async throws -> Int64? {
    let key = Keys.database(named: name.description)
    return try await store.read { reader in
      guard let row = try await reader.get(key) else { return nil as Int64? }
      let number = try NumberRow.number(row)
      return try await exists(number, reader) ? positive(number) : nil
    }
  }

  /// Notes that a database is deleted, whatever documents it has.
  static func delete(_ name: DatabaseName, in store: any OrderedStore) async throws {
    let key = Keys.database(named: name.description)
    _ = try await store.write { transaction in
      guard let row = try await transaction.get([key])[0] else { return }
      try await transaction.put(NumberRow.bytes(-positive(try NumberRow.number(row))), for: key)
    }
  }

  /// The number without its sign; a damaged row may have any.
  private static func positive(_ number: Int64) -> Int64 { Int64(clamping: number.magnitude) }

  /// Whether a database exists: one that was deleted does while it has a document.
  private static func exists(_ number: Int64, _ reader: any StoreReader) async throws -> Bool {
    if number > 0 { return true }
    let documents = KeyRange(prefix: DocumentDatabaseKeys(positive(number)).documents)
    return try await !reader.entries(in: documents, limit: 1).isEmpty
  }

  /// The full names of all databases, in the order of their bytes.
  static func names(in store: any OrderedStore) async throws -> [String] {
    try await store.read { reader in
      var names: [String] = []
      for entry in try await reader.entries(in: KeyRange(prefix: Keys.databases)) {
        guard try await exists(try NumberRow.number(entry.value), reader) else { continue }
        var decoder = KeyDecoder(entry.key, from: Keys.databases.count)
        names.append(try decoder.string())
      }
      return names
    }
  }

  /// Makes a database, unless it is there.
  ///
  /// - Parameter most: How many databases there may be then; `nil` for any number.
  /// - Returns: Its number; `nil` when there are enough.
  static func create(_ name: DatabaseName, in store: any OrderedStore, most: Int64? = nil) async throws -> Int64? {
    try await add(name, in: store, most: most)?.number
  }

  /// Makes a database, unless it is there, and says whether it was.
  static func add(
    _ name: DatabaseName, in store: any OrderedStore, most: Int64? = nil
  ) async throws -> (number: Int64, isNew: Bool)? {
    let key = Keys.database(named: name.description)
    let sortsLater = LogSorter.isWorthwhile(for: store)
    return try await store.write { transaction in
      let rows = try await transaction.get([key, Keys.counter])
      if let row = rows[0] {
        let number = try NumberRow.number(row)
        if number < 0 { try await transaction.put(NumberRow.bytes(positive(number)), for: key) }
        return (positive(number), number < 0)
      }
      let number = try rows[1].map { try NumberRow.number($0) } ?? 0
      if let most, number >= most { return nil as (number: Int64, isNew: Bool)? }
      let version = try await transaction.commitVersion().microseconds
      let keys = DocumentDatabaseKeys(number + 1)
      try await transaction.put(NumberRow.bytes(number + 1), for: key)
      try await transaction.put(NumberRow.bytes(number + 1), for: Keys.counter)
      try await transaction.put(NumberRow.bytes(0), for: keys.catalogue)
      try await transaction.put(NumberRow.bytes(version), for: keys.horizon)
      try await transaction.put(NumberRow.bytes(version), for: keys.made)
      if sortsLater { try await transaction.put(PositionRow.bytes(LogPosition(version: version)), for: keys.sorted) }
      return (number + 1, true)
    }.value
  }
}
