import VestaStoreInterop

/// A value that a statement is given, in the binary form of PostgreSQL.
enum Parameter: Sendable {
  case bytes([UInt8])
  case byteArrays([[UInt8]])
  case integer(Int64)
  case integers([Int64])
  case text(String)

  /// The number of the type in every PostgreSQL.
  var type: UInt32 {
    switch self {
    case .bytes: 17
    case .byteArrays: 1001
    case .integer: 20
    case .integers: 1016
    case .text: 25
    }
  }

  var encoded: [UInt8] {
    switch self {
    case .bytes(let bytes): bytes
    case .integer(let number): Parameter.bigEndian(UInt64(bitPattern: number), count: 8)
    case .text(let text): Array(text.utf8)
    case .byteArrays(let arrays): Parameter.encode(arrays, elements: 17)
    case .integers(let numbers):
      Parameter.encode(numbers.map { Parameter.bigEndian(UInt64(bitPattern: $0), count: 8) }, elements: 20)
    }
  }

  /// One dimension, no nulls, from 1 on.
  private static func encode(_ arrays: [[UInt8]], elements: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(20 + arrays.reduce(0) { $0 + $1.count + 4 })
    bytes += bigEndian(arrays.isEmpty ? 0 : 1, count: 4) + bigEndian(0, count: 4) + bigEndian(elements, count: 4)
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
  /// Whether the server is to remember its plan; for statements that are sent often.
  let isPrepared: Bool

  init(_ sql: String, _ parameters: Parameter..., isPrepared: Bool = true) {
    self.init(sql, parameters, isPrepared: isPrepared)
  }

  init(_ sql: String, _ parameters: [Parameter], isPrepared: Bool = true) {
    self.sql = sql
    self.parameters = parameters
    self.isPrepared = isPrepared
  }
}

/// The outcome of a statement.
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

/// The outcomes of statements that were sent together: their rows, up to the one that failed.
struct Answer: Sendable {
  var rows: [Rows] = []
  var failure: PostgresFailure?

  func get() throws(PostgresFailure) -> [Rows] {
    if let failure { throw failure }
    return rows
  }
}
