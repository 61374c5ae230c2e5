import Foundation
import VestaConcurrency
import VestaStoreInterop

/// Reads of an embedded store that take long run on dedicated threads, apart from tasks.
///
/// A store in the process answers on the calling thread. As many readers of a large node as there are cores would
/// leave the writes of all others one thread, now and then: each of the hops of a write waited for the rows that a
/// reader reads between two breaks. So a read begins in place; one that turns out to be large is begun again on a few
/// threads that stand back behind the others.
enum LargeReads {
  /// The threads, as many as there are cores: more would only share them.
  private static let threads = BlockingPool(
    limit: max(2, ProcessInfo.processInfo.activeProcessorCount), isBackground: true)

  /// More rows than are read in place.
  private struct TooMany: Error {}

  /// Reads, in place where that is short.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - rows: How many rows are read in place.
  ///   - first: The first read of the body.
  ///   - body: The read, and what is made of it; it can run twice.
  static func read<Result: Sendable>(
    _ store: any OrderedStore, rows: Int, expecting first: StoreFirstRead,
    _ body: nonisolated(nonsending) @Sendable (any StoreReader) async throws -> Result
  ) async throws -> Result {
    do {
      return try await store.read(expecting: first) { reader in
        try await body(reader.answersInPlace ? BoundedReader(base: reader, limit: rows) : reader)
      }
    } catch is TooMany {
      return try await withTaskExecutorPreference(threads) {
        try await store.read(expecting: first) { try await body($0.yielding) }
      }
    }
  }

  /// A reader of a number of rows.
  private final class BoundedReader: StoreReader {
    private let base: any StoreReader
    private var rest: Int

    init(base: any StoreReader, limit: Int) {
      self.base = base
      rest = limit
    }

    var version: StoreVersion { base.version }

    private func use(_ count: Int) throws {
      rest -= count
      if rest < 0 { throw TooMany() }
    }

    func get(_ key: [UInt8]) async throws -> [UInt8]? {
      try use(1)
      return try await base.get(key)
    }

    func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
      try use(keys.count)
      return try await base.get(keys)
    }

    func scan(
      _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
    ) async throws -> ScanEnd {
      try await base.scan(range, order: order, limit: limit) { key, value in
        try use(1)
        return try visit(key, value)
      }
    }
  }
}
