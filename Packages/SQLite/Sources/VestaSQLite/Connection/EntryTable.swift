import CVestaSQLite
import VestaStoreInterop

/// The ordered map, as statements on a connection.
///
/// Small values are stored next to their keys in `entry`, a table that is one index, so that a get is one descent and a
/// scan reads pages in a row. A value that does not fit into its leaf is stored in `large`, and its entry holds its
/// number instead: an index that spills has to read a whole chain of pages to compare one key. `Schema` has the
/// measurements.
struct EntryTable {
  let connection: Connection

  /// Whether a value is stored in the table of large ones; stores of different limits read one another's files.
  func isLarge(key: Int, value: Int) -> Bool { key + value > connection.inlineLimit }

  // MARK: Reading

  /// Takes the snapshot, if no other read has done so.
  func begin() throws { _ = try state() }

  /// The durable versions.
  func state() throws -> StoredVersions {
    let statement = try connection.statement(.state)
    defer { statement.reset() }
    guard try statement.step() else { throw damaged("read") }
    return StoredVersions(
      version: StoreVersion(rawValue: UInt64(bitPattern: statement.integer(0))),
      floor: StoreVersion(rawValue: UInt64(bitPattern: statement.integer(1))),
      isExact: statement.integer(2) != 0)
  }

  func value(for key: [UInt8]) throws -> [UInt8]? {
    let statement = try connection.statement(.value)
    return try key.withUnsafeBytes { key in
      try statement.bind(1, key)
      defer { statement.reset() }
      guard try statement.step() else { return nil }
      return try withValue(statement, column: 0) { [UInt8]($0) }
    }
  }

  /// Visits the entries of a range.
  ///
  /// - Parameter check: Throws when the scan shall end; called every `StoreTuning.entriesBetweenChecks` entries.
  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, check: () throws -> Void,
    _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws -> ScanEnd {
    guard !range.isEmpty else { return ScanEnd(visited: 0, rest: nil) }
    let limit = limit ?? .max
    guard limit > 0 else { return ScanEnd(visited: 0, rest: range) }
    let query: Query =
      switch order {
      case .ascending: range.upper == nil ? .ascendingToEnd : .ascending
      case .descending: range.upper == nil ? .descendingToEnd : .descending
      }
    let statement = try connection.statement(query)
    return try withBounds(of: range) { lower, upper in
      try statement.bind(1, lower)
      if let upper { try statement.bind(2, upper) }
      defer { statement.reset() }
      var visited = 0
      while try statement.step() {
        guard statement.kind(0) == SQLITE_BLOB else { throw damaged("scan") }
        let key = statement.bytes(0)
        let step = try withValue(statement, column: 1) { value in try visit(key.bytes, value.bytes) }
        visited += 1
        if step == .stop || visited == limit {
          let last = [UInt8](key)
          return ScanEnd(visited: visited, rest: order == .ascending ? range.after(last) : range.before(last))
        }
        if visited % connection.entriesBetweenChecks == 0 { try check() }
      }
      return ScanEnd(visited: visited, rest: nil)
    }
  }

  // MARK: Writing

  /// Puts a value under a key.
  ///
  /// - Parameter hasLarge: Whether the store may hold large values; while it holds none, nothing has to be looked up.
  func put(_ value: [UInt8], for key: [UInt8], hasLarge: Bool) throws {
    try key.withUnsafeBytes { key in
      try value.withUnsafeBytes { value in
        if isLarge(key: key.count, value: value.count) {
          let old = hasLarge ? try reference(under: key) : nil
          let new = try putLarge(value, in: old)
          if old == nil { try putReference(new, for: key) }
        } else if try !putSmall(value, for: key) {
          if let old = try reference(under: key) { try deleteLarge(old) }
          try put(.put, value, for: key)
        }
      }
    }
  }

