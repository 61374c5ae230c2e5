import VestaStoreInterop

/// A reader that lets other tasks run now and then.
///
/// The reads of an embedded store do not suspend. A query that looks at a million documents would keep one of the few
/// threads that run tasks for seconds, and as many such queries as there are cores would stop everybody: commits,
/// listeners, and queries that are answered at once.
struct YieldingReader: StoreReader {
  private let base: any StoreReader
  private let turn = Turn()

  init(_ base: any StoreReader) { self.base = base }

  var version: StoreVersion { base.version }

  func get(_ key: [UInt8]) async throws -> [UInt8]? {
    await turn.yieldIfLong()
    return try await base.get(key)
  }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    await turn.yieldIfLong()
    return try await base.get(keys)
  }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    await turn.yieldIfLong()
    return try await base.scan(range, order: order, limit: limit, visit)
  }
}

extension Snapshot {
  /// The same, read by a task that lets others run now and then.
  var yielding: Snapshot { reading(with: YieldingReader(reader)) }
}

/// How long a task has kept its thread, as far as one part of its work knows.
final class Turn {
  private static let longest = Duration.milliseconds(1)
  private var begin = ContinuousClock.now

  /// Lets other tasks run after a millisecond.
  nonisolated(nonsending) func yieldIfLong() async {
    guard begin.duration(to: .now) >= Turn.longest else { return }
    await Task.yield()
    begin = .now
  }
}
