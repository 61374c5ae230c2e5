import VestaStoreInterop

/// Visits a range of a snapshot, with the changes of a transaction put over it.
struct EntryScan {
  let snapshot: PostgresSnapshot
  let range: KeyRange
  let order: ScanOrder
  let limit: Int

  private typealias Entry = (key: [UInt8], value: [UInt8]?)

  /// The entries of a range in the changes and the long keys, in the order of the scan; the next one last.
  private var above: [Entry] = []
  private var ranges: [KeyRange] = []
  private var visited = 0
  private var last: [UInt8] = []

  init(_ snapshot: PostgresSnapshot, _ range: KeyRange, _ order: ScanOrder, limit: Int?) {
    self.snapshot = snapshot
    self.range = range
    self.order = order
    self.limit = limit ?? .max
  }

  /// Visits the entries.
  ///
  /// - Parameter changes: The changes above the snapshot.
  mutating func run(
    over changes: inout WriteBuffer, _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    guard limit > 0, !range.isEmpty else { return ScanEnd(visited: 0, rest: range.isEmpty ? nil : range) }
    var size = EntryScan.firstPage(limit: limit == .max ? nil : limit)
    // The first page may have come with the beginning, so it is taken before anything else is asked for.
    var page = try await snapshot.page(of: range, order, size)
    try await prepare(&changes)
    var part = range
    while true {
      for entry in page.entries {
        if try visitAbove(before: entry.key, visit) == .stop { return end }
        let isHidden = above.last?.key == entry.key || ranges.contains { $0.contains(entry.key) }
        if !isHidden, try take(entry.key, entry.value, visit) == .stop { return end }
      }
      guard page.hasMore, let last = page.entries.last else { break }
      part = order == .ascending ? part.after(last.key) : part.before(last.key)
      if part.isEmpty { break }
      size = size.next(limit: limit == .max ? .max : limit - visited)
      page = try await snapshot.page(of: part, order, size)
    }
    if try visitAbove(before: nil, visit) == .stop { return end }
    return ScanEnd(visited: visited, rest: nil)
  }

  /// How much is asked for at first.
  static func firstPage(limit: Int?) -> PageSize { limit.map { PageSize(limit: $0) } ?? PageSize() }

  private mutating func prepare(_ changes: inout WriteBuffer) async throws {
    ranges = changes.ranges
    above = changes.changes(in: range).map { ($0.key, $0.value) }
    let long = try await snapshot.longEntries(in: range)
    for entry in long where changes.change(of: entry.key) == nil { above.append((entry.key, entry.value)) }
    let isDescending = order == .descending
    // The next one is the last element.
    above.sort { $1.key.lexicographicallyPrecedes($0.key) != isDescending }
  }

  /// Visits the changes before a key; all of them for `nil`.
  private mutating func visitAbove(
    before key: [UInt8]?, _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws -> ScanStep {
    while let next = above.last {
      if let key {
        let isBefore =
          order == .ascending ? next.key.lexicographicallyPrecedes(key) : key.lexicographicallyPrecedes(next.key)
        // A change at the key itself hides the entry there, and is visited before the next one.
        guard isBefore else { return .next }
      }
      above.removeLast()
      if let value = next.value, try take(next.key, value, visit) == .stop { return .stop }
    }
    return .next
  }

  private mutating func take(
    _ key: [UInt8], _ value: [UInt8], _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws -> ScanStep {
    if visited % 64 == 63 { try Task.checkCancellation() }
    visited += 1
    last = key
    if try visit(key.span.bytes, value.span.bytes) == .stop { return .stop }
    return visited == limit ? .stop : .next
  }

  private var end: ScanEnd {
    let rest = order == .ascending ? range.after(last) : range.before(last)
    return ScanEnd(visited: visited, rest: rest.isEmpty ? nil : rest)
  }

  /// The part of the range that has been visited, whether it had entries or not.
  func seen(_ end: ScanEnd) -> KeyRange {
    guard let rest = end.rest else { return range }
    return order == .ascending
      ? KeyRange(from: range.lower, to: rest.lower)
      : KeyRange(from: rest.upper ?? range.lower, to: range.upper)
  }
}
