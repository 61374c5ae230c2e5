/// Every statement that is kept prepared, by its number.
enum Query: Int, CaseIterable {
  case begin, beginWriting, commit, rollback
  case savepoint, releaseSavepoint, rollbackToSavepoint
  case state, setState
  case value, largeValue
  case ascending, ascendingToEnd, descending, descendingToEnd
  case putSmall, put, putReference, putLarge, reference
  case delete, deleteRange, deleteRangeToEnd
  case deleteLarge, deleteLargeRange, deleteLargeRangeToEnd

  var sql: String {
    switch self {
    case .begin: "BEGIN"
    case .beginWriting: "BEGIN IMMEDIATE"
    case .commit: "COMMIT"
    case .rollback: "ROLLBACK"
    case .savepoint: "SAVEPOINT body"
    case .releaseSavepoint: "RELEASE body"
    case .rollbackToSavepoint: "ROLLBACK TO body"
    case .state: "SELECT version, floor, exact FROM state"
    case .setState: "UPDATE state SET version = ?1, floor = ?2, exact = ?3"
    case .value: "SELECT value FROM entry WHERE key = ?1"
    case .largeValue: "SELECT value FROM large WHERE id = ?1"
    case .ascending: "SELECT key, value FROM entry WHERE key >= ?1 AND key < ?2 ORDER BY key"
    case .ascendingToEnd: "SELECT key, value FROM entry WHERE key >= ?1 ORDER BY key"
    case .descending: "SELECT key, value FROM entry WHERE key >= ?1 AND key < ?2 ORDER BY key DESC"
    case .descendingToEnd: "SELECT key, value FROM entry WHERE key >= ?1 ORDER BY key DESC"
    case .putSmall:
      """
      INSERT INTO entry (key, value) VALUES (?1, ?2)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE typeof(entry.value) = 'blob'
      """
    case .put, .putReference:
      "INSERT INTO entry (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    case .putLarge:
      "INSERT INTO large (id, value) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET value = excluded.value"
    case .reference: "SELECT value FROM entry WHERE key = ?1 AND typeof(value) = 'integer'"
    case .delete: "DELETE FROM entry WHERE key = ?1"
    case .deleteRange: "DELETE FROM entry WHERE key >= ?1 AND key < ?2"
    case .deleteRangeToEnd: "DELETE FROM entry WHERE key >= ?1"
    case .deleteLarge: "DELETE FROM large WHERE id = ?1"
    case .deleteLargeRange:
      """
      DELETE FROM large WHERE id IN
        (SELECT value FROM entry WHERE key >= ?1 AND key < ?2 AND typeof(value) = 'integer')
      """
    case .deleteLargeRangeToEnd:
      "DELETE FROM large WHERE id IN (SELECT value FROM entry WHERE key >= ?1 AND typeof(value) = 'integer')"
    }
  }

  /// The operation of the store, for the message of an error.
  var operation: String {
    switch self {
    case .begin, .state, .value, .largeValue: "read"
    case .ascending, .ascendingToEnd, .descending, .descendingToEnd: "scan"
    case .beginWriting, .savepoint, .releaseSavepoint, .rollbackToSavepoint, .rollback: "write"
    case .putSmall, .put, .putReference, .putLarge, .reference: "put"
    case .delete, .deleteLarge: "delete"
    case .deleteRange, .deleteRangeToEnd, .deleteLargeRange, .deleteLargeRangeToEnd: "deleteRange"
    case .commit, .setState: "commit"
    }
  }
}
