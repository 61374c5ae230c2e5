import VestaFirestoreModel
import VestaServiceInterop
import VestaStoreInterop

/// A reader that asks between rows whether it may continue, so that a long look into the store ends with its deadline.
struct CheckedReader: StoreReader {
  let base: any StoreReader
  /// The number of rows that a scan visits between two checks.
  let rowsBetweenChecks: Int
  /// Throws when the call has to end.
  let check: () throws -> Void

  var version: StoreVersion { base.version }
  var answersInPlace: Bool { base.answersInPlace }

  func get(_ key: [UInt8]) async throws -> [UInt8]? {
    try check()
    return try await base.get(key)
  }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    try check()
    return try await base.get(keys)
  }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    try check()
    var visited = 0
    return try await base.scan(range, order: order, limit: limit) { key, value in
      visited += 1
      if visited.isMultiple(of: rowsBetweenChecks) { try check() }
      return try visit(key, value)
    }
  }
}

extension FirestoreCall {
  /// The same snapshot, whose reading ends with the deadline of the call.
  func timed(_ snapshot: Snapshot) -> Snapshot {
    guard context.deadline != nil else { return snapshot }
    let (boundary, context) = (boundary, context)
    let rows = options.tuning.queries.rowsBetweenChecks
    return snapshot.reading(
      with: CheckedReader(base: snapshot.reader, rowsBetweenChecks: rows) { try boundary.check(context) })
  }
}
