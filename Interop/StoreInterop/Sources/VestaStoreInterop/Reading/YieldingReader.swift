/// A reader that lets other tasks run now and then.
///
/// The reads of an embedded engine do not suspend. A caller that looks at a million entries would keep one of the few
/// threads that run tasks for seconds, and as many such callers as there are cores would stop all others: transactions,
/// listeners, and callers that are answered at once. Long scans are made in pieces, at the same version.
///
/// ```swift
/// try await store.read { reader in
///   try await reader.yielding.scan(range, order: .ascending, limit: nil) { key, value in … }
/// }
/// ```
public struct YieldingReader: StoreReader {
  /// The entries of a scan that are visited in one piece.
  static let piece = 2_048

  private let base: any StoreReader
  private let piece: Int
  private let pace: ReadingPace

  /// A reader of what another one reads, and valid as long.
  public init(_ base: any StoreReader) { self.init(base, piece: YieldingReader.piece, rows: ReadingPace.rows) }

  /// - Parameters:
  ///   - base: The other reader.
  ///   - piece: The entries of a scan that are visited in one piece.
  ///   - rows: The rows after which others run.
  init(_ base: any StoreReader, piece: Int, rows: Int) {
    self.base = base
    self.piece = max(1, piece)
    pace = ReadingPace(rows: rows)
  }

  /// The version of the other reader.
  public var version: StoreVersion { base.version }

  /// The value under a key.
  public func get(_ key: [UInt8]) async throws -> [UInt8]? {
    let value = try await base.get(key)
    await pace.read(1)
    return value
  }

  /// The values under several keys.
  public func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    let values = try await base.get(keys)
    await pace.read(keys.count)
    return values
  }

  /// Visits the entries of a range in order; other tasks may run between two calls of `visit`.
  public func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    let limit = limit ?? .max
    var (range, visited, stops) = (range, 0, false)
    while true {
      let count = min(limit - visited, piece)
      let end = try await base.scan(range, order: order, limit: count) { key, value in
        let step = try visit(key, value)
        stops = step == .stop
        return step
      }
      visited += end.visited
      await pace.read(end.visited)
      guard let rest = end.rest, !stops, visited < limit else { return ScanEnd(visited: visited, rest: end.rest) }
      range = rest
    }
  }
}

extension StoreReader {
  /// `false`: the reader suspends by itself, or is a transaction.
  public var answersInPlace: Bool { false }

  /// The same reader where it suspends by itself, and one that lets other tasks run now and then where it does not.
  public var yielding: any StoreReader { answersInPlace ? YieldingReader(self) : self }
}

/// Lets other tasks run after each 256 rows that a task has read or handed out.
///
/// It counts rows and not time, so that a call that reads few rows never yields, even if its thread was interrupted
/// in between. Used by one task.
public final class ReadingPace {
  /// The rows after which others run.
  public static let rows = 256
  private let limit: Int
  private var count = 0

  /// A pace that begins now.
  public convenience init() { self.init(rows: ReadingPace.rows) }

  /// - Parameter rows: The rows after which others run.
  init(rows: Int) { limit = max(1, rows) }

  /// Notes the number of rows that were read or handed out; others run if it is their turn.
  public nonisolated(nonsending) func read(_ rows: Int) async {
    count += rows
    guard count >= limit else { return }
    count = 0
    await Task.yield()
  }
}
