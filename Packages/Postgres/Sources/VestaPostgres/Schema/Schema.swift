import VestaBytes
import VestaStoreInterop

/// The tables of a store, and every statement on them.
///
/// A store is a separate schema, so several share a database without seeing one another.
///
/// | table | what |
/// |---|---|
/// | `entries (key, value)` | the map; keys of up to 2048 bytes, which an index of PostgreSQL can have |
/// | `long_entries (key, value)` | the entries with longer keys, found by their SHA-256, in order by their first 2048 bytes |
/// | `commits (version, unit, changes)` | the commits of the last hour: the transaction of PostgreSQL that made them, and which keys they changed |
/// | `state` | one row: the last version, the floor, whether there are long keys, the form of the schema, the store's name |
///
/// The row of `state` is the one lock: a committing process holds it, from the time when it hands out versions to the
/// end of the commit. So versions become visible in their order, and a snapshot that shows a version shows everything
/// before.
struct Schema: Sendable {
  /// The longest key that is in the index of `entries`.
  static let longestIndexedKey = 2_048

  /// The form of the tables; a later one is refused.
  static let form: Int64 = 1

  /// The schema's name, quoted.
  let name: String
  /// The channel of the notifications, quoted.
  let channel: String
  /// The name of this open store in its notifications.
  let sender: String
  /// The name of the store.
  let store: String
  let tuning: PostgresTuning

  init(prefix: String, store: String, directory: String, tuning: PostgresTuning = PostgresTuning()) {
    self.store = store
    sender = String(UInt64.random(in: .min ... .max), radix: 16)
    self.tuning = tuning
    // Names of PostgreSQL have up to 63 bytes; the digits distinguish what is cut off, and directories.
    let digits = Schema.digest(of: store + "\0" + directory)
    let text = "\(prefix)_\(store.prefix(30))_\(digits)"
    name = "\"\(text)\""
    channel = "\"\(text)\""
  }

