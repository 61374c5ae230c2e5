import VestaConcurrency
import VestaStoreInterop
import VestaStoreInteropFakes

/// A store that counts the rows its readers hand out, and whose reads fail while it says so.
final class WatchedStore: OrderedStore {
  let rows = Locked(0)
  let isUnreadable = Locked(false)
  private let store = ModelStore()

  /// How many rows a body reads, and what it returns.
  func rows<Result>(of body: () async throws -> Result) async throws -> (rows: Int, result: Result) {
    rows.withLock { $0 = 0 }
    let result = try await body()
    return (rows.withLock { $0 }, result)
  }

  /// All rows.
  func all() async throws -> [(key: [UInt8], value: [UInt8])] {
    try await store.read { reader in
      var rows: [(key: [UInt8], value: [UInt8])] = []
      _ = try await reader.scan(.all, order: .ascending, limit: nil) { key, value in
        rows.append((key.bytes, value.bytes))
        return .next
      }
      return rows
    }
  }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    if isUnreadable.withLock({ $0 }) { throw StoreError(.diskFull, operation: "read", message: "The disk is broken.") }
    return try await store.read { try await body(WatchedReader(base: $0, rows: rows)) }
  }

  func write<Result: Sendable>(
    _ body: nonisolated(nonsending) @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    try await store.write(body)
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion { try await store.raiseFloor(to: version) }
  func close() async throws {}
}

private struct WatchedReader: StoreReader {
  let base: any StoreReader
  let rows: Locked<Int>

  var version: StoreVersion { base.version }

  func get(_ key: [UInt8]) async throws -> [UInt8]? {
    rows.withLock { $0 += 1 }
    return try await base.get(key)
  }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    rows.withLock { $0 += keys.count }
    return try await base.get(keys)
  }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    try await base.scan(range, order: order, limit: limit) { key, value in
      rows.withLock { $0 += 1 }
      return try visit(key, value)
    }
  }
}