  /// Takes a key away; whether it was there.
  func delete(_ key: [UInt8], hasLarge: Bool) throws -> Bool {
    try key.withUnsafeBytes { key in
      if hasLarge, let old = try reference(under: key) { try deleteLarge(old) }
      let statement = try connection.statement(.delete)
      try statement.bind(1, key)
      try statement.run()
      return connection.changes > 0
    }
  }

  /// Takes a range of keys away; whether there were any.
  func deleteRange(_ range: KeyRange, hasLarge: Bool) throws -> Bool {
    guard !range.isEmpty else { return false }
    return try withBounds(of: range) { lower, upper in
      let large: Query = upper == nil ? .deleteLargeRangeToEnd : .deleteLargeRange
      for query in (hasLarge ? [large] : []) + [upper == nil ? .deleteRangeToEnd : .deleteRange] {
        let statement = try connection.statement(query)
        try statement.bind(1, lower)
        if let upper { try statement.bind(2, upper) }
        try statement.run()
      }
      return connection.changes > 0
    }
  }

  func setState(_ versions: StoredVersions) throws {
    let statement = try connection.statement(.setState)
    try statement.bind(1, Int64(bitPattern: versions.version.rawValue))
    try statement.bind(2, Int64(bitPattern: versions.floor.rawValue))
    try statement.bind(3, versions.isExact ? 1 : 0)
    try statement.run()
  }

  // MARK: Parts

  private func withBounds<Result>(
    of range: KeyRange, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer?) throws -> Result
  ) throws -> Result {
    try range.lower.withUnsafeBytes { lower in
      guard let upper = range.upper else { return try body(lower, nil) }
      return try upper.withUnsafeBytes { try body(lower, $0) }
    }
  }

  /// Passes a value without copying it: that of the row, or of the row of `large` that the row points to.
  private func withValue<Result>(
    _ statement: Statement, column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    switch statement.kind(column) {
    case SQLITE_BLOB: return try body(statement.bytes(column))
    case SQLITE_INTEGER:
      let large = try connection.statement(.largeValue)
      try large.bind(1, statement.integer(column))
      defer { large.reset() }
      guard try large.step(), large.kind(0) == SQLITE_BLOB else { throw damaged(statement.operation) }
      return try body(large.bytes(0))
    default: throw damaged(statement.operation)
    }
  }

  /// Writes a small value next to its key, in one descent; false when the number of a large one is there.
  private func putSmall(_ value: UnsafeRawBufferPointer, for key: UnsafeRawBufferPointer) throws -> Bool {
    try put(.putSmall, value, for: key)
    return connection.changes > 0
  }

  private func put(_ query: Query, _ value: UnsafeRawBufferPointer, for key: UnsafeRawBufferPointer) throws {
    let statement = try connection.statement(query)
    try statement.bind(1, key)
    try statement.bind(2, value)
    try statement.run()
  }

  private func putReference(_ id: Int64, for key: UnsafeRawBufferPointer) throws {
    let statement = try connection.statement(.putReference)
    try statement.bind(1, key)
    try statement.bind(2, id)
    try statement.run()
  }

  /// Writes a large value over an old one or into a new row, whose number it returns.
  private func putLarge(_ value: UnsafeRawBufferPointer, in old: Int64?) throws -> Int64 {
    let statement = try connection.statement(.putLarge)
    if let old { try statement.bind(1, old) } else { sqlite3_bind_null(statement.handle, 1) }
    try statement.bind(2, value)
    try statement.run()
    return old ?? sqlite3_last_insert_rowid(connection.handle)
  }

  private func reference(under key: UnsafeRawBufferPointer) throws -> Int64? {
    let statement = try connection.statement(.reference)
    try statement.bind(1, key)
    defer { statement.reset() }
    return try statement.step() ? statement.integer(0) : nil
  }

  private func deleteLarge(_ id: Int64) throws {
    let statement = try connection.statement(.deleteLarge)
    try statement.bind(1, id)
    try statement.run()
  }

  private func damaged(_ operation: String) -> StoreError {
    StoreError(.corrupt, operation: operation, path: connection.path)
  }
}
