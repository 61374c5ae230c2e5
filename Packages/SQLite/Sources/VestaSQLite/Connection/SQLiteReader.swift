import VestaStoreInterop

/// A reader on a connection of the pool; the version that it sees is fixed by its first call.
final class SQLiteReader: StoreReader {
  private var table: EntryTable?
  private let visible: VisibleVersion
  private var hasBegun = false
  private var knownVersion: StoreVersion?

  // `version` cannot throw: its error is thrown by the next call, or by the read as a whole.
  private(set) var failure: (any Error)?

  init(_ connection: Connection, _ visible: VisibleVersion) {
    table = EntryTable(connection: connection)
    self.visible = visible
  }

  var answersInPlace: Bool { true }

  var version: StoreVersion {
    if let knownVersion { return knownVersion }
    do {
      try reading("read") { try $0.begin() }
      if let knownVersion { return knownVersion }
      throw StoreError(.inputOutput, operation: "read", message: "The version of the snapshot is not known.")
    } catch {
      if failure == nil { failure = error }
      return .zero
    }
  }

  func get(_ key: [UInt8]) async throws -> [UInt8]? { try reading("get") { try $0.value(for: key) } }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    try reading("get") { table in try keys.map { try table.value(for: $0) } }
  }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    // A scan cannot be begun again: its visitor has seen rows then.
    try reading("scan") { try $0.begin() }
    return try reading("scan") { table in
      try table.scan(range, order: order, limit: limit, check: { try Task.checkCancellation() }, visit)
    }
  }

  /// Ends the reader and its snapshot; the connection can serve another one then, if this does not throw.
  func end() throws {
    guard let connection = table?.connection else { return }
    table = nil
    if hasBegun { try connection.run(.commit) }
  }

  /// Reads; the first call begins the snapshot, and may run its body twice.
  private func reading<Result>(_ operation: String, _ body: (EntryTable) throws -> Result) throws -> Result {
    let table = try usable(operation)
    if hasBegun { return try body(table) }
    if let version = visible.settled {
      try table.connection.run(.begin)
      hasBegun = true
      do {
        let result = try body(table)
        if visible.settled == version {
          knownVersion = version
          return result
        }
      } catch {
        try? giveUp(table)
        throw error
      }
      try giveUp(table)
    }
    try visible.whileSettled { version in
      try table.connection.run(.begin)
      hasBegun = true
      try table.begin()
      knownVersion = version
    }
    return try body(table)
  }

  /// Ends a snapshot whose version is not known, before any of its rows was returned.
  private func giveUp(_ table: EntryTable) throws {
    try table.connection.run(.commit)
    hasBegun = false
  }

  private func usable(_ operation: String) throws -> EntryTable {
    guard let table else { throw StoreError(.ended, operation: operation, message: "The body has returned.") }
    try Task.checkCancellation()
    if let failure { throw failure }
    return table
  }
}
