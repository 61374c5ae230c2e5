import VestaConcurrency
import VestaStoreInterop

/// One snapshot of the store: a transaction of PostgreSQL that only reads.
///
/// It begins with its first read, in one round trip. Used by one body at a time.
final class PostgresSnapshot {
  let version: Int64
  private let loan: ConnectionPool.Loan
  private let pool: ConnectionPool
  private let schema: Schema
  var tuning: PostgresTuning { schema.tuning }
  /// Whether the store has entries with long keys.
  let hasLong: Bool
  /// The rows that were read with the beginning.
  private var values: [[UInt8]: [UInt8]?] = [:]
  private var page: (range: KeyRange, order: ScanOrder, size: PageSize, page: Page)?
  /// Why the connection is unusable; the body's reads failed, even if it ignores that.
  private(set) var failure: StoreError?

  private init(_ loan: ConnectionPool.Loan, _ pool: ConnectionPool, _ schema: Schema, version: Int64, hasLong: Bool) {
    self.loan = loan
    self.pool = pool
    self.schema = schema
    self.version = version
    self.hasLong = hasLong
  }

  // MARK: Beginning

  /// Begins to read, in one round trip.
  ///
  /// - Parameters:
  ///   - isInside: Whether the caller is in a body of the store.
  ///   - first: The rows read with it, which are not requested again.
  static func begin(
    _ pool: ConnectionPool, _ schema: Schema, isInside: Bool, reading first: StoreFirstRead?
  ) async throws -> PostgresSnapshot {
    let tuning = schema.tuning
    var (failures, deadline) = (0, ContinuousClock.Instant?.none)
    while true {
      do {
        return try await beginOnce(pool, schema, isInside, first)
      } catch let error as PostgresFailure where error.isPassing {
        pool.dropIdle()
        failures += 1
        let end = deadline ?? tuning.now() + pool.patience
        deadline = end
        guard let pause = tuning.readRetry.pause(after: failures), tuning.now() + pause < end else { throw error }
        try await tuning.sleep(pause)
      }
    }
  }

  private static func beginOnce(
    _ pool: ConnectionPool, _ schema: Schema, _ isInside: Bool, _ first: StoreFirstRead?
  ) async throws -> PostgresSnapshot {
    let loan = try await pool.take(isInside: isInside)
    do {
      let reads = statements(of: first, schema)
      let rows = try await loan.connection.run([Schema.beginReading, schema.state] + reads)
      guard rows.count == 2 + reads.count, let version = rows[1].integer(0, 0), let long = rows[1].integer(0, 2) else {
        throw StoreError(.corrupt, operation: "read", message: "The row of the store's state is not there.")
      }
      let snapshot = PostgresSnapshot(loan, pool, schema, version: version, hasLong: long != 0)
      snapshot.keep(Array(rows[2...]), of: first)
      return snapshot
    } catch {
      pool.give(loan, isSound: false)
      throw error
    }
  }

  private static func statements(of first: StoreFirstRead?, _ schema: Schema) -> [Statement] {
    switch first {
    case nil: []
    // Whether there are long keys is not known yet, so they are asked for in their turn.
    case .keys(let keys)?: schema.reading(keys.filter { $0.count <= Schema.longestIndexedKey })
    case .scan(let range, let order, let limit)?:
      range.isEmpty || limit.map { $0 < 1 } == true
        ? [] : [schema.page(of: range, order, PageSize(limit: limit, schema.tuning))]
    }
  }

  private func keep(_ rows: [Rows], of first: StoreFirstRead?) {
    switch first {
    case nil: break
    case .keys(let keys)?:
      for key in keys where key.count <= Schema.longestIndexedKey { values[key] = .some(nil) }
      for entry in PostgresSnapshot.entries(rows) { values[entry.key] = entry.value }
    case .scan(let range, let order, let limit)?:
      if rows.isEmpty { return }
      let size = PageSize(limit: limit, schema.tuning)
      page = (range, order, size, Page(PostgresSnapshot.entries(rows), size))
    }
  }

  /// Ends the transaction, and returns the connection, without waiting.
  func end() {
    if failure == nil { loan.connection.send(Schema.commit) }
    pool.give(loan, isSound: failure == nil)
  }

  // MARK: Reading

  private func run(_ statements: [Statement], _ operation: String) async throws -> [Rows] {
    do {
      return try await loan.connection.run(statements)
    } catch {
      let failure = StoreError(error, operation: operation)
      self.failure = failure
      throw failure
    }
  }

  private func check() throws {
    if let failure { throw failure }
    try Task.checkCancellation()
  }

  /// The values of keys, in one round trip at most.
  func values(of keys: [[UInt8]]) async throws -> [[UInt8]?] {
    try check()
    // Where there are no long keys there is nothing to ask for.
    let missing = keys.filter { values[$0] == nil && (hasLong || $0.count <= Schema.longestIndexedKey) }
    var found: [[UInt8]: [UInt8]] = [:]
    if !missing.isEmpty {
      for entry in PostgresSnapshot.entries(try await run(schema.reading(missing), "get")) {
        found[entry.key] = entry.value
      }
    }
    return keys.map { found[$0] ?? values[$0] ?? nil }
  }

  /// The first entries of a range, of those with long keys or of the others.
  func page(of range: KeyRange, _ order: ScanOrder, _ size: PageSize, isLong: Bool = false) async throws -> Page {
    try check()
    if !isLong, let known = page, known.range == range, known.order == order, known.size == size {
      // Handed out once: a page may be large.
      page = nil
      return known.page
    }
    let statement = schema.page(of: range, order, size, isLong: isLong)
    return Page(PostgresSnapshot.entries(try await run([statement], "scan")), size)
  }

  private static func entries(_ rows: [Rows]) -> [StoreEntry] {
    rows.flatMap(\.rows).compactMap { row in
      guard row.count == 2, let key = row[0], let value = row[1] else { return nil }
      return StoreEntry(key: key, value: value)
    }
  }
}
