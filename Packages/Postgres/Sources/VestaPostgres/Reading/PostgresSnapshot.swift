import VestaStoreInterop

/// One moment of the store: a transaction of PostgreSQL that only reads.
///
/// Used by one body at a time.
final class PostgresSnapshot {
  let version: Int64
  private let lease: ConnectionPool.Lease
  private let pool: ConnectionPool
  private let schema: Schema
  private let hasLong: Bool
  /// Why the connection cannot be used any more; whatever the body makes of it, it has not read what it asked for.
  private(set) var failure: StoreError?

  private init(_ lease: ConnectionPool.Lease, _ pool: ConnectionPool, _ schema: Schema, version: Int64, hasLong: Bool) {
    self.lease = lease
    self.pool = pool
    self.schema = schema
    self.version = version
    self.hasLong = hasLong
  }

  /// How often a moment is asked for again after a connection has turned out to be dead: the first may have been idle
  /// for long, then a server that is restarted has some seconds.
  private static let pauses: [Duration] = [.zero, .milliseconds(50), .milliseconds(250), .seconds(1), .seconds(3)]

  /// Begins to read, in one round trip.
  ///
  /// - Parameter isInside: Whether the caller is in a body of the store.
  static func begin(_ pool: ConnectionPool, _ schema: Schema, isInside: Bool) async throws -> PostgresSnapshot {
    var last: any Error = PostgresFailure.closed
    for pause in pauses {
      if pause > .zero { try await Task.sleep(for: pause) }
      do {
        return try await beginOnce(pool, schema, isInside)
      } catch let error as PostgresFailure where error.isPassing {
        pool.dropIdle()
        last = error
      }
    }
    throw last
  }

  private static func beginOnce(
    _ pool: ConnectionPool, _ schema: Schema, _ isInside: Bool
  ) async throws -> PostgresSnapshot {
    let lease = try await pool.take(isInside: isInside)
    do {
      let rows = try await lease.connection.run(Schema.beginReading, schema.state)
      guard rows.count == 2, let version = rows[1].integer(0, 0), let long = rows[1].integer(0, 2) else {
        throw StoreError(.corrupt, operation: "read", message: "The row of the store's state is not there.")
      }
      return PostgresSnapshot(lease, pool, schema, version: version, hasLong: long != 0)
    } catch {
      pool.give(lease, isSound: false)
      throw error
    }
  }

  /// Ends the moment, and gives the connection back; nobody waits for that.
  func end() {
    if failure == nil { lease.connection.send(Schema.commit) }
    pool.give(lease, isSound: failure == nil)
  }

  private func run(_ statements: [Statement], _ operation: String) async throws -> [Rows] {
    if let failure { throw failure }
    try Task.checkCancellation()
    do {
      return try await lease.connection.run(statements)
    } catch {
      let failure = StoreError(error, operation: operation)
      self.failure = failure
      throw failure
    }
  }

  /// The values of keys, in one round trip.
  func values(of keys: [[UInt8]]) async throws -> [[UInt8]?] {
    if keys.isEmpty { return [] }
    let long = hasLong ? keys.filter { $0.count > Schema.longestIndexedKey } : []
    let short = keys.filter { $0.count <= Schema.longestIndexedKey }
    var statements: [Statement] = []
    if short.count == 1 { statements.append(schema.value(of: short[0])) }
    if short.count > 1 { statements.append(schema.values(of: short)) }
    if !long.isEmpty { statements.append(schema.longValues(of: long)) }
    if statements.isEmpty {
      if let failure { throw failure }
      return keys.map { _ in nil }
    }
    var found: [[UInt8]: [UInt8]] = [:]
    for row in try await run(statements, "get").flatMap(\.rows) {
      if row.count == 2, let key = row[0], let value = row[1] { found[key] = value }
    }
    return keys.map { found[$0] }
  }

  /// The first entries of a range with keys that are not long; fewer than the limit when that is all.
  func page(of range: KeyRange, _ order: ScanOrder, limit: Int) async throws -> [StoreEntry] {
    let rows = try await run([schema.page(of: range, order, limit: limit)], "scan")
    return PostgresSnapshot.entries(rows)
  }

  /// All entries of a range with long keys; none in most stores, and then without a round trip.
  func longEntries(in range: KeyRange) async throws -> [StoreEntry] {
    if !hasLong { return [] }
    return PostgresSnapshot.entries(try await run([schema.longEntries(in: range)], "scan"))
  }

  private static func entries(_ rows: [Rows]) -> [StoreEntry] {
    rows.flatMap(\.rows).compactMap { row in
      guard row.count == 2, let key = row[0], let value = row[1] else { return nil }
      return StoreEntry(key: key, value: value)
    }
  }
}
