import VestaStoreInterop

/// How much of a range is asked for at once: as much as the visitor has taken so far leaves to expect.
struct PageSize: Sendable, Equatable {
  var entries: Int
  /// The page ends with the entry that reaches so many bytes.
  var bytes: Int

  private static let first = PageSize(entries: 64, bytes: 131_072)
  private static let largest = PageSize(entries: 4_096, bytes: 1_048_576)

  /// The first page of a scan with a limit, which says how many are wanted at most; that many are seldom taken.
  init(limit: Int) { self.init(entries: min(limit, PageSize.first.entries * 4), bytes: PageSize.first.bytes) }

  /// The first page of a scan without a limit.
  init() { self = PageSize.first }

  private init(entries: Int, bytes: Int) {
    self.entries = max(1, entries)
    self.bytes = bytes
  }

  /// The page after one whose entries were all taken.
  var next: PageSize {
    PageSize(
      entries: min(entries * 4, PageSize.largest.entries), bytes: min(bytes * 4, PageSize.largest.bytes))
  }

  /// The page for somebody who takes so many entries at most.
  func upTo(_ limit: Int) -> PageSize { PageSize(entries: min(entries, limit), bytes: bytes) }
}

/// Some entries of a range, in order.
struct Page: Sendable {
  let entries: [StoreEntry]
  /// Whether there may be others after them.
  let hasMore: Bool

  /// - Parameter size: What was asked for.
  init(_ entries: [StoreEntry], _ size: PageSize) {
    self.entries = entries
    let bytes = entries.reduce(0) { $0 + $1.key.count + $1.value.count }
    hasMore = !entries.isEmpty && (entries.count >= size.entries || bytes >= size.bytes)
  }
}
