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
    let value = try await base.get(key)
    await turn.took(1)
    return value
  }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    let values = try await base.get(keys)
    await turn.took(keys.count)
    return values
  }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    let end = try await base.scan(range, order: order, limit: limit, visit)
    await turn.took(end.visited)
    return end
  }
}

extension Snapshot {
  /// The same, read by a task that lets others run now and then.
  var yielding: Snapshot { reader is YieldingReader ? self : reading(with: YieldingReader(reader)) }
}

/// The rows for which a task has kept its thread, as far as one part of its work knows.
///
/// Rows and not time, so that a call that reads few never yields: whoever waits for a first snapshot reads it without
/// another thread, also where it was interrupted on the way.
final class Turn {
  static let longest = 256
  private var rows = 0

  /// Notes that rows were read or handed out, and lets other tasks run after 256 of them.
  nonisolated(nonsending) func took(_ count: Int) async {
    rows += count
    guard rows >= Turn.longest else { return }
    rows = 0
    await Task.yield()
  }
}
