import VestaStoreInterop

/// A reader on one snapshot of the store.
final class PostgresReader: StoreReader {
  let version: StoreVersion
  private var snapshot: PostgresSnapshot?

  init(_ snapshot: PostgresSnapshot) {
    self.snapshot = snapshot
    version = StoreVersion(microseconds: snapshot.version)
  }

  /// Ends the reader.
  ///
  /// - Returns: The failure of a read of the body.
  func end() -> StoreError? {
    let failure = snapshot?.failure
    snapshot?.end()
    snapshot = nil
    return failure
  }

  private func current(_ operation: String) throws -> PostgresSnapshot {
    guard let snapshot else { throw StoreError.ended(operation) }
    return snapshot
  }

  func get(_ key: [UInt8]) async throws -> [UInt8]? { try await current("get").values(of: [key])[0] }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] { try await current("get").values(of: keys) }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    let snapshot = try current("scan")
    try Task.checkCancellation()
    var none = WriteBuffer()
    var scan = EntryScan(snapshot, range, order, limit: limit)
    return try await scan.run(over: &none, visit)
  }
}
