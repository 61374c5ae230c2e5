import CVestaPostgres

/// PostgreSQL used by hand: one connection of libpq that blocks its thread, with prepared statements, several in one
/// flight.
package final class RawPostgres {
  private let connection: OpaquePointer
  private var names: [String: String] = [:]

  /// A connection; `nil` when the server does not answer.
  package init?(_ url: String) {
    connection = PQconnectdb(url)
    guard PQstatus(connection) == CONNECTION_OK else { return nil }
  }

  deinit { PQfinish(connection) }

  /// Makes tables like a store's, with as many entries.
  package func makeTables(entries count: Int) {
    for statement in [
      "SET client_min_messages = warning", "DROP SCHEMA IF EXISTS raw CASCADE", "CREATE SCHEMA raw",
      "CREATE TABLE raw.entries (key bytea PRIMARY KEY, value bytea NOT NULL)",
      "CREATE TABLE raw.commits (version bigint PRIMARY KEY, unit bytea NOT NULL, changes bytea NOT NULL)",
      "CREATE TABLE raw.state (id int PRIMARY KEY, version bigint, floor bigint, has_long bigint)",
      "INSERT INTO raw.state VALUES (1, 0, 0, 0)",
      """
      INSERT INTO raw.entries SELECT int8send(n::bigint), decode(repeat(lpad(to_hex(n % 256), 2, '0'), 100), 'hex') \
      FROM generate_series(0, \(count - 1)) n
      """,
      "ANALYZE raw.entries",
    ] { run([(statement, [])]) }
  }

  /// The statements of a store's `get`, in one flight.
  package func get(_ key: [UInt8]) -> [UInt8]? {
    run([
      ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", []),
      ("SELECT version, floor, has_long FROM raw.state WHERE id = 1", []),
      ("SELECT key, value FROM raw.entries WHERE key = $1", [key]), ("COMMIT", []),
    ])
  }

  /// One statement by itself.
  package func getAlone(_ key: [UInt8]) -> [UInt8]? {
    run([("SELECT key, value FROM raw.entries WHERE key = $1", [key])])
  }

  /// The statements of a store's commit of one put, in one flight.
  package func put(_ value: [UInt8], for key: [UInt8]) {
    run([
      ("BEGIN ISOLATION LEVEL READ COMMITTED", []),
      ("SELECT version, floor, has_long FROM raw.state WHERE id = 1 FOR UPDATE", []),
      (
        "INSERT INTO raw.entries (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value",
        [key, value]
      ),
      ("INSERT INTO raw.commits SELECT version + 1, $1, $1 FROM raw.state", [key]),
      ("UPDATE raw.state SET version = version + 1 WHERE id = 1", []), ("COMMIT", []),
    ])
  }

  /// Some thousand entries by one statement.
  package func scan(from key: [UInt8], count: Int) -> Int {
    run([("SELECT key, value FROM raw.entries WHERE key >= $1 ORDER BY key LIMIT \(count)", [key])])?.count ?? 0
  }

  /// Runs statements in one flight, and returns the last column of the last row.
  @discardableResult
  private func run(_ statements: [(sql: String, values: [[UInt8]])]) -> [UInt8]? {
    for statement in statements { prepare(statement.sql, count: statement.values.count) }
    PQenterPipelineMode(connection)
    for statement in statements { send(statement.sql, statement.values) }
    PQpipelineSync(connection)
    var found: [UInt8]?
    while true {
      guard let result = PQgetResult(connection) else { continue }
      defer { PQclear(result) }
      let status = PQresultStatus(result)
      if status == PGRES_PIPELINE_SYNC { break }
      precondition(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK, String(cString: PQerrorMessage(connection)))
      let (rows, columns) = (PQntuples(result), PQnfields(result))
      for row in 0..<rows {
        let bytes = UnsafeRawBufferPointer(
          start: PQgetvalue(result, row, columns - 1), count: Int(PQgetlength(result, row, columns - 1)))
        found = [UInt8](bytes)
      }
    }
    PQexitPipelineMode(connection)
    return found
  }

  private func prepare(_ sql: String, count: Int) {
    guard names[sql] == nil else { return }
    let name = "p\(names.count)"
    PQclear(PQprepare(connection, name, sql, Int32(count), [Oid](repeating: 17, count: count)))
    names[sql] = name
  }

  private func send(_ sql: String, _ values: [[UInt8]]) {
    let formats = [Int32](repeating: 1, count: values.count)
    let lengths = values.map { Int32($0.count) }
    // Unsafe pointers, used before the arrays are let go of: libpq copies the values.
    let copies = values.map { value -> UnsafeMutablePointer<CChar> in
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: value.count + 1)
      for (index, byte) in value.enumerated() { copy[index] = CChar(bitPattern: byte) }
      return copy
    }
    defer { for copy in copies { copy.deallocate() } }
    let pointers = copies.map { Optional(UnsafePointer($0)) }
    _ = PQsendQueryPrepared(connection, names[sql], Int32(values.count), pointers, lengths, formats, 1)
  }
}
