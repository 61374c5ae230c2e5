import VestaStoreInterop

/// A reader on a connection of the pool; the version that it sees is fixed by its first call.
final class SQLiteReader: StoreReader {
  private var table: EntryTable?
  private var hasBegun = false
  private var knownVersion: StoreVersion?

  // `version` cannot throw: its error is thrown by the next call, or by the read as a whole.
  private(set) var failure: (any Error)?

  init(_ connection: Connection) { table = EntryTable(connection: connection) }

  var version: StoreVersion {
    if let knownVersion { return knownVersion }
    do {
      let version = try begun("read").version()
      knownVersion = version
      return version
    } catch {
      if failure == nil { failure = error }
      return .zero
    }
  }

  func get(_ key: [UInt8]) async throws -> [UInt8]? { try begun("get").value(for: key) }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    let table = try begun("get")
    return try keys.map { try table.value(for: $0) }
  }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    try begun("scan").scan(range, order: order, limit: limit, check: { try Task.checkCancellation() }, visit)
  }

  /// Ends the reader and its snapshot; the connection can serve another one then, if this does not throw.
  func end() throws {
    guard let connection = table?.connection else { return }
    table = nil
    if hasBegun { try connection.run(.commit) }
  }

  private func begun(_ operation: String) throws -> EntryTable {
    guard let table else { throw StoreError(.ended, operation: operation, message: "The body has returned.") }
    try Task.checkCancellation()
    if let failure { throw failure }
    if !hasBegun {
      try table.connection.run(.begin)
      hasBegun = true
    }
    return table
  }
}
