import VestaStoreInterop

/// Visits a range of a snapshot, with the changes of a transaction put over it.
struct EntryScan {
  let snapshot: PostgresSnapshot
  let range: KeyRange
  let order: ScanOrder
  let limit: Int

  /// The entries with keys of usual length, then those with long keys; no key is in both.
  private var short: PageSource
  private var long: PageSource
  /// The changes of the range, in the order of the scan; the next one last.
  private var above: [(key: [UInt8], value: [UInt8]?)] = []
  private var ranges: [KeyRange] = []
  private var visited = 0
  private var last: [UInt8] = []

  init(_ snapshot: PostgresSnapshot, _ range: KeyRange, _ order: ScanOrder, limit: Int?) {
    self.snapshot = snapshot
    self.range = range
    self.order = order
    self.limit = limit ?? .max
    let size = PageSize(limit: limit, snapshot.tuning)
    short = PageSource(of: range, isLong: false, size)
    long = PageSource(of: snapshot.hasLong ? range : nil, isLong: true, size)
  }

  /// Visits the entries.
  ///
  /// - Parameter changes: The changes above the snapshot.
  mutating func run(
    over changes: inout WriteBuffer, _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    guard limit > 0, !range.isEmpty else { return ScanEnd(visited: 0, rest: range.isEmpty ? nil : range) }
    ranges = changes.ranges
    above = changes.changes(in: range).map { ($0.key, $0.value) }
    if order == .ascending { above.reverse() }
    while true {
      if short.isMissing { try await short.fetch(from: snapshot, order, limit: limit - visited) }
      if long.isMissing { try await long.fetch(from: snapshot, order, limit: limit - visited) }
      let entry = takeStored()
      if try visitAbove(before: entry?.key, visit) == .stop { return end }
      guard let entry else { return ScanEnd(visited: visited, rest: nil) }
      // The next change is at this key or after it.
      let isHidden = above.last?.key == entry.key || ranges.contains { $0.contains(entry.key) }
      if !isHidden, try take(entry.key, entry.value, visit) == .stop { return end }
    }
  }

  /// The next entry of both tables.
  private mutating func takeStored() -> StoreEntry? {
    guard let entry = short.next else {
      defer { if long.next != nil { long.dropNext() } }
      return long.next
    }
    if let other = long.next, isBefore(other.key, entry.key) {
      long.dropNext()
      return other
    }
    short.dropNext()
    return entry
  }

  private func isBefore(_ key: [UInt8], _ other: [UInt8]) -> Bool {
    order == .ascending ? key.lexicographicallyPrecedes(other) : other.lexicographicallyPrecedes(key)
  }

  /// Visits the changes before a key; all of them for `nil`.
  private mutating func visitAbove(
    before key: [UInt8]?, _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws -> ScanStep {
    while let next = above.last {
      // A change at the key itself hides the entry there, and is visited before the next one.
      if let key, !isBefore(next.key, key) { return .next }
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