  /// 64 bits of FNV-1a, as 16 digits.
  static func digest(of text: String) -> String {
    let digits = String(FNV1a.hash(text), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  // MARK: Making

  /// The statements that make what is not there.
  var creation: [Statement] {
    [
      // Two processes that make a schema at once get in each other's way otherwise.
      Statement("SELECT pg_advisory_xact_lock(hashtext($1)::bigint)", .text(name), isPrepared: false),
      Statement("CREATE SCHEMA IF NOT EXISTS \(name)", isPrepared: false),
      Statement(
        "CREATE TABLE IF NOT EXISTS \(name).entries (key bytea PRIMARY KEY, value bytea NOT NULL)", isPrepared: false),
      Statement(
        "CREATE TABLE IF NOT EXISTS \(name).long_entries (key bytea NOT NULL, value bytea NOT NULL)",
        isPrepared: false),
      Statement(
        "CREATE UNIQUE INDEX IF NOT EXISTS long_entries_key ON \(name).long_entries (sha256(key))", isPrepared: false),
      Statement(
        "CREATE INDEX IF NOT EXISTS long_entries_order ON \(name).long_entries (\(Schema.beginning("key")))",
        isPrepared: false),
      Statement(
        """
        CREATE TABLE IF NOT EXISTS \(name).commits (version bigint PRIMARY KEY, unit bytea NOT NULL, \
        changes bytea NOT NULL)
        """, isPrepared: false),
      Statement(
        """
        CREATE TABLE IF NOT EXISTS \(name).state (id int PRIMARY KEY CHECK (id = 1), version bigint NOT NULL, \
        floor bigint NOT NULL, has_long bigint NOT NULL, form bigint NOT NULL, store text NOT NULL)
        """, isPrepared: false),
      Statement(
        "INSERT INTO \(name).state VALUES (1, 0, 0, 0, \(Schema.form), $1) ON CONFLICT (id) DO NOTHING",
        .text(store), isPrepared: false),
    ]
  }

  /// Which tables of the schema there are, each with the count of ours; for finding a foreign one.
  var inspection: Statement {
    Statement(
      """
      SELECT count(*) FROM information_schema.tables WHERE table_schema = $1 \
      AND table_name IN ('entries', 'long_entries', 'commits', 'state') UNION ALL \
      SELECT count(*) FROM information_schema.tables WHERE table_schema = $1
      """, .text(String(name.dropFirst().dropLast())), isPrepared: false)
  }

  /// The server's clock, in microseconds since 1970.
  static let clock = Statement("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint", isPrepared: false)

  /// The form and the name that the store has.
  var identity: Statement { Statement("SELECT form, store FROM \(name).state WHERE id = 1", isPrepared: false) }

  // MARK: Reading

  static let beginReading = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
  static let commit = Statement("COMMIT")
  static let rollback = Statement("ROLLBACK")

  /// Lets the server notice within two minutes that a machine with its connections has failed, and releases its locks.
  static let keepAlive = Statement(
    "SELECT set_config('tcp_keepalives_idle', '60', false), set_config('tcp_keepalives_interval', '15', false)",
    isPrepared: false)

  /// Version, floor, and whether there are long keys.
  var state: Statement { Statement("SELECT version, floor, has_long FROM \(name).state WHERE id = 1") }

  /// The entries under keys, short ones and long ones.
  func reading(_ keys: [[UInt8]]) -> [Statement] {
    let short = keys.filter { $0.count <= Schema.longestIndexedKey }
    let long = keys.filter { $0.count > Schema.longestIndexedKey }
    var statements: [Statement] = []
    if short.count == 1 {
      statements.append(Statement("SELECT key, value FROM \(name).entries WHERE key = $1", .bytes(short[0])))
    } else if !short.isEmpty {
      statements.append(Statement("SELECT key, value FROM \(name).entries WHERE key = ANY($1)", .byteArrays(short)))
    }
    if long.isEmpty { return statements }
    let ofLong =
      "SELECT key, value FROM \(name).long_entries WHERE sha256(key) = ANY(SELECT sha256(k) FROM unnest($1) k)"
    return statements + [Statement(ofLong, .byteArrays(long))]
  }

  /// The first entries of a range, of those with long keys or of the others.
  ///
  /// Beyond the first entry it ends at its limit of bytes: rows that are not returned are not read from disk either.
  func page(of range: KeyRange, _ order: ScanOrder, _ size: PageSize, isLong: Bool = false) -> Statement {
    let way = order == .ascending ? "ASC" : "DESC"
    var parameters: [Parameter] = [.bytes(range.lower)]
    var place = "key >= $1"
    // Of long keys the index has the beginning only, so the range is given for both.
    if isLong { place += " AND \(Schema.beginning("key")) >= \(Schema.beginning("$1"))" }
    if let upper = range.upper {
      parameters.append(.bytes(upper))
      place += " AND key < $2"
      if isLong { place += " AND \(Schema.beginning("key")) <= \(Schema.beginning("$2"))" }
    }
    let keys = isLong ? "\(Schema.beginning("key")) \(way), key \(way)" : "key \(way)"
    parameters.append(.integer(Int64(size.entries)))
    let first = """
      SELECT key, value FROM \(name).\(isLong ? "long_entries" : "entries") WHERE \(place) ORDER BY \(keys) \
      LIMIT $\(parameters.count)
      """
    if size.entries == 1 { return Statement(first, parameters) }
    parameters.append(.integer(Int64(size.bytes)))
    return Statement(
      """
      SELECT key, value FROM (SELECT key, value, sum(octet_length(key) + octet_length(value)) OVER \
      (ORDER BY key \(way) ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before \
      FROM (\(first)) AS part) AS page WHERE before IS NULL OR before < $\(parameters.count) ORDER BY key \(way)
      """, parameters)
  }

  /// The part of a key that the index of long keys has.
  private static func beginning(_ key: String) -> String { "substring(\(key)::bytea, 1, \(longestIndexedKey))" }

  // MARK: Committing

  /// How many milliseconds the lock is waited for, and a process that has it may say nothing.
  ///
  /// - Parameter patience: For how long a server that is away is waited for; a third of it, and ten seconds at most.
  static func lockWait(within patience: Duration) -> Int64 { min(10_000, max(200, Int64(patience / .milliseconds(3)))) }

  /// How a connection that commits behaves.
  ///
  /// - Parameter lockWait: A process that stops between two statements holds the others up for so long.
  static func committing(isDurable: Bool, lockWait: Int64) -> Statement {
    Statement(
      """
      SELECT set_config('synchronous_commit', '\(isDurable ? "on" : "off")', false), \
      set_config('lock_timeout', '\(lockWait)', false), \
      set_config('idle_in_transaction_session_timeout', '\(lockWait)', false)
      """, isPrepared: false)
  }

  /// Ends a session that has the lock and waits for its process, in the middle of what that process has sent.
  ///
  /// The server's own time-out begins after a whole request only; what is cut off in one would hold the lock until
  /// the server notices that the client is unreachable.
  func endSilentHolder(after milliseconds: Int64) -> Statement {
    Statement(
      """
      SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE granted \
      AND relation = '\(name).state'::regclass AND mode IN ('RowShareLock', 'RowExclusiveLock') \
      AND wait_event = 'ClientRead' AND state_change < clock_timestamp() - $1 * interval '1 millisecond' \
      AND pid <> pg_backend_pid()
      """, .integer(milliseconds), isPrepared: false)
  }

  /// Statements that begin to commit: they wait for the lock, then read the commits of others.
  func lock(after version: Int64) -> [Statement] {
    [
      Statement("BEGIN ISOLATION LEVEL READ COMMITTED"),
      Statement(
        """
        SELECT version, floor, has_long, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint FROM \(name).state \
        WHERE id = 1 FOR UPDATE
        """),
      Statement(
        "SELECT version, changes FROM \(name).commits WHERE version > $1 ORDER BY version", .integer(version)),
    ]
  }

  /// Fails unless the row of the state is what is expected: with the lock held, so it stays so.
  ///
  /// Statements sent after it run then, without another check; where it fails, the lock is still there.
  func expect(_ last: CommitState) -> [Statement] {
    [
      Statement("SAVEPOINT guess"),
      Statement(
        """
        SELECT 1 / CASE WHEN version = $1 AND floor = $2 AND has_long = $3 THEN 1 ELSE 0 END FROM \(name).state \
        WHERE id = 1
        """, .integer(last.version), .integer(last.floor), .integer(last.hasLong ? 1 : 0)),
    ]
  }

  static let forgetGuess = Statement("ROLLBACK TO SAVEPOINT guess")

  func delete(_ range: KeyRange, hasLong: Bool) -> [Statement] {
    (hasLong ? ["entries", "long_entries"] : ["entries"]).map { table in
      guard let upper = range.upper else {
        return Statement("DELETE FROM \(name).\(table) WHERE key >= $1", .bytes(range.lower))
      }
      return Statement(
        "DELETE FROM \(name).\(table) WHERE key >= $1 AND key < $2", .bytes(range.lower), .bytes(upper))
    }
  }

  func delete(_ keys: [[UInt8]], areLong: Bool) -> Statement {
    areLong
      ? Statement(
        "DELETE FROM \(name).long_entries WHERE sha256(key) = ANY(SELECT sha256(k) FROM unnest($1) k)",
        .byteArrays(keys))
      : Statement("DELETE FROM \(name).entries WHERE key = ANY($1)", .byteArrays(keys))
  }

  func put(_ keys: [[UInt8]], _ values: [[UInt8]], areLong: Bool) -> Statement {
    let (table, conflict) = areLong ? ("long_entries", "(sha256(key))") : ("entries", "(key)")
    return Statement(
      """
      INSERT INTO \(name).\(table) (key, value) SELECT * FROM unnest($1, $2) \
      ON CONFLICT \(conflict) DO UPDATE SET value = EXCLUDED.value
      """, .byteArrays(keys), .byteArrays(values))
  }

  /// Lists commits of a unit.
  func note(_ commits: [(version: Int64, changes: [UInt8])], unit: [UInt8]) -> Statement {
    if commits.count == 1 {
      return Statement(
        "INSERT INTO \(name).commits VALUES ($1, $2, $3)", .integer(commits[0].version), .bytes(unit),
        .bytes(commits[0].changes))
    }
    return Statement(
      "INSERT INTO \(name).commits SELECT v, $1, c FROM unnest($2, $3) AS list (v, c)", .bytes(unit),
      .integers(commits.map(\.version)), .byteArrays(commits.map(\.changes)))
  }

  func set(_ state: CommitState) -> Statement {
    Statement(
      "UPDATE \(name).state SET version = $1, floor = $2, has_long = $3 WHERE id = 1", .integer(state.version),
      .integer(state.floor), .integer(state.hasLong ? 1 : 0))
  }

  /// Wakes the listeners.
  ///
  /// Behind the COMMIT and not in it: PostgreSQL lets transactions that notify end one at a time, other stores'
  /// included.
  var notify: Statement { Statement("NOTIFY \(channel), '\(sender)'") }
  var listen: Statement { Statement("LISTEN \(channel)", isPrepared: false) }

  /// Forgets commits that are older than an hour, a few at a time.
  func forget(before version: Int64) -> Statement {
    Statement(
      """
      DELETE FROM \(name).commits WHERE version IN \
      (SELECT version FROM \(name).commits WHERE version < $1 ORDER BY version LIMIT 10000)
      """, .integer(version))
  }

  /// The transaction that made a commit; it is requested under the lock, when nothing is under way.
  func unit(of version: Int64) -> Statement {
    Statement("SELECT unit FROM \(name).commits WHERE version = $1", .integer(version))
  }

  func versions(after version: Int64) -> Statement {
    Statement("SELECT version FROM \(name).commits WHERE version > $1 ORDER BY version", .integer(version))
  }
}
