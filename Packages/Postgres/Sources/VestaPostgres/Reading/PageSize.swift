import VestaStoreInterop

/// How much of a range is asked for at once: as much as the visitor has taken so far leaves to expect.
struct PageSize: Sendable, Equatable {
  var entries: Int
  /// The page ends with the entry that reaches this number of bytes.
  var bytes: Int

  private let largestEntries: Int
  private let largestBytes: Int

  /// The first page of a scan.
  ///
  /// - Parameter limit: How many are wanted at most, which are seldom taken; `nil` for all.
  init(limit: Int? = nil, _ tuning: PostgresTuning = PostgresTuning()) {
    entries = max(1, limit.map { min($0, tuning.firstEntries * 4) } ?? tuning.firstEntries)
    bytes = tuning.firstBytes
    (largestEntries, largestBytes) = (tuning.largestEntries, tuning.largestBytes)
  }

  private func with(entries: Int, bytes: Int) -> PageSize {
    var size = self
    (size.entries, size.bytes) = (max(1, entries), bytes)
    return size
  }

  /// The page after one whose entries were all taken.
  var next: PageSize {
    with(
      entries: min(entries * 4, max(entries, largestEntries)), bytes: min(bytes * 4, max(bytes, largestBytes)))
  }

  /// The page for a caller with a limit of entries.
  func upTo(_ limit: Int) -> PageSize { with(entries: min(entries, limit), bytes: bytes) }
}

/// Some entries of a range, in order.
struct Page: Sendable {
  let entries: [StoreEntry]
  /// Whether there may be others after them.
  let hasMore: Bool

  /// - Parameter size: The requested size.
  init(_ entries: [StoreEntry], _ size: PageSize) {
    self.entries = entries
    let bytes = entries.reduce(0) { $0 + $1.key.count + $1.value.count }
    hasMore = !entries.isEmpty && (entries.count >= size.entries || bytes >= size.bytes)
  }
}
