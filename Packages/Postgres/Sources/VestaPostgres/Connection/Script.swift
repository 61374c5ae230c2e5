import VestaStoreInterop

/// A value that a statement is given, in the binary form of PostgreSQL.
enum Parameter: Sendable {
  case bytes([UInt8])
  case byteArrays([[UInt8]])
  case integer(Int64)
  case text(String)

  /// The number of the type in every PostgreSQL.
  var type: UInt32 {
    switch self {
    case .bytes: 17
    case .byteArrays: 1001
    case .integer: 20
    case .text: 25
    }
  }

  var encoded: [UInt8] {
    switch self {
    case .bytes(let bytes): bytes
    case .integer(let number): Parameter.bigEndian(UInt64(bitPattern: number), count: 8)
    case .text(let text): Array(text.utf8)
    case .byteArrays(let arrays): Parameter.encode(arrays)
    }
  }

  /// One dimension, no nulls, elements of type `bytea`, from 1 on.
  private static func encode(_ arrays: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(20 + arrays.reduce(0) { $0 + $1.count + 4 })
    bytes += bigEndian(arrays.isEmpty ? 0 : 1, count: 4) + bigEndian(0, count: 4) + bigEndian(17, count: 4)
    if arrays.isEmpty { return bytes }
    bytes += bigEndian(UInt64(arrays.count), count: 4) + bigEndian(1, count: 4)
    for array in arrays {
      bytes += bigEndian(UInt64(array.count), count: 4)
      bytes += array
    }
    return bytes
  }

  static func bigEndian(_ number: UInt64, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - 1 - $0))) }
  }
}

/// A statement with its values.
struct Statement: Sendable {
  let sql: String
  let parameters: [Parameter]
  /// Whether the server is to remember how it is done; for those that come again and again.
  let isPrepared: Bool

  init(_ sql: String, _ parameters: Parameter..., isPrepared: Bool = true) {
    self.sql = sql
    self.parameters = parameters
    self.isPrepared = isPrepared
  }
}

/// The result of a statement.
struct Rows: Sendable {
  /// The columns of each row in binary form; `nil` for null.
  var rows: [[[UInt8]?]] = []
  /// How many rows a change touched.
  var affected = 0

  /// The number in a column; `nil` for null, and for what is no number.
  func integer(_ row: Int, _ column: Int) -> Int64? {
    guard rows.indices.contains(row), rows[row].indices.contains(column), let bytes = rows[row][column] else {
      return nil
    }
    return Rows.integer(bytes)
  }

  static func integer(_ bytes: [UInt8]) -> Int64? {
    guard (1...8).contains(bytes.count) else { return nil }
    return Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
  }

  func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
    guard rows.indices.contains(row), rows[row].indices.contains(column) else { return nil }
    return rows[row][column]
  }
}

/// The reason why the server refused a statement.
enum PostgresFailure: Error, Sendable {
  /// There is no connection, or none any more: what was asked may have been done.
  case lost(String)
  /// The server refused, with a code of SQL.
  case refused(state: String, message: String)
  /// The loop or the pool has been closed.
  case closed

  /// Whether the same again may succeed at once: another transaction was in the way.
  var isConflict: Bool {
    if case .refused(let state, _) = self { return ["40001", "40P01", "55P03"].contains(state) }
    return false
  }

  /// Whether a server that is restarted or has too many connections may do it later.
  var isPassing: Bool {
    switch self {
    case .lost: true
    case .refused(let state, _): state.hasPrefix("57P") || state.hasPrefix("08") || state == "53300"
    case .closed: false
    }
  }
}
