import CVestaSQLite
import Foundation

/// A table of five columns by hand, as the figures of other libraries for records were measured: one transaction of
/// prepared inserts, and one query into structures. Its file is deleted with it.
// Sound as @unchecked Sendable: benchmarks run one after the other, and each uses it from one task.
package final class RawPlayers: @unchecked Sendable {
  /// A row.
  package struct Player: Sendable {
    package var id: Int
    package var name: String
    package var score: Int
    package var rate: Double
    package var team: String

    package init(id: Int, name: String, score: Int, rate: Double, team: String) {
      (self.id, self.name, self.score, self.rate, self.team) = (id, name, score, rate, team)
    }
  }

  private let path: String
  private let handle: OpaquePointer
  // SQLite copies the bytes of a text; sound as the value is SQLITE_TRANSIENT, which is no function.
  private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  package init(path: String) {
    var handle: OpaquePointer?
    sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
    guard let handle else { preconditionFailure("no memory") }
    (self.path, self.handle) = (path, handle)
    run(
      """
      PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
      CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER, rate REAL, team TEXT);
      """)
  }

  deinit {
    sqlite3_close_v2(handle)
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }

  /// Inserts rows in one transaction.
  package func insert(_ players: [Player]) {
    run("BEGIN")
    let statement = prepare("INSERT INTO player VALUES (?1, ?2, ?3, ?4, ?5)")
    for player in players {
      sqlite3_bind_int64(statement, 1, Int64(player.id))
      sqlite3_bind_text(statement, 2, player.name, -1, transient)
      sqlite3_bind_int64(statement, 3, Int64(player.score))
      sqlite3_bind_double(statement, 4, player.rate)
      sqlite3_bind_text(statement, 5, player.team, -1, transient)
      precondition(sqlite3_step(statement) == SQLITE_DONE)
      sqlite3_reset(statement)
    }
    sqlite3_finalize(statement)
    run("COMMIT")
  }

  /// All rows.
  package func fetch() -> [Player] {
    let statement = prepare("SELECT id, name, score, rate, team FROM player")
    defer { sqlite3_finalize(statement) }
    var players: [Player] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      players.append(
        Player(
          id: Int(sqlite3_column_int64(statement, 0)), name: String(cString: sqlite3_column_text(statement, 1)),
          score: Int(sqlite3_column_int64(statement, 2)), rate: sqlite3_column_double(statement, 3),
          team: String(cString: sqlite3_column_text(statement, 4))))
    }
    return players
  }

  private func prepare(_ sql: String) -> OpaquePointer {
    var statement: OpaquePointer?
    sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    guard let statement else { preconditionFailure(String(cString: sqlite3_errmsg(handle))) }
    return statement
  }

  private func run(_ sql: String) {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
      preconditionFailure(String(cString: sqlite3_errmsg(handle)))
    }
  }
}
