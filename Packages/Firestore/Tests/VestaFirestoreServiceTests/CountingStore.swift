import StoreInterop
import StoreInteropContracts
import VestaConcurrency

/// A store that counts the rows its readers hand out.
final class CountingStore: OrderedStore {
  struct Rows: Sendable, Equatable {
    /// Visited by scans.
    var scanned = 0
    /// Read by their keys.
    var read = 0

    var total: Int { scanned + read }
  }

  private let store = ModelStore()
  private let rows = Locked(Rows())

  /// What a body reads, and what it returns.
  func rows<Result>(of body: () async throws -> Result) async throws -> (rows: Rows, result: Result) {
    rows.withLock { $0 = Rows() }
    let result = try await body()
    return (rows.withLock { $0 }, result)
  }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await store.read { try await body(CountingReader(reader: $0, rows: self.rows)) }
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    try await store.write(body)
  }

  func close() async throws { try await store.close() }
}

private struct CountingReader: StoreReader {
  let reader: any StoreReader
  let rows: Locked<CountingStore.Rows>

  var version: StoreVersion { reader.version }

  func get(_ key: [UInt8]) async throws -> [UInt8]? {
    rows.withLock { $0.read += 1 }
    return try await reader.get(key)
  }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    rows.withLock { $0.read += keys.count }
    return try await reader.get(keys)
  }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    let end = try await reader.scan(range, order: order, limit: limit, visit)
    rows.withLock { $0.scanned += end.visited }
    return end
  }
}
